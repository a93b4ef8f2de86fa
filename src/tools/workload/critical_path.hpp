// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <tessera/lapack.hpp>

#include "machine/cost_curve.hpp"

/// The critical path of a factorization: the longest chain of its tasks each of which needs the one before. It consists
/// of the factorizations of its panels, or of its tiles on the diagonal, which are measured, and of what each of them
/// does to the next one, at the rate of a device.
namespace tessera::bench {

/// Seconds of one of several calls in a row, each of which factorizes the result of the one before. So the data stays
/// where it is factorized.
/// @param submit  () → Info
template <typename Submit>
double seconds_in_a_row(Submit submit) {
  constexpr int counted = 5;
  const auto seconds_of = [&](int calls) {
    const auto begin = std::chrono::steady_clock::now();
    std::optional<Info> last;
    for (int i = 0; i < calls; i++) last = submit();
    last->wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  seconds_of(1);  // the data arrives, and kernels are loaded
  const double one = std::min(seconds_of(1), seconds_of(1)), many = seconds_of(1 + counted);
  return many > one ? (many - one) / counted : many / (1 + counted);  // without what a wait takes, unless disturbed
}

/// LU with partial pivoting, whose panels are the columns of tiles of m×n elements at A.
/// @param rate  of a device [flop/s]
template <Scalar T>
double lu_path(Index m, Index n, T* A, Index ld, TileSize tile, double rate) {
  const Index order = std::min(m, n), width = std::min(tile.columns, order);
  if (order == 0) return 0;
  std::vector<Index> heights{width, m / 4, m};
  std::erase_if(heights, [&](Index rows) { return rows < width; });
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
  std::vector<detail::CostCurve::Point> points;
  for (const Index rows : heights) {
    const Matrix<T> panel(A, rows, width, ld, tile);
    points.push_back({static_cast<double>(rows), seconds_in_a_row([&] { return getrf(panel).info; })});
  }
  const detail::CostCurve panels(std::move(points));
  double seconds = 0;
  const auto w = static_cast<double>(width);
  for (Index k = 0; k < order; k += width) {
    const auto rows = static_cast<double>(m - k);
    seconds += panels.seconds(rows);
    if (k + width < order) seconds += flops_per_multiply_add<T> * w * w * std::max(rows - w / 2, 0.0) / rate;
  }
  return seconds;
}

/// A factorization of order n in square tiles.
/// @param factorize  (a tile) → Info
/// @param updates    multiply-adds of what a tile on the diagonal does to the next one, in units of tile³
template <Scalar T, typename Factorize>
double tile_path(Index n, Index tile, double updates, double rate, Factorize factorize) {
  if (n == 0) return 0;
  const Index order = std::min(tile, n);
  // Its factors can be factorized again, also if the diagonal becomes its root each time.
  std::vector<T> A(static_cast<std::size_t>(order * order), T(1));
  for (Index i = 0; i < order; i++) A[static_cast<std::size_t>(i * (order + 1))] = static_cast<Real<T>>(0x1p100);
  const Matrix<T> diagonal(A.data(), order, order, order, {order, order});
  const double one = seconds_in_a_row([&] { return factorize(diagonal); });
  const double tiles = std::ceil(static_cast<double>(n) / static_cast<double>(order));
  const double update = flops_per_multiply_add<T> * updates * std::pow(static_cast<double>(order), 3) / rate;
  return tiles * one + (tiles - 1) * update;
}

}  // namespace tessera::bench
