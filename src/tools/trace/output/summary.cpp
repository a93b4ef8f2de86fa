// SPDX-License-Identifier: BSD-3-Clause
#include "trace/output/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "shared/trace_option.hpp"
#include "trace/output/page_data.hpp"
#include "trace/words.hpp"

namespace tessera::trace {

namespace {

using Json = nlohmann::ordered_json;

/// The quantities by which two runs are compared; null if a run lacks the quantity.
class Sums {
 public:
  Sums(const Run& run, const Analysis& analysis) : run_(run), analysis_(analysis) {
    for (const auto& link : analysis.links) {
      const bool from_gpu = run.nodes[link.from].kind == Kind::Gpu, to_gpu = run.nodes[link.to].kind == Kind::Gpu;
      (from_gpu ? (to_gpu ? between_ : out_) : in_) += static_cast<double>(link.bytes);
    }
    for (std::size_t i = 0; i < run.workers.size(); ++i) has_gpus_ |= works(i) && run.workers[i].kind == Kind::Gpu;
  }

  double span() const { return run_.span; }
  /// flop/s; 0: not known
  double speed() const { return run_.span > 0 ? analysis_.flops / run_.span : 0; }
  std::size_t tasks() const {
    std::size_t sum = 0;
    for (const auto tasks : analysis_.tasks_of_worker) sum += tasks;
    return sum;
  }
  /// Percent of the time of the workers that ran tasks; only of GPUs if any of them did.
  Json share(double Shares::*part) const {
    double sum = 0, all = 0;
    for (std::size_t i = 0; i < run_.workers.size(); ++i)
      if (works(i) && (!has_gpus_ || run_.workers[i].kind == Kind::Gpu))
        sum += analysis_.workers[i].*part, all += run_.span;
    return all > 0 ? Json(100 * sum / all) : Json();
  }
  bool has_gpus() const { return has_gpus_; }
  Json in() const { return moved(in_); }
  Json out() const { return moved(out_); }
  Json between() const { return moved(between_); }
  Json in_of(char operand) const {
    for (const auto& traffic : analysis_.operands)
      if (traffic.operand == operand) return moved(static_cast<double>(traffic.in));
    return {};
  }
  Json least() const {
    double sum = 0;
    for (const auto& traffic : analysis_.operands) sum += static_cast<double>(traffic.least_in + traffic.least_out);
    return moved(sum);
  }
  Json hit(std::size_t Hits::*where) const {
    const auto& hits = analysis_.hits;
    const auto all = static_cast<double>(hits.own + hits.peer + hits.host);
    return all > 0 ? Json(100 * static_cast<double>(hits.*where) / all) : Json();
  }
  Json memory() const {
    double largest = 0;
    for (const auto& use : run_.memory)
      if (run_.nodes[use.node].kind == Kind::Gpu)
        for (const double bytes : use.bytes) largest = std::max(largest, bytes);
    return largest > 0 ? Json(largest * 1e-9) : Json();
  }
  Json on_path(double Shares::*part) const {
    return run_.span > 0 ? Json(100 * (analysis_.path.parts.*part) / run_.span) : Json();
  }
  double longest_chain() const { return analysis_.path.longest_chain; }
  Json bound() const { return analysis_.bounds.empty() ? Json() : Json(analysis_.bounds.front().seconds); }

 private:
  bool works(std::size_t worker) const { return analysis_.tasks_of_worker[worker] > 0; }
  Json moved(double bytes) const { return has_gpus_ ? Json(bytes * 1e-9) : Json(); }

  const Run& run_;
  const Analysis& analysis_;
  double in_ = 0, out_ = 0, between_ = 0;
  bool has_gpus_ = false;
};

}  // namespace

Json differences(const Run& first, const Analysis& of_first, const Run& second, const Analysis& of_second) {
  const Sums a(first, of_first), b(second, of_second);
  Json rows = Json::array();
  const auto row = [&](const std::string& what, const char* unit, auto value) {
    rows.push_back({{"what", what}, {"unit", unit}, {"first", value(a)}, {"second", value(b)}});
  };
  row("time to the end", "s", [](const Sums& run) { return run.span(); });
  const bool tera = std::max(a.speed(), b.speed()) >= 1e12;
  row("speed", tera ? "TFLOP/s" : "GFLOP/s",
      [=](const Sums& run) { return run.speed() > 0 ? Json(run.speed() / (tera ? 1e12 : 1e9)) : Json(); });
  row("tasks", "", [](const Sums& run) { return run.tasks(); });
  const std::pair<const char*, double Shares::*> parts[] = {{"computing", &Shares::computing},
                                                            {"waiting for data", &Shares::data},
                                                            {"overhead", &Shares::overhead},
                                                            {"idle", &Shares::idle}};
  for (const auto& [name, part] : parts)
    row(std::string("workers: ") + name, "%", [part = part](const Sums& run) { return run.share(part); });
  for (const auto& [name, part] : parts)
    row(std::string("path to the end: ") + name, "%", [part = part](const Sums& run) { return run.on_path(part); });
  row("longest chain of tasks", "s", [](const Sums& run) { return run.longest_chain(); });
  row("largest bound", "s", [](const Sums& run) { return run.bound(); });
  if (!a.has_gpus() && !b.has_gpus()) return rows;

  row("from the host to GPUs", "GB", [](const Sums& run) { return run.in(); });
  std::set<char> operands;
  for (const auto* analysis : {&of_first, &of_second})
    for (const auto& traffic : analysis->operands) operands.insert(traffic.operand);
  for (const char operand : operands)
    row(std::string("… of ") + (operand == '-' ? "unknown" : std::string(1, operand)), "GB",
        [=](const Sums& run) { return run.in_of(operand); });
  row("from GPUs to the host", "GB", [](const Sums& run) { return run.out(); });
  row("between GPUs", "GB", [](const Sums& run) { return run.between(); });
  row("the least, in and out", "GB", [](const Sums& run) { return run.least(); });
  row("tiles found on the GPU", "%", [](const Sums& run) { return run.hit(&Hits::own); });
  row("tiles brought from a GPU", "%", [](const Sums& run) { return run.hit(&Hits::peer); });
  row("tiles brought from the host", "%", [](const Sums& run) { return run.hit(&Hits::host); });
  row("memory used on a GPU, at most", "GB", [](const Sums& run) { return run.memory(); });
  return rows;
}

namespace {

std::string speed(const Explained& explained) {
  auto text = fmt::format("{} {}", seconds(explained.run.span), tools::span_of_report);
  const double flops = explained.analysis.flops;
  if (flops > 0 && explained.run.span > 0) text += ", " + flop_rate(flops / explained.run.span);
  return text;
}

/// Describes the workers. Workers without tasks are only counted, such as idle cores in a run with GPUs.
std::string workers(const Explained& explained) {
  const auto& run = explained.run;
  const auto& analysis = explained.analysis;
  std::size_t width = std::string_view("worker").size(), without = 0;
  for (const auto& worker : run.workers) width = std::max(width, worker.name.size());
  auto text = fmt::format("  {:<{}}  {:>7}  {:>10}  {:>16}  {:>9}  {:>7}\n", "worker", width, "tasks", "computing",
                          "waiting for data", "overhead", "idle");
  const auto share = [&](double part) { return fmt::format("{:.1f} %", run.span > 0 ? 100 * part / run.span : 0); };
  for (std::size_t i = 0; i < run.workers.size(); i++) {
    const auto tasks = analysis.tasks_of_worker[i];
    if (tasks == 0) {
      without++;
      continue;
    }
    const auto& parts = analysis.workers[i];
    text += fmt::format("  {:<{}}  {:>7}  {:>10}  {:>16}  {:>9}  {:>7}\n", run.workers[i].name, width, tasks,
                        share(parts.computing), share(parts.data), share(parts.overhead), share(parts.idle));
  }
  if (without > 0) text += fmt::format("  {} more had no task\n", without);
  return text;
}

std::string value(const nlohmann::ordered_json& json) {
  if (!json.is_number()) return "-";
  if (json.is_number_integer()) return fmt::format("{}", json.get<long>());
  return fmt::format("{:.4g}", json.get<double>());
}

/// Differences of percentages are absolute, all others relative.
std::string change(const nlohmann::ordered_json& first, const nlohmann::ordered_json& second, const std::string& unit) {
  if (!first.is_number() || !second.is_number()) return "-";
  const double before = first.get<double>(), after = second.get<double>();
  if (unit == "%") return fmt::format("{:+.1f}", after - before);
  return before == 0 ? "-" : fmt::format("{:+.1f} %", 100 * (after / before - 1));
}

}  // namespace

std::string summary(const Explained& explained) {
  const auto& run = explained.run;
  auto text = run.title + "\n";
  if (!run.command.empty()) text += "  " + run.command + "\n";
  text += fmt::format("  {}{}{}\n  {}\n\n", run.machine, run.policy.empty() ? "" : ", policy ", run.policy,
                      speed(explained));
  text += workers(explained);
  if (!explained.analysis.path.text.empty()) text += "\n" + explained.analysis.path.text + "\n";
  for (const auto& warning : run.warnings) text += "\nwarning: " + warning + "\n";
  return text;
}

std::string comparison(const Explained& first, const Explained& second) {
  auto text = fmt::format("first:  {}\nsecond: {}\n", first.run.title, second.run.title);
  for (const auto* explained : {&first, &second})
    for (const auto& warning : explained->run.warnings)
      text += fmt::format("warning, {}: {}\n", explained == &first ? "first" : "second", warning);
  text += fmt::format("\n  {:<37}  {:>11}  {:>11}  {:>8}\n", "", "first", "second", "change");
  for (const auto& row : differences(first.run, first.analysis, second.run, second.analysis)) {
    const auto unit = row.at("unit").get<std::string>();
    const auto what = row.at("what").get<std::string>() + (unit.empty() ? "" : " [" + unit + "]");
    const auto &before = row.at("first"), &after = row.at("second");
    text += fmt::format("  {:<37}  {:>11}  {:>11}  {:>8}\n", what, value(before), value(after),
                        change(before, after, unit));
  }
  return text;
}

}  // namespace tessera::trace
