// SPDX-License-Identifier: BSD-3-Clause
#include "trace/output/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "trace/output/page_data.hpp"
#include "trace/words.hpp"

namespace tessera::trace {

namespace {

std::string speed(const Explained& explained) {
  auto text = seconds(explained.run.span) + " from the first submission to the end";
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
