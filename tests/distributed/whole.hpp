// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <starpu.h>

#include <tessera/distributed.hpp>

namespace tessera::test {

/// The grid for which the test program was started.
inline int grid_rows = 1, grid_columns = 1;
inline Grid grid() { return {grid_rows, grid_columns}; }

/// Sets the limits of communication for a test, and restores the default at its end.
class Controlled {
 public:
  Controlled(const Grid& grid, const ProductControl& control) : grid_(grid) { grid.control(control); }
  ~Controlled() { grid_.control({}); }
  Controlled(const Controlled&) = delete;
  Controlled& operator=(const Controlled&) = delete;

 private:
  Grid grid_;
};

/// The bytes of host memory that StarPU has allocated, beside the program's own.
inline Index in_use() { return static_cast<Index>(starpu_memory_get_used(STARPU_MAIN_RAM)); }
/// The most that is allocated until no task is left.
inline Index most_in_use() {
  Index most = in_use();
  for (; starpu_task_nsubmitted() > 0; std::this_thread::sleep_for(std::chrono::microseconds(100)))
    most = std::max(most, in_use());
  return most;
}

/// A matrix of which every process stores all elements.
template <Scalar T>
struct Whole {
  Index m, n;
  std::vector<T> data;

  /// Elements in [-1, 1]; in a complex matrix, so are the imaginary parts.
  Whole(Index rows, Index columns, unsigned seed)
      : m(rows), n(columns), data(static_cast<std::size_t>(rows * columns)) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(-1, 1);
    for (auto& x : data) {
      const double re = value(random);
      if constexpr (is_complex<T>) x = T(static_cast<Real<T>>(re), static_cast<Real<T>>(value(random)));
      else x = static_cast<T>(re);
    }
  }
  T& operator()(Index i, Index j) { return data[static_cast<std::size_t>(i + j * m)]; }
  const T& operator()(Index i, Index j) const { return data[static_cast<std::size_t>(i + j * m)]; }
  Index ld() const { return std::max<Index>(1, m); }

  /// A copy of the matrix with a dominant diagonal, whose triangles are well conditioned.
  Whole dominant() const {
    Whole result = *this;
    for (Index i = 0; i < std::min(m, n); i++) result(i, i) = T(static_cast<Real<T>>(std::max(m, n) + 1));
    return result;
  }
};

/// Sets the elements that this process owns.
template <Scalar T>
void scatter(const Whole<T>& from, const DistributedMatrix<T>& to) {
  for (Index j = 0; j < to.local_n(); j++)
    for (Index i = 0; i < to.local_m(); i++) to.local()[i + j * to.ld()] = from(to.global_row(i), to.global_column(j));
}

template <Scalar T>
DistributedMatrix<T> distributed(const Grid& grid, const Whole<T>& from, TileSize tile) {
  DistributedMatrix<T> result(grid, from.m, from.n, tile);
  scatter(from, result);
  return result;
}

/// Compares this process's elements. Errors of both sums of `terms` products of numbers up to `size` are allowed.
template <Scalar T>
void expect_near(const DistributedMatrix<T>& A, const Whole<T>& wanted, Index terms, double size = 1) {
  A.wait();
  const double unit = std::numeric_limits<Real<T>>::epsilon(),
               allowed = 4 * static_cast<double>(terms + 2) * unit * size * (is_complex<T> ? 2 : 1);
  double worst = 0;
  Index row = -1, column = -1;
  for (Index j = 0; j < A.local_n(); j++)
    for (Index i = 0; i < A.local_m(); i++) {
      const Index global_i = A.global_row(i), global_j = A.global_column(j);
      const double error = std::abs(A.local()[i + j * A.ld()] - wanted(global_i, global_j));
      if (error <= worst || std::isnan(worst)) continue;  // NaN is the worst
      worst = error, row = global_i, column = global_j;
    }
  EXPECT_LE(worst, allowed) << "at (" << row << ", " << column << ") in process " << A.grid().rank();
}

}  // namespace tessera::test
