// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

#include "devices/cpu/host_blas.hpp"

/// Dense matrices and residuals for tests of factorizations.
namespace tessera::test {

/// The largest residual that LAPACK's testers accept.
inline constexpr double threshold = 30;

inline constexpr Layout layouts[] = {Layout::ColMajor, Layout::RowMajor};
inline constexpr Uplo triangles[] = {Uplo::Lower, Uplo::Upper};

/// A dense matrix. The elements between its rows or columns and the leading dimension are `padding`.
template <Scalar T>
struct Dense {
  Layout layout;
  Index m, n, ld;
  std::vector<T> data;

  static constexpr Real<T> padding = Real<T>(-77);

  Dense(Index rows, Index columns, Layout order = Layout::ColMajor, Index pad = 0)
      : layout(order), m(rows), n(columns), ld(std::max<Index>(1, order == Layout::ColMajor ? rows : columns) + pad),
        data(static_cast<std::size_t>(ld * std::max<Index>(1, order == Layout::ColMajor ? columns : rows)),
             T(padding)) {}

  T& operator()(Index i, Index j) {
    return data[static_cast<std::size_t>(layout == Layout::ColMajor ? i + j * ld : i * ld + j)];
  }
  const T& operator()(Index i, Index j) const { return const_cast<Dense&>(*this)(i, j); }
};

template <Scalar T>
T random_element(std::mt19937_64& engine) {
  std::uniform_real_distribution<Real<T>> values(-1, 1);
  if constexpr (is_complex<T>) return {values(engine), values(engine)};
  else return values(engine);
}

template <Scalar T>
T conjugate(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  else return x;
}

template <Scalar T>
Dense<T> random_matrix(Index m, Index n, std::uint64_t seed, Layout layout = Layout::ColMajor, Index pad = 0) {
  std::mt19937_64 engine(seed);
  Dense<T> A(m, n, layout, pad);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++) A(i, j) = random_element<T>(engine);
  return A;
}

template <Scalar T>
double norm(const Dense<T>& A) {
  double largest = 0;
  for (Index j = 0; j < A.n; j++) {
    double sum = 0;
    for (Index i = 0; i < A.m; i++) sum += std::abs(A(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

template <Scalar T>
inline constexpr double unit = static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;

/// C ← A op(B) − C, all column-major and without padding.
template <Scalar T>
void multiply(const Dense<T>& A, const Dense<T>& B, Op op, Dense<T>& C) {
  if (C.m == 0 || C.n == 0) return;
  device::cpu::gemm<T>(Op::NoTrans, op, static_cast<int>(C.m), static_cast<int>(C.n), static_cast<int>(A.n), T(1),
                       A.data.data(), static_cast<int>(A.ld), B.data.data(), static_cast<int>(B.ld), T(-1),
                       C.data.data(), static_cast<int>(C.ld));
}

template <Scalar T>
double largest(const Dense<T>& A) {
  double most = 0;
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.m; i++)
      if (!(std::abs(A(i, j)) <= most) && !std::isnan(most)) most = std::abs(A(i, j));  // NaN is kept
  return most;
}

/// Whether the padding is unchanged.
template <Scalar T>
bool padding_is_intact(const Dense<T>& A) {
  const auto [used, count] = A.layout == Layout::ColMajor ? std::pair(A.m, A.n) : std::pair(A.n, A.m);
  for (Index line = 0; line < count; line++)
    for (Index i = used; i < A.ld; i++)
      if (A.data[static_cast<std::size_t>(i + line * A.ld)] != T(Dense<T>::padding)) return false;
  return true;
}

/// A copy that is column-major and without padding.
template <Scalar T>
Dense<T> packed(const Dense<T>& A) {
  Dense<T> result(A.m, A.n);
  for (Index j = 0; j < A.n; j++)
    for (Index i = 0; i < A.m; i++) result(i, j) = A(i, j);
  return result;
}

/// max|B − A X| / (n ‖A‖ ‖X‖ u)
template <Scalar T>
double residual_of_solution(const Dense<T>& A, const Dense<T>& B, const Dense<T>& X) {
  if (B.m == 0 || B.n == 0) return 0;
  auto difference = packed(B);
  multiply(packed(A), packed(X), Op::NoTrans, difference);
  return largest(difference) / (static_cast<double>(A.n) * norm(A) * norm(X) * unit<T>);
}

template <typename Error, typename Action>
void expect_refused(Action action, const std::string& routine, int position, const std::string& name) {
  try {
    action();
    ADD_FAILURE() << routine << " did not refuse " << name;
  } catch (const Error& error) {
    EXPECT_EQ(error.routine(), routine);
    EXPECT_EQ(error.position(), position) << error.what();
    EXPECT_EQ(error.argument(), name) << error.what();
  }
}

}  // namespace tessera::test
