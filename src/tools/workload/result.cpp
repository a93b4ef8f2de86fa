// SPDX-License-Identifier: BSD-3-Clause
#include "workload/result.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "workload/problem.hpp"

namespace tessera::bench {

namespace {

/// JSON has no infinity, so the largest number replaces it.
double finite(double x) { return std::isfinite(x) ? x : std::numeric_limits<double>::max(); }

nlohmann::ordered_json scalar(std::complex<double> x) {
  if (x.imag() == 0) return x.real();
  return {x.real(), x.imag()};
}

}  // namespace

std::optional<Result::Bytes> Result::bytes() const {
  if (!activity) return std::nullopt;
  const auto average = [&](std::uint64_t total) { return static_cast<double>(total) / activity->calls; };
  const auto& total = activity->total;
  return Bytes{average(total.bytes_h2d), average(total.bytes_d2h), average(total.bytes_d2d)};
}

nlohmann::ordered_json to_json(const Result& r) {
  const auto& p = r.problem;
  const auto known = [](const auto& value, bool is_known) {
    return is_known ? nlohmann::ordered_json(value) : nullptr;
  };
  const auto takes = r.routine->takes();
  nlohmann::ordered_json json;
  json["routine"] = r.routine->name(), json["type"] = std::string(1, p.type);
  json["m"] = known(p.m, takes.m), json["n"] = p.n, json["k"] = known(p.k, takes.k);
  json["memory"] = r.memory;
  json["gpus"] = r.gpus, json["cpus"] = r.cpus;
  json["tile"] = known(r.tile_m, r.tile_m > 0);
  json["policy"] = known(r.policy, !r.policy.empty());
  json["library"] = r.library;
  const bool timed = r.timing.has_value();
  const auto timing = r.timing.value_or(Timing{});
  json["first_s"] = known(timing.first, timed), json["median_s"] = known(timing.median, timed);
  json["best_s"] = known(timing.best, timed);
  json["predicted_s"] = known(r.predicted, r.predicted > 0);
  json["tflops"] = known(timed ? r.rate() * 1e-12 : 0, timed);
  json["limit_s"] = r.limit;
  const auto share = [&](const char* name, double fraction, bool doubtful) {
    json[name] = known(fraction, timed && !doubtful);
    if (doubtful) json[std::string(name) + "_doubtful"] = fraction;
  };
  share("fraction_of_limit", timed ? r.fraction_of_limit() : 0, timed && r.limit_is_doubtful());
  const auto& parts = r.parts;
  json["limit_at_once_s"] = parts.longest();
  share("fraction_of_limit_at_once", timed ? r.fraction_of_parts() : 0, timed && r.parts_are_doubtful());
  json["limit_parts_s"] = {
      {"arithmetic", parts.arithmetic}, {"in", parts.in}, {"out", parts.out}, {"both", parts.both}};
  if (parts.chain > 0) json["limit_parts_s"]["chain"] = parts.chain;
  const auto bytes = r.bytes().value_or(Result::Bytes{});
  json["bytes_h2d"] = known(bytes.h2d, r.activity.has_value());
  json["bytes_d2h"] = known(bytes.d2h, r.activity.has_value());
  json["bytes_d2d"] = known(bytes.d2d, r.activity.has_value());
  json["bytes_min_h2d"] = known(r.bytes_min_h2d.value_or(0), r.bytes_min_h2d.has_value());
  const auto check = r.check.value_or(Verdict{});
  json["error"] = known(finite(check.error), r.check.has_value());
  json["bound"] = known(check.bound, r.check.has_value());
  json["placement"] = known(r.placement, !r.placement.empty());
  json["tile_n"] = known(r.tile_n, r.tile_n > 0), json["tile_k"] = known(r.tile_k, r.tile_k > 0);
  json["trans_a"] = known(letter(p.op_a), takes.trans_a), json["trans_b"] = known(letter(p.op_b), takes.trans_b);
  json["side"] = known(letter(p.side), takes.side), json["uplo"] = known(letter(p.uplo), takes.uplo);
  json["diag"] = known(letter(p.diag), takes.diag);
  json["alpha"] = scalar(p.alpha), json["beta"] = known(scalar(p.beta), takes.beta);
  json["ld_pad"] = p.ld_pad, json["chain"] = p.chain, json["repeat"] = r.repeat, json["seed"] = p.seed;
  json["links"] = r.activity ? tools::links_json(*r.activity) : nullptr;
  json["scheduling"] = r.activity ? tools::scheduling_json(*r.activity) : nullptr;
  return json;
}

std::string describe_tile(const Result& r) {
  if (r.tile_m == 0) return "-";
  const bool square = r.tile_n == 0 || r.tile_n == r.tile_m;
  return square ? fmt::format("{}", r.tile_m) : fmt::format("{}x{}", r.tile_m, r.tile_n);
}

}  // namespace tessera::bench
