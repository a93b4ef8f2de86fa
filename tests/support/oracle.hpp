// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include "codelets/host_blas.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

/// What a product should be: by a triple loop in long double, or by the host's BLAS.
namespace tessera::test {

template <Scalar T>
using Wide = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;

template <Scalar T>
Wide<T> widen(T x) {
  if constexpr (is_complex<T>) return {x.real(), x.imag()};
  else return x;
}

/// Element (i, j) of op(A).
template <Scalar T>
Wide<T> element(Op op, const HostMatrix<T>& A, Index i, Index j) {
  const auto x = widen(op == Op::NoTrans ? A(i, j) : A(j, i));
  if constexpr (is_complex<T>) return op == Op::ConjTrans ? std::conj(x) : x;
  else return x;
}

/// C ← α op(A) op(B) + β C, as the test asked for it.
template <Scalar T>
struct Product {
  Op op_a, op_b;
  T alpha;
  const HostMatrix<T>& A;
  const HostMatrix<T>& B;
  T beta;

  Index k() const { return op_a == Op::NoTrans ? A.n() : A.m(); }
};

template <Scalar T>
std::ostream& operator<<(std::ostream& out, const Product<T>& p) {
  return out << type_letter<T> << "gemm " << static_cast<char>(p.op_a) << static_cast<char>(p.op_b) << ", alpha "
             << p.alpha << ", A " << p.A.m() << 'x' << p.A.n() << " ld " << p.A.ld() << ", B " << p.B.m() << 'x'
             << p.B.n() << " ld " << p.B.ld() << ", beta " << p.beta;
}

/// Whether element (i, j) is within the error bound of its exact value.
template <Scalar T>
::testing::AssertionResult element_is_right(const Product<T>& p, const HostMatrix<T>& before,
                                            const HostMatrix<T>& after, Index i, Index j) {
  Wide<T> sum = 0, result = 0;
  long double magnitude = 0;
  if (p.alpha != T{}) {
    for (Index l = 0; l < p.k(); l++) {
      const auto a = element(p.op_a, p.A, i, l), b = element(p.op_b, p.B, l, j);
      sum += a * b;
      magnitude += std::abs(a) * std::abs(b);
    }
    result = widen(p.alpha) * sum;
    magnitude *= std::abs(widen(p.alpha));
  }
  if (p.beta != T{}) {
    result += widen(p.beta) * widen(before(i, j));
    magnitude += std::abs(widen(p.beta)) * std::abs(widen(before(i, j)));
  }
  const long double error = std::abs(widen(after(i, j)) - result), bound = error_bound<T>(p.k(), magnitude);
  if (error <= bound) return ::testing::AssertionSuccess();  // false for NaN
  return ::testing::AssertionFailure() << p << ": C(" << i << ", " << j << ") is " << after(i, j) << ", should be "
                                       << result << ", error " << error << " over the bound " << bound;
}

/// Whether all of C is right, and nothing but C has been written.
template <Scalar T>
::testing::AssertionResult product_is_right(const Product<T>& p, const HostMatrix<T>& before,
                                            const HostMatrix<T>& after) {
  if (!after.sentinels_intact()) return ::testing::AssertionFailure() << p << ": wrote outside of C";
  for (Index j = 0; j < after.n(); j++)
    for (Index i = 0; i < after.m(); i++)
      if (auto right = element_is_right(p, before, after, i, j); !right) return right;
  return ::testing::AssertionSuccess();
}

/// The same product by the host's BLAS. On integers it is exact, as ours must be.
template <Scalar T>
void host_product(const Product<T>& p, HostMatrix<T>& C) {
  if (C.m() == 0 || C.n() == 0) return;
  const auto size = [](Index x) { return static_cast<int>(x); };
  host::gemm<T>(p.op_a, p.op_b, size(C.m()), size(C.n()), size(p.k()), p.alpha, p.A.data(), size(p.A.ld()), p.B.data(),
                size(p.B.ld()), p.beta, C.data(), size(C.ld()));
}

}  // namespace tessera::test
