// SPDX-License-Identifier: BSD-3-Clause
#include "bench/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include <tessera/tessera.h>

#include "shared/formatting.hpp"
#include "workload/problem.hpp"
#include "workload/result.hpp"

namespace tessera::bench {

using tools::percent, tools::significant;

namespace {

std::string describe_devices(const Result& r) {
  const auto some = [](int count, const char* what) {
    return fmt::format("{} {}{}", count, what, count > 1 ? "s" : "");
  };
  if (r.gpus == 0) return some(r.cpus, "CPU");
  const int cores = r.activity ? r.activity->workers - r.activity->gpu_workers : 0;
  return some(r.gpus, "GPU") + (cores > 0 ? "+" + some(cores, "CPU") : "");
}

/// A fraction of a limit, or "doubtful".
std::string share(double fraction, bool doubtful) { return doubtful ? "doubtful" : percent(fraction); }

}  // namespace

std::string say_rate(double rate) {
  return rate >= 1e12 ? significant(rate * 1e-12, 3) + " TFLOP/s" : significant(rate * 1e-9, 3) + " GFLOP/s";
}

Report::Report(const Options& options, Progress& progress)
    : progress_(progress), json_(options.json), statistics_(options.statistics) {}

std::vector<tools::Column<Result>> Report::columns(const Options& options) const {
  const bool gpus = std::ranges::any_of(options.gpus, [](int count) { return count > 0; });
  const auto timed = [](auto text) { return [=](const Result& r) { return r.timing ? text(r) : std::string("-"); }; };
  const auto seconds = [&](double Timing::*which) {
    return timed([=](const Result& r) { return significant((*r.timing).*which, 4); });
  };
  auto all = call_columns<Result>(options.calls(), std::identity());
  all.push_back({"library", options.against_cusolver ? -10 : -8, [](const Result& r) { return r.library; }});
  all.push_back({"devices", gpus ? -14 : -7, describe_devices});
  std::size_t longest = 6;
  for (const auto& policy : options.policies) longest = std::max(longest, policy.size());
  all.push_back(
      {"policy", -static_cast<int>(longest), [](const Result& r) { return r.policy.empty() ? "-" : r.policy; }});
  if (gpus) all.push_back({"placement", -9, [](const Result& r) { return r.placement.empty() ? "-" : r.placement; }});
  all.push_back({"tile", 9, describe_tile});
  all.push_back({"first [s]", 9, seconds(&Timing::first)});
  all.push_back({"median [s]", 10, seconds(&Timing::median)});
  all.push_back({"best [s]", 9, seconds(&Timing::best)});
  all.push_back(predicted_column<Result>(std::identity()));
  const double unit = in_tera_ ? 1e-12 : 1e-9;
  all.push_back(
      {in_tera_ ? "TFLOP/s" : "GFLOP/s", 7, timed([=](const Result& r) { return significant(r.rate() * unit, 4); })});
  all.push_back(
      {"of limit", 8, timed([](const Result& r) { return share(r.fraction_of_limit(), r.limit_is_doubtful()); })});
  if (gpus) {
    all.push_back(
        {"at once", 8, timed([](const Result& r) { return share(r.fraction_of_parts(), r.parts_are_doubtful()); })});
    all.push_back({"bound by", -10, [](const Result& r) { return r.parts.bound(); }});
  }
  if (gpus)
    for (auto& column : traffic_columns<Result>(std::identity())) all.push_back(std::move(column));
  if (options.check) {
    all.push_back({"error", 7, [](const Result& r) { return r.check ? fmt::format("{:.1e}", r.check->error) : "-"; }});
    all.push_back({"bound", 7, [](const Result& r) { return r.check ? fmt::format("{:.1e}", r.check->bound) : "-"; }});
    all.push_back({"check", -6, [](const Result& r) { return !r.check ? "-" : r.check->passed() ? "ok" : "FAILED"; }});
  }
  return all;
}

namespace {

std::string say_machine(const Machine& machine) {
  const auto text =
      fmt::format("Tessera {} on {} core{}", tessera_version(), machine.cores, machine.cores == 1 ? "" : "s");
  if (!machine.gpus.empty()) return text + fmt::format(" and {}", machine.names(static_cast<int>(machine.gpus.size())));
  return text + (machine.why_not_more_gpus.empty() ? "" : ", no GPU (" + machine.why_not_more_gpus + ")");
}

std::string say_calls(const Options& options) {
  const auto& p = options.problems.front();
  const auto number = [](std::complex<double> x) {
    return x.imag() == 0 ? fmt::format("{}", x.real()) : fmt::format("{}{:+}i", x.real(), x.imag());
  };
  std::string text;
  for (const auto& [takes, word] : {std::pair{&Takes::side, "side " + letter(p.side)},
                                    {&Takes::uplo, "uplo " + letter(p.uplo)},
                                    {&Takes::trans_a, "op(A) " + letter(p.op_a)},
                                    {&Takes::trans_b, "op(B) " + letter(p.op_b)},
                                    {&Takes::diag, "diag " + letter(p.diag)}})
    if (std::ranges::any_of(options.routines, [takes = takes](const auto* r) { return r->takes().*takes; }))
      text += word + ", ";
  if (p.chain > 1) text += fmt::format("chains of {} calls, ", p.chain);
  return text + fmt::format("alpha {}, beta {}, padding {}, {} memory; first call + {} + {} calls", number(p.alpha),
                            number(p.beta), p.ld_pad, name_of(*options.memory), options.warmup, options.repeat);
}

/// "in", and where copies to GPUs start unless that is the host.
const char* in_from(Memory memory) { return memory == Memory::Device ? "from the first GPU in" : "in"; }

std::string say_limits(const std::string& types, const Limits& limits, Memory memory, int gpus) {
  const int count = gpus > 0 ? gpus : limits.cores();
  auto text = fmt::format("limit with {} {}{}:", count, gpus > 0 ? "GPU" : "core", count > 1 ? "s" : "");
  const char* separator = " ";
  for (const char type : types) {
    text += fmt::format("{}{} {}", separator, type, say_rate(limits.rate(type, gpus)));
    separator = ", ";
  }
  if (gpus == 0) return text;
  const auto [in, out] = limits.links(gpus);
  return text +
         (in > 0 ? fmt::format("; {} {:.1f} GB/s, out {:.1f} GB/s", in_from(memory), in * 1e-9, out * 1e-9) : "");
}

/// The rates measured under simultaneous load. Those of cores are left out, because both limits use the same.
std::string say_at_once(const std::string& types, const Limits& limits, Memory memory, int gpus) {
  std::string text = "at once:";
  const char* separator = " ";
  for (const char type : types) {
    text += fmt::format("{}{} {} over a second", separator, type, say_rate(limits.at_once(type, gpus).flops));
    separator = ", ";
  }
  const auto& rates = limits.at_once(types.front(), gpus);
  if (rates.in <= 0) return text;
  return text + fmt::format(", copies at the same time: {} {:.1f} GB/s, out {:.1f} GB/s, both {:.1f} GB/s",
                            in_from(memory), rates.in * 1e-9, rates.out * 1e-9, rates.both * 1e-9);
}

}  // namespace

void Report::begin(const Options& options, const Machine& machine, const Limits& limits) {
  std::string types;
  for (const auto& problem : options.problems)
    if (types.find(problem.type) == std::string::npos) types += problem.type;
  note(say_machine(machine));
  note(say_calls(options));
  for (const int gpus : options.gpus) {
    note(say_limits(types, limits, *options.memory, gpus));
    if (gpus > 0) note("  " + say_at_once(types, limits, *options.memory, gpus));
    for (const char type : types) in_tera_ = in_tera_ || limits.rate(type, gpus) >= 1e12;
  }
  if (options.check)
    note(
        "check: small results are compared with the host BLAS (the error is 0 if both round alike), large ones with a "
        "computation in higher precision");
  columns_ = columns(options);
  note("\n" + tools::table_head(columns_));
}

void Report::add(const Result& result) {
  note(tools::table_line(columns_, result));
  if (result.timing && (result.limit_is_doubtful() || result.parts_are_doubtful()))
    note(fmt::format("  doubtful: this call would have reached {} of a limit, so the limit was measured wrongly",
                     percent(std::max(result.fraction_of_limit(), result.fraction_of_parts()))));
  if (statistics_ && result.activity)
    for (const auto& line : tools::describe(*result.activity)) note(line);
  json_.write(to_json(result));
}

void Report::end(const Regrets& regrets) {
  for (const auto& line : regrets.lines()) note(line);
  for (const auto& object : regrets.json()) json_.write(object);
}

void Report::note(const std::string& text) {
  progress_.clear();
  json_.note(text);
}

}  // namespace tessera::bench
