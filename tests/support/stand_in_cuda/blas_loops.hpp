// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

/// Operations of the BLAS by loops.
namespace stand_in {

using Index = std::ptrdiff_t;

/// Tessera also times large products, whose results nobody reads.
inline bool is_only_timed(double m, double n, double k) { return m * n * k > 3e8; }

template <typename T>
inline constexpr bool is_real = std::is_floating_point_v<T>;
template <typename T>
T conjugate(T x) {
  if constexpr (is_real<T>) return x;
  else return std::conj(x);
}

template <typename T>
struct Matrix {
  T* data;
  Index ld;
  T& operator()(Index i, Index j) const { return data[i + j * ld]; }
};
template <typename T>
T element(cublasOperation_t op, const Matrix<const T>& A, Index i, Index j) {
  return op == CUBLAS_OP_N ? A(i, j) : op == CUBLAS_OP_T ? A(j, i) : conjugate(A(j, i));
}

enum class Part { All, Lower, Upper };
inline Part part_of(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_LOWER ? Part::Lower : Part::Upper; }

/// C ← α op(A) op(B) + β C
template <typename T>
void multiply(cublasOperation_t op_a, cublasOperation_t op_b, Index m, Index n, Index k, T alpha,
              const Matrix<const T>& A, const Matrix<const T>& B, T beta, const Matrix<T>& C, Part part = Part::All) {
  for (Index j = 0; j < n; j++)
    for (Index i = part == Part::Lower ? j : 0; i < (part == Part::Upper ? std::min(j + 1, m) : m); i++) {
      T sum{};
      if (alpha != T{})
        for (Index l = 0; l < k; l++) sum += element(op_a, A, i, l) * element(op_b, B, l, j);
      C(i, j) = beta == T{} ? alpha * sum : alpha * sum + beta * C(i, j);
    }
}

/// What stands in the other triangle.
enum class Other { Zeros, Mirrored, Conjugated };

/// All elements of a matrix of which a triangle is stored.
template <typename T>
std::vector<T> completed(cublasFillMode_t uplo, Index n, const Matrix<const T>& A, Other other, bool unit = false) {
  std::vector<T> memory(static_cast<std::size_t>(n * n));
  const Matrix<T> X{memory.data(), n};
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) {
      if (uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j) X(i, j) = A(i, j);
      else if (other != Other::Zeros) X(i, j) = other == Other::Conjugated ? conjugate(A(j, i)) : A(j, i);
      if (i == j && unit) X(i, j) = 1;
      if (i == j && other == Other::Conjugated) X(i, j) = std::real(X(i, j));
    }
  return memory;
}

template <typename T>
void make_diagonal_real(Index n, const Matrix<T>& C) {
  for (Index i = 0; i < n; i++) C(i, i) = std::real(C(i, i));
}

/// D ← α X B + β D, or α B X + β D (right)
template <typename T>
void multiply_square(bool left, cublasOperation_t op, Index m, Index n, T alpha, const std::vector<T>& square,
                     const Matrix<const T>& B, T beta, const Matrix<T>& D) {
  const Index k = left ? m : n;
  const Matrix<const T> X{square.data(), k};
  if (left) multiply(op, CUBLAS_OP_N, m, n, k, alpha, X, B, beta, D);
  else multiply(CUBLAS_OP_N, op, m, n, k, alpha, B, X, beta, D);
}

/// B ← α op(X)⁻¹ B, or α B op(X)⁻¹ (right), where op(X) is lower triangular if `lower`.
template <typename T>
void solve(bool left, bool lower, cublasOperation_t op, Index m, Index n, T alpha, const std::vector<T>& square,
           const Matrix<T>& B) {
  const Index order = left ? m : n, others = left ? n : m;
  const Matrix<const T> X{square.data(), order};
  for (Index other = 0; other < others; other++) {
    const auto at = [&](Index i) -> T& { return left ? B(i, other) : B(other, i); };
    for (Index step = 0; step < order; step++) {
      const Index i = lower == left ? step : order - 1 - step;
      T sum = alpha * at(i);
      for (Index before = 0; before < step; before++) {
        const Index k = lower == left ? before : order - 1 - before;
        sum -= (left ? element(op, X, i, k) : element(op, X, k, i)) * at(k);
      }
      at(i) = sum / element(op, X, i, i);
    }
  }
}

inline cublasOperation_t adjoint_of(cublasOperation_t op, bool conjugated) {
  return op == CUBLAS_OP_N ? conjugated ? CUBLAS_OP_C : CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace stand_in
