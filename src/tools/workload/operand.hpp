// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <mutex>
#include <vector>

#include <tessera/types.hpp>

#include "workload/parallel.hpp"

namespace tessera::bench {

/// The value at `index` of operand 0 (A), 1 (B) or 2 (C), in (-0.5, 0.5). For complex types, `index` counts real and
/// imaginary parts. The value depends only on the arguments, so any thread can fill any part, and a check recomputes
/// the old C instead of keeping a copy.
///
/// Well-conditioned matrices of order n, for trmm, trsm and factorizations, have these values divided by √n off the
/// diagonal, and increased by 3/2 on the diagonal. The diagonal then has magnitude 1 to 2, and the rest of a triangle
/// has norm 0.7 or less for any n. A call thus changes the length of a column by a factor between 1/3 and 3. A
/// Hermitian matrix with such a triangle is positive definite: its part off the diagonal has norm at most 0.6 (real) or
/// 0.8 (complex). Without the division, the condition number of random triangular matrices grows as 2ⁿ. After a
/// division by n, the elements off the diagonal would be too small to reveal errors.
inline double generated(std::uint64_t seed, int operand, Index index) {
  std::uint64_t z = (seed * 4 + static_cast<std::uint64_t>(operand)) * 0xD1B54A32D192ED03U;
  z += (static_cast<std::uint64_t>(index) + 1) * 0x9E3779B97F4A7C15U;  // the rest is splitmix64
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53 - 0.5;
}

/// Element `index` of an operand of type T.
template <Scalar T>
T generated_element(std::uint64_t seed, int operand, Index index) {
  using R = Real<T>;
  if constexpr (is_complex<T>)
    return {static_cast<R>(generated(seed, operand, 2 * index)),
            static_cast<R>(generated(seed, operand, 2 * index + 1))};
  else return static_cast<R>(generated(seed, operand, index));
}

/// Element (i, j), at `index`, of a well-conditioned matrix of order n.
template <Scalar T>
T well_conditioned_element(std::uint64_t seed, int operand, Index index, Index i, Index j, Index n) {
  const auto x = generated_element<T>(seed, operand, index);
  return i == j ? x + T(1.5) : x * static_cast<Real<T>>(1 / std::sqrt(static_cast<double>(n)));
}

template <Scalar T>
using WideReal = std::conditional_t<std::same_as<Real<T>, float>, double, long double>;
template <Scalar T>
using Wide = std::conditional_t<is_complex<T>, std::complex<WideReal<T>>, WideReal<T>>;

template <Scalar T>
Wide<T> widen(T x) {
  if constexpr (is_complex<T>) return {x.real(), x.imag()};
  else return x;
}

template <typename W>
auto magnitude(W x) {
  if constexpr (std::is_floating_point_v<W>) return std::abs(x);
  else return std::sqrt(x.real() * x.real() + x.imag() * x.imag());
}

/// x y, without the special treatment of infinities in std::complex.
template <typename W>
W multiply(W x, W y) {
  if constexpr (std::is_floating_point_v<W>) return x * y;
  else return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// A vector x, and a bound s of its absolute values: |x| ≤ s.
template <Scalar T>
struct BoundedVector {
  std::vector<Wide<T>> x;
  std::vector<WideReal<T>> s;
  explicit BoundedVector(Index size) : x(static_cast<std::size_t>(size)), s(static_cast<std::size_t>(size)) {}
};

/// M v for a matrix with `rows` rows and as many columns as v has entries: M x and |M| s.
template <Scalar T, typename Matrix>
BoundedVector<T> apply(const Matrix& M, Index rows, const BoundedVector<T>& v) {
  BoundedVector<T> result(rows);
  const Index columns = std::ssize(v.x);
  parallel_for(rows, 64, [&](Index begin, Index end) {
    const auto add = [&](Index i, Index j) {
      const auto element = M(i, j);
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
      result.x[row] += multiply(element, v.x[column]);
      result.s[row] += magnitude(element) * v.s[column];
    };
    if (M.columns_are_contiguous()) {
      for (Index j = 0; j < columns; j++)
        for (Index i = begin; i < end; i++) add(i, j);
    } else {
      for (Index i = begin; i < end; i++)
        for (Index j = 0; j < columns; j++) add(i, j);
    }
  });
  return result;
}

/// A triangle of the product L R, times v, computed as cheaply as L (R v). Row i of L is multiplied by a sum of columns
/// of R, weighted by v, over the columns that the triangle includes in row i. From one row to the next, the sum gains
/// one column (Lower) or loses one (Upper).
template <Scalar T, typename Left, typename Right>
BoundedVector<T> apply_triangle(Uplo uplo, const Left& L, const Right& R, Index k, const BoundedVector<T>& v) {
  constexpr Index slice = 256;  // terms of a sum per slice; a thread's partial sums then stay in its cache
  const Index n = std::ssize(v.x);
  BoundedVector<T> result(n);
  std::mutex adding;
  parallel_for((k + slice - 1) / slice, 1, [&](Index begin, Index end) {
    BoundedVector<T> part(n);
    for (Index first = begin * slice; first < std::min(k, end * slice); first += slice) {
      const Index terms = std::min(slice, k - first);
      BoundedVector<T> columns(terms);
      for (Index step = 0; step < n; step++) {
        const Index i = uplo == Uplo::Lower ? step : n - 1 - step;
        const auto row = static_cast<std::size_t>(i);
        for (Index l = 0; l < terms; l++) {
          auto& x = columns.x[static_cast<std::size_t>(l)];
          auto& s = columns.s[static_cast<std::size_t>(l)];
          const auto right = R(first + l, i), left = L(i, first + l);
          x += multiply(right, v.x[row]), s += magnitude(right) * v.s[row];
          part.x[row] += multiply(left, x), part.s[row] += magnitude(left) * s;
        }
      }
    }
    const std::lock_guard lock(adding);
    for (std::size_t i = 0; i < result.x.size(); i++) result.x[i] += part.x[i], result.s[i] += part.s[i];
  });
  return result;
}

/// How the matrix that a routine means differs from the stored one.
enum class Form {
  General,     ///< not at all
  Symmetric,   ///< the triangle that is not stored mirrors the one that is
  Hermitian,   ///< the triangle that is not stored is the conjugate mirror of the one that is
  Triangular,  ///< the triangle that is not stored is 0
  Zero,        ///< all elements are 0
};
enum class Diagonal { Stored, Real, Ones };

template <Scalar T>
T conjugated(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  else return x;
}

/// op(A) of a stored matrix, element by element, as the routines interpret it.
template <Scalar T>
struct Operand {
  Op op = Op::NoTrans;
  const T* data = nullptr;  ///< null: the elements are generated again
  Index ld = 1;
  std::uint64_t seed = 0;
  Form form = Form::General;
  Uplo uplo = Uplo::Lower;  ///< the stored triangle
  Diagonal diagonal = Diagonal::Stored;
  int operand = 2;             ///< without data: the operand that is generated again
  Index well_conditioned = 0;  ///< without data: the order of the well-conditioned matrix; 0: not such a matrix

  Operand transposed(bool conjugate) const {
    auto result = *this;
    result.op = op != Op::NoTrans ? Op::NoTrans : conjugate ? Op::ConjTrans : Op::Trans;
    return result;
  }

  T stored(Index i, Index j) const {
    if (data != nullptr) return data[i + j * ld];
    const Index index = i + j * ld;
    const bool padding = i >= well_conditioned;
    return padding ? generated_element<T>(seed, operand, index)
                   : well_conditioned_element<T>(seed, operand, index, i, j, well_conditioned);
  }

  /// The element of A itself.
  T meant(Index i, Index j) const {
    if (form == Form::Zero) return {};
    if (i == j && diagonal != Diagonal::Stored) return diagonal == Diagonal::Ones ? T(1) : T(std::real(stored(i, i)));
    if (form == Form::General || (uplo == Uplo::Lower ? i >= j : i <= j)) return stored(i, j);
    if (form == Form::Triangular) return {};
    return form == Form::Hermitian ? conjugated(stored(j, i)) : stored(j, i);
  }

  T element(Index i, Index j) const {
    if (op == Op::NoTrans) return meant(i, j);
    return op == Op::ConjTrans ? conjugated(meant(j, i)) : meant(j, i);
  }

  bool columns_are_contiguous() const { return op == Op::NoTrans; }
  Wide<T> operator()(Index i, Index j) const { return widen(element(i, j)); }
};

}  // namespace tessera::bench
