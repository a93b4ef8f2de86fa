// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "blas/call.hpp"
#include "shared/activity.hpp"
#include "shared/formatting.hpp"
#include "workload/routine.hpp"

namespace tessera::bench {

/// Total rates of all devices, measured with all of them busy [per second].
struct DeviceRates {
  double flops = 0;
  double in = 0, out = 0;  ///< bytes in one direction; 0: nothing is copied
  double both = 0;         ///< bytes in both directions at once
  double beside = 0;       ///< the part of `flops` that is of cores beside the GPUs, for which nothing is copied
};

/// Lower bounds of a call's time, by resource [s].
struct LimitParts {
  double arithmetic = 0;
  /// Time of the compulsory copies to the GPUs, and to the host. If one GPU has the operands: to the other GPUs, and
  /// back
  double in = 0, out = 0;
  double both = 0;   ///< time of all compulsory copies
  double chain = 0;  ///< critical path of Tessera's factorization

  double longest() const { return std::max({arithmetic, in, out, both, chain}); }
  /// The name of the longest part.
  std::string bound() const {
    const std::array<std::pair<double, const char*>, 5> parts{
        {{arithmetic, "arithmetic"}, {in, "in"}, {out, "out"}, {both, "both"}, {chain, "chain"}}};
    return std::ranges::max_element(parts, {}, &std::pair<double, const char*>::first)->second;
  }
};

/// The shortest time of a call if some devices have its operands and others get theirs by copies. If the others compute
/// the share x, they need at least this share of the operands.
/// @param alone   time if the devices that have the operands compute everything; infinite: they compute nothing [s]
/// @param copies  time of the copies if the others compute everything [s]
inline double balanced_seconds(double alone, double copies) {
  return std::isinf(alone) || copies <= 0 ? copies : alone * copies / (alone + copies);
}

/// The lower bounds if all operands are in host memory.
inline LimitParts limit_parts(double flops, const blas::Traffic& bytes, const DeviceRates& rates) {
  LimitParts parts{.arithmetic = flops / rates.flops};
  if (rates.in <= 0) return parts;
  const double alone = rates.beside > 0 ? flops / rates.beside : std::numeric_limits<double>::infinity();
  parts.in = balanced_seconds(alone, bytes.in / rates.in), parts.out = balanced_seconds(alone, bytes.out / rates.out);
  parts.both = balanced_seconds(alone, (bytes.in + bytes.out) / rates.both);
  return parts;
}

/// The lower bounds if one of several equal GPUs has all operands. The other GPUs need at least the share of the
/// operands that they compute of the arithmetic. What the links do not let them compute in time, the first one has to
/// compute, or the cores.
/// @param bytes  between the first GPU and the others if these computed everything
/// @param rates  of the arithmetic of all devices, and of the links between the first GPU and the others
inline LimitParts limit_parts_of_first(double flops, const blas::Traffic& bytes, const DeviceRates& rates, int gpus) {
  const double alone = flops / ((rates.flops - rates.beside) / gpus + rates.beside);
  LimitParts parts{.arithmetic = flops / rates.flops};
  if (rates.in <= 0) return parts;
  parts.in = balanced_seconds(alone, bytes.in / rates.in), parts.out = balanced_seconds(alone, bytes.out / rates.out);
  parts.both = balanced_seconds(alone, (bytes.in + bytes.out) / rates.both);
  return parts;
}

/// Seconds per call.
struct Timing {
  double first = 0;  ///< the first call
  double median = 0, best = 0;
};

/// One measurement.
struct Result {
  const Routine* routine = nullptr;
  Problem problem;
  const char* memory = "";
  std::string library;  ///< tessera, openblas, cublas, cublasxt, cusolver or cusolvermg
  int gpus = 0, cpus = 0;
  Index tile_m = 0, tile_n = 0, tile_k = 0;  ///< 0: the library has no tiles
  double predicted = 0;                      ///< the plan's prediction [s]; 0: no prediction
  std::string policy, placement;             ///< "" for other libraries
  int repeat = 0;
  std::optional<Timing> timing;             ///< empty: the library lacks the routine
  double limit = 0;                         ///< lower bound [s], from rates measured one after another
  LimitParts parts;                         ///< lower bounds from rates measured under simultaneous load
  std::optional<tools::Activity> activity;  ///< activity in the measured calls; empty for other libraries
  /// The compulsory bytes; empty: not known, because cores compute a part of the result
  std::optional<double> bytes_min_h2d = 0;
  std::optional<Verdict> check;

  bool failed() const { return check && !check->passed(); }
  double flops() const { return routine->flops(problem); }
  /// Averages per measured call.
  struct Bytes {
    double h2d = 0, d2h = 0, d2d = 0;
  };
  std::optional<Bytes> bytes() const;
  double rate() const { return flops() / timing->median; }  ///< [flop/s]
  double fraction_of_limit() const { return limit / timing->median; }
  double fraction_of_parts() const { return parts.longest() / timing->median; }

  /// No call is faster than a lower bound, apart from measurement errors. A larger ratio means that the bound was
  /// measured wrongly.
  static constexpr double most_of_a_limit = 1.05;
  bool limit_is_doubtful() const { return fraction_of_limit() > most_of_a_limit; }
  /// A short call may be faster than the rates under simultaneous load allow: the power limit acts only after some
  /// time, and the links are slower while all GPUs compute. But no call exceeds the rates of `limit`, or is shorter
  /// than the chain.
  bool parts_are_doubtful() const {
    return fraction_of_parts() > most_of_a_limit &&
           (limit_is_doubtful() || parts.chain > most_of_a_limit * timing->median);
  }
};

/// The result as one JSON object.
nlohmann::ordered_json to_json(const Result& result);

/// The tile as one size, as rows x columns, or as '-'.
std::string describe_tile(const Result& result);

// The columns that the programs' tables have in common. `result_of` finds the Result of a row.

/// The routine and its sizes: only n if all problems are cubes.
/// @param calls  of all rows; their longest name and number determine the widths
template <typename Row>
std::vector<tools::Column<Row>> call_columns(const std::vector<std::pair<const Routine*, const Problem*>>& calls,
                                             auto result_of) {
  int name_width = 8, size_width = 6;
  bool cubes = true;
  for (const auto& [routine, p] : calls) {
    name_width = std::max(name_width, static_cast<int>(1 + routine->name().size()));
    size_width = std::max(size_width, static_cast<int>(std::to_string(std::max({p->m, p->n, p->k})).size()));
    cubes = cubes && p->m == p->n && p->n == p->k;
  }
  const auto size = [=](Index Problem::*which, bool Takes::*takes) {
    return [=](const Row& row) {
      const Result& r = result_of(row);
      return takes == nullptr || r.routine->takes().*takes ? std::to_string(r.problem.*which) : "-";
    };
  };
  std::vector<tools::Column<Row>> all;
  all.push_back({"routine", -name_width, [=](const Row& row) {
                   const Result& r = result_of(row);
                   return r.problem.type + r.routine->name();
                 }});
  if (!cubes) all.push_back({"m", size_width, size(&Problem::m, &Takes::m)});
  all.push_back({"n", size_width, size(&Problem::n, nullptr)});
  if (!cubes) all.push_back({"k", size_width, size(&Problem::k, &Takes::k)});
  return all;
}

/// The time that Tessera's plan predicts.
template <typename Row>
tools::Column<Row> predicted_column(auto result_of) {
  return {"predicted", 9, [=](const Row& row) {
            const Result& r = result_of(row);
            return r.predicted > 0 ? tools::significant(r.predicted, 4) : "-";
          }};
}

/// The bytes that were copied, and the compulsory minimum.
template <typename Row>
std::vector<tools::Column<Row>> traffic_columns(auto result_of) {
  const auto bytes = [=](double Result::Bytes::*which) {
    return [=](const Row& row) {
      const auto known = result_of(row).bytes();
      return known ? tools::gigabytes((*known).*which) : "-";
    };
  };
  return {{"in [GB]", 7, bytes(&Result::Bytes::h2d)},
          {"least", 6,
           [=](const Row& row) {
             const auto least = result_of(row).bytes_min_h2d;
             return least ? tools::gigabytes(*least) : "-";
           }},
          {"out [GB]", 8, bytes(&Result::Bytes::d2h)},
          {"d2d [GB]", 8, bytes(&Result::Bytes::d2d)}};
}

}  // namespace tessera::bench
