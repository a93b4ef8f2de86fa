// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include <tessera/distributed.hpp>

#include "mpi_bench/simulated.hpp"
#include "workload/parallel.hpp"

/// Random elements of distributed matrices, and products with a vector to check results.
namespace tessera::mpi_bench {

/// A number in [-1, 1] determined by a seed and a position (SplitMix64).
inline double random_value(std::uint64_t seed, Index i, Index j) {
  std::uint64_t x =
      seed * 0x9e3779b97f4a7c15ULL + (static_cast<std::uint64_t>(i) << 32) + static_cast<std::uint64_t>(j);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

template <Scalar T>
T random_element(std::uint64_t seed, Index i, Index j) {
  if constexpr (is_complex<T>)
    return T(static_cast<Real<T>>(random_value(seed, i, j)), static_cast<Real<T>>(random_value(seed + 100, i, j)));
  else return static_cast<T>(random_value(seed, i, j));
}

template <Scalar T>
T conjugate(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  else return x;
}

using Wide = std::complex<double>;
using Vector = std::vector<Wide>;

inline Vector random_vector(Index n) {
  Vector x(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; i++) x[static_cast<std::size_t>(i)] = random_value(9, i, 0);
  return x;
}

/// The rows of the whole matrix that a process owns.
template <Scalar T>
std::vector<Index> own_rows(const DistributedMatrix<T>& A) {
  std::vector<Index> rows(static_cast<std::size_t>(A.local_m()));
  for (std::size_t i = 0; i < rows.size(); i++) rows[i] = A.global_row(static_cast<Index>(i));
  return rows;
}

/// Sets all elements of this process to value(i, j). Devices drop their copies, so every call loads them.
template <Scalar T, typename Value>
void set_elements(const DistributedMatrix<T>& A, Value value) {
  A.wait();
  if (simulated) return;
  const auto rows = own_rows(A);
  bench::parallel_for(A.local_n(), 64, [&](Index begin, Index end) {
    for (Index local = begin; local < end; local++) {
      T* column = A.local() + local * A.ld();
      const Index j = A.global_column(local);
      for (const Index i : rows) *column++ = value(i, j);
    }
  });
}

/// Calls visit(local element, i, j) for all elements of this process.
template <Scalar T, typename Visit>
void for_each_element(const DistributedMatrix<T>& A, Visit visit) {
  const auto rows = own_rows(A);
  for (Index local = 0; local < A.local_n(); local++) {
    const T* column = A.local() + local * A.ld();
    const Index j = A.global_column(local);
    for (const Index i : rows) visit(*column++, i, j);
  }
}

inline Vector sum_of_processes(const Grid& grid, Vector x) {
  MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(2 * x.size()), MPI_DOUBLE, MPI_SUM, grid.comm());
  return x;
}

/// op(A) x, where `element` maps a stored element of A to the one that the product uses.
template <Scalar T, typename Element>
Vector times(const DistributedMatrix<T>& A, bool adjoint, const Vector& x, Element element) {
  Vector y(static_cast<std::size_t>(adjoint ? A.n() : A.m()));
  for_each_element(A, [&](const T& a, Index i, Index j) {
    const Wide value = Wide(element(a, i, j));
    if (adjoint) y[static_cast<std::size_t>(j)] += std::conj(value) * x[static_cast<std::size_t>(i)];
    else y[static_cast<std::size_t>(i)] += value * x[static_cast<std::size_t>(j)];
  });
  return sum_of_processes(A.grid(), std::move(y));
}

/// A x for a symmetric or Hermitian A, of which only the lower triangle is read.
template <Scalar T, typename Element>
Vector times_symmetric(const DistributedMatrix<T>& A, bool hermitian, const Vector& x, Element element) {
  auto y = times(A, false, x, [&](const T& a, Index i, Index j) { return i >= j ? element(a, i, j) : T{}; });
  const auto above = times(A, true, x, [&](const T& a, Index i, Index j) {
    return i <= j ? T{} : hermitian ? element(a, i, j) : conjugate(element(a, i, j));
  });
  for (std::size_t i = 0; i < y.size(); i++) y[i] += above[i];
  return y;
}

/// α x + β y
inline Vector sum(const Wide& alpha, Vector x, const Wide& beta, const Vector& y) {
  for (std::size_t i = 0; i < x.size(); i++) x[i] = alpha * x[i] + beta * y[i];
  return x;
}

/// The largest magnitude.
inline double size_of(const Vector& x) {
  double size = 0;
  for (const auto& value : x) size = std::max(size, std::abs(value));
  return size;
}

/// @param scale  a bound of the terms that were added up, if larger than their sum
template <Scalar T>
double relative_error(const Vector& got, const Vector& wanted, Index terms, double scale = 0) {
  double error = 0, size = scale;
  for (std::size_t i = 0; i < got.size(); i++) {
    const double difference = std::abs(got[i] - wanted[i]);
    if (!(difference <= error) && !std::isnan(error)) error = difference;  // keeps NaN
    size = std::max(size, std::abs(wanted[i]));
  }
  return error / (std::numeric_limits<Real<T>>::epsilon() * static_cast<double>(terms) * std::max(size, 1.0));
}

// Maps of a stored element to the one that a product uses.
template <Scalar T>
T whole(const T& a, Index /*i*/, Index /*j*/) {
  return a;
}
template <Scalar T>
T lower(const T& a, Index i, Index j) {
  return i >= j ? a : T{};
}
template <Scalar T>
T upper(const T& a, Index i, Index j) {
  return i <= j ? a : T{};
}
template <Scalar T>
T unit_lower(const T& a, Index i, Index j) {
  return i > j ? a : i == j ? T(1) : T{};
}

}  // namespace tessera::mpi_bench
