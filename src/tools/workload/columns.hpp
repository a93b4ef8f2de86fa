// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "shared/table.hpp"
#include "workload/result.hpp"

/// The columns that the programs' tables have in common. `result_of` finds the Result of a row.
namespace tessera::bench {

/// The routine and its sizes: only n if all problems are cubes.
template <typename Row>
std::vector<tools::Column<Row>> call_columns(const std::vector<Problem>& problems, auto result_of) {
  const auto size = [=](Index Problem::*which, bool Takes::*takes) {
    return [=](const Row& row) {
      const Result& r = result_of(row);
      return takes == nullptr || r.routine->takes().*takes ? std::to_string(r.problem.*which) : "-";
    };
  };
  std::vector<tools::Column<Row>> all;
  all.push_back({"routine", -8, [=](const Row& row) {
                   const Result& r = result_of(row);
                   return r.problem.type + r.routine->name();
                 }});
  const bool cubes = std::ranges::all_of(problems, [](const Problem& p) { return p.m == p.n && p.n == p.k; });
  if (!cubes) all.push_back({"m", 6, size(&Problem::m, &Takes::m)});
  all.push_back({"n", 6, size(&Problem::n, nullptr)});
  if (!cubes) all.push_back({"k", 6, size(&Problem::k, &Takes::k)});
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
          {"least", 6, [=](const Row& row) { return tools::gigabytes(result_of(row).bytes_min_h2d); }},
          {"out [GB]", 8, bytes(&Result::Bytes::d2h)},
          {"d2d [GB]", 8, bytes(&Result::Bytes::d2d)}};
}

}  // namespace tessera::bench
