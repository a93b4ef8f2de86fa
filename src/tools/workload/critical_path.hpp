// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <tessera/lapack.hpp>

#include "algorithms/run.hpp"
#include "codelets/codelet.hpp"
#include "devices/cost_curve.hpp"

/// The critical path of a factorization: its longest chain of dependent tasks. The chain consists of the factorizations
/// of panels or diagonal tiles and the updates between them. The factorizations are measured; the times of the updates
/// are calculated from the rate of a device.
namespace tessera::bench {

/// Measures factorizations in a row, each applied to the result of the previous one, so the data stays on the device.
/// The result is the time of one factorization. The minimum of several measurements counts, because it becomes part of
/// a lower bound, and disturbances such as a copy to the host only make a measurement longer.
/// @param run  (int count): factorizes `count` times, and returns when the result is available
template <typename Run>
double seconds_in_a_row(Run run) {
  constexpr int counted = 5, measurements = 3;
  const auto seconds_of = [&](int count) {
    const auto begin = std::chrono::steady_clock::now();
    run(count);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  seconds_of(1);  // lets the data arrive and the kernels load
  double one = seconds_of(1), many = seconds_of(1 + counted);
  for (int i = 1; i < measurements; i++)
    one = std::min(one, seconds_of(1)), many = std::min(many, seconds_of(1 + counted));
  return many > one ? (many - one) / counted : many / (1 + counted);  // subtracts a wait, unless disturbed
}

/// LU with partial pivoting, whose panels are columns of tiles of m×n elements at A.
/// @param rate  rate of a device [flop/s]
template <Scalar T>
double lu_path(Index m, Index n, T* A, Index ld, TileSize tile, double rate) {
  const Index order = std::min(m, n), width = std::min(tile.columns, order);
  if (order == 0) return 0;
  std::vector<Index> heights{width, m / 4, m};
  std::erase_if(heights, [&](Index rows) { return rows < width; });
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
  std::vector<device::CostCurve::Point> points;
  for (const Index rows : heights) {
    const Matrix<T> panel(A, rows, width, ld, tile);
    const auto factorize = [&](int count) {
      std::optional<Info> last;
      for (int i = 0; i < count; i++) last = getrf(panel).info;
      last->wait();
    };
    points.push_back({static_cast<double>(rows), seconds_in_a_row(factorize)});
  }
  const device::CostCurve panels(std::move(points));
  double seconds = 0;
  const auto w = static_cast<double>(width);
  for (Index k = 0; k < order; k += width) {
    const auto rows = static_cast<double>(m - k);
    seconds += panels.seconds(rows);
    if (k + width < order) seconds += flops_per_multiply_add<T> * w * w * std::max(rows - w / 2, 0.0) / rate;
  }
  return seconds;
}

/// A factorization of order n in square tiles. Only the tasks that factorize a diagonal tile are repeated. Calls of the
/// routine would also measure the task that writes the `info`, which may run on another worker.
/// @param updates  multiply-adds of the updates from one diagonal tile to the next, in units of tile³
/// @param factorize  (sink, a tile, InfoValue*): the algorithm
template <Scalar T, typename Factorize>
double tile_path(Index n, Index tile, double updates, double rate, Factorize factorize) {
  if (n == 0) return 0;
  const Index order = std::min(tile, n);
  // This matrix can be factorized repeatedly: its factors are legal matrices, even after each call takes the square
  // root of the diagonal.
  std::vector<T> A(static_cast<std::size_t>(order * order), T(1));
  for (Index i = 0; i < order; i++) A[static_cast<std::size_t>(i * (order + 1))] = static_cast<Real<T>>(0x1p100);
  const Matrix<T> diagonal(A.data(), order, order, order, {order, order});
  codelets::InfoValue info;
  const double one = seconds_in_a_row([&](int count) {
    sinks::Submitter submitter(detail::MatrixAccess::session(diagonal), diagonal);
    algorithms::submit(submitter, [&](auto& to) {
      for (int i = 0; i < count; i++) factorize(to, diagonal, &info);
    });
    diagonal.wait();
  });
  const double tiles = std::ceil(static_cast<double>(n) / static_cast<double>(order));
  const double update = flops_per_multiply_add<T> * updates * std::pow(static_cast<double>(order), 3) / rate;
  return tiles * one + (tiles - 1) * update;
}

}  // namespace tessera::bench
