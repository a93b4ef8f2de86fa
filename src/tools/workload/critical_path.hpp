// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <tessera/lapack.hpp>

#include "codelets/codelet.hpp"
#include "machine/cost_curve.hpp"

/// The critical path of a factorization: its longest chain of dependent tasks. It consists of the factorizations of its
/// panels or diagonal tiles, which are measured, and of the updates that each of them applies to the next one, at the
/// rate of a device.
namespace tessera::bench {

/// Seconds of one factorization in a row of several, each applied to the result of the one before, so the data stays
/// where it is factorized. The minimum of several measurements counts, because this is a part of a lower bound, and
/// other events, such as the copy back to the host, only make a measurement longer.
/// @param run  (int count): factorizes that often, and returns when the result is available
template <typename Run>
double seconds_in_a_row(Run run) {
  constexpr int counted = 5, measurements = 3;
  const auto seconds_of = [&](int count) {
    const auto begin = std::chrono::steady_clock::now();
    run(count);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  seconds_of(1);  // the data arrives, and kernels are loaded
  double one = seconds_of(1), many = seconds_of(1 + counted);
  for (int i = 1; i < measurements; i++)
    one = std::min(one, seconds_of(1)), many = std::min(many, seconds_of(1 + counted));
  return many > one ? (many - one) / counted : many / (1 + counted);  // subtracts a wait, unless disturbed
}

/// LU with partial pivoting, whose panels are columns of tiles of m×n elements at A.
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
    const auto factorize = [&](int count) {
      std::optional<Info> last;
      for (int i = 0; i < count; i++) last = getrf(panel).info;
      last->wait();
    };
    points.push_back({static_cast<double>(rows), seconds_in_a_row(factorize)});
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

/// A factorization of order n in square tiles. Only the tasks that factorize a tile are repeated, as in the call. Whole
/// calls of a routine would add the task that writes the `info`, which may run on another worker.
/// @param updates  multiply-adds of the updates from one diagonal tile to the next, in units of tile³
/// @param submit   (a tile, InfoValue*, int count): submits that many factorizations of the tile
template <Scalar T, typename Submit>
double tile_path(Index n, Index tile, double updates, double rate, Submit submit) {
  if (n == 0) return 0;
  const Index order = std::min(tile, n);
  // The factors can be factorized repeatedly, even if each time the diagonal is replaced by its square root.
  std::vector<T> A(static_cast<std::size_t>(order * order), T(1));
  for (Index i = 0; i < order; i++) A[static_cast<std::size_t>(i * (order + 1))] = static_cast<Real<T>>(0x1p100);
  const Matrix<T> diagonal(A.data(), order, order, order, {order, order});
  codelets::InfoValue info;
  const double one = seconds_in_a_row([&](int count) {
    submit(diagonal, &info, count);
    diagonal.wait();
  });
  const double tiles = std::ceil(static_cast<double>(n) / static_cast<double>(order));
  const double update = flops_per_multiply_add<T> * updates * std::pow(static_cast<double>(order), 3) / rate;
  return tiles * one + (tiles - 1) * update;
}

}  // namespace tessera::bench
