// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include <tessera/types.hpp>

#include "support/options.hpp"
#include "support/tested_types.hpp"

/// Operands in host memory with sentinels in all bytes that are not elements.
namespace tessera::test {

/// A column-major matrix. Sentinels lie between its columns, before the first and after the last one: bytes 0xff, which
/// are NaN in every type, so tests detect reads as well as writes. Elements that have not been filled are NaN, too.
template <Scalar T>
class HostMatrix {
 public:
  explicit HostMatrix(Index m = 0, Index n = 0, Index padding = 0)
      : m_(m), n_(n), ld_(std::max<Index>(1, m) + padding), memory_(static_cast<std::size_t>(guard + ld_ * n + guard)) {
    std::memset(static_cast<void*>(memory_.data()), 0xff, memory_.size() * sizeof(T));
  }

  Index m() const { return m_; }
  Index n() const { return n_; }
  Index ld() const { return ld_; }
  T* data() { return memory_.data() + guard; }
  const T* data() const { return memory_.data() + guard; }
  T& operator()(Index i, Index j) { return data()[i + j * ld_]; }
  const T& operator()(Index i, Index j) const { return data()[i + j * ld_]; }

  /// Compares all bytes, of elements as well as sentinels. For operands that must not be written.
  friend bool operator==(const HostMatrix& a, const HostMatrix& b) {
    return a.m_ == b.m_ && a.n_ == b.n_ && a.ld_ == b.ld_ &&
           std::memcmp(a.memory_.data(), b.memory_.data(), a.memory_.size() * sizeof(T)) == 0;
  }

  bool sentinels_intact() const {
    HostMatrix expected(m_, n_, ld_ - std::max<Index>(1, m_));
    for (Index j = 0; j < n_; j++) std::copy_n(&(*this)(0, j), m_, &expected(0, j));
    return expected == *this;
  }

  /// Whether all elements are equal as numbers (0 equals −0) and all sentinels are intact. For exact results.
  bool equals(const HostMatrix& other) const {
    bool equal = m_ == other.m_ && n_ == other.n_ && sentinels_intact();
    for (Index j = 0; equal && j < n_; j++) equal = std::equal(&(*this)(0, j), &(*this)(0, j) + m_, &other(0, j));
    return equal;
  }

 private:
  static constexpr Index guard = 16;
  Index m_, n_, ld_;
  std::vector<T> memory_;
};

/// Random numbers from a fixed seed, the same on every machine. The C++ standard defines the output of its random
/// engines, but not that of its distributions, so these are not used.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// A number in [first, last].
  Index integer(Index first, Index last) {
    return first + static_cast<Index>(engine_() % static_cast<std::uint64_t>(last - first + 1));
  }
  bool coin() { return integer(0, 1) == 1; }
  template <typename List>
  const auto& one_of(const List& list) {
    return list[static_cast<std::size_t>(integer(0, std::ssize(list) - 1))];
  }

  /// Fills A with elements of either sign, each part smaller than 1/2 in absolute value.
  template <Scalar T>
  void fill(HostMatrix<T>& A) {
    fill(A, [&] { return static_cast<Real<T>>(static_cast<double>(engine_() >> 11) * 0x1p-53 - 0.5); });
  }

  /// Fills A with integers, each part at most `largest` in absolute value: their sums and products are exact.
  template <Scalar T>
  void fill_integers(HostMatrix<T>& A, Index largest = 4) {
    fill(A, [&] { return static_cast<Real<T>>(integer(-largest, largest)); });
  }

 private:
  template <Scalar T, typename Next>
  static void fill(HostMatrix<T>& A, Next next) {
    for (Index j = 0; j < A.n(); j++)
      for (Index i = 0; i < A.m(); i++) {
        if constexpr (is_complex<T>) {
          const auto real = next();
          A(i, j) = T(real, next());
        } else {
          A(i, j) = next();
        }
      }
  }

  std::mt19937_64 engine_;
};

template <Scalar T>
HostMatrix<T> random_matrix(std::uint64_t seed, Index m, Index n, Index padding = 0) {
  HostMatrix<T> A(m, n, padding);
  Random(seed).fill(A);
  return A;
}

template <Scalar T>
HostMatrix<T> integer_matrix(std::uint64_t seed, Index m, Index n, Index padding = 0, Index largest = 4) {
  HostMatrix<T> A(m, n, padding);
  Random(seed).fill_integers(A, largest);
  return A;
}

/// Factors for all code paths: zero, one, and numbers of either sign; for complex types, with both parts.
template <Scalar T>
std::vector<T> factors() {
  std::vector<T> list{T(0), T(1), T(Real<T>(-0.5)), T(Real<T>(2.25))};
  if constexpr (is_complex<T>) list.insert(list.end(), {T(0, 1), T(Real<T>(0.5), Real<T>(-1.25))});
  return list;
}

}  // namespace tessera::test
