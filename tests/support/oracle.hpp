// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "devices/cpu/host_blas.hpp"
#include "support/matrices.hpp"

/// The expected result of a product, for tests that need a result but do not test a routine. Tests of routines use
/// support/call.hpp.
namespace tessera::test {

/// The product C ← α op(A) op(B) + β C.
template <Scalar T>
struct Product {
  Op op_a, op_b;
  T alpha;
  const HostMatrix<T>& A;
  const HostMatrix<T>& B;
  T beta;

  Index k() const { return op_a == Op::NoTrans ? A.n() : A.m(); }
};

/// Computes the product by the host BLAS. On integers the result is exact, as Tessera's must be.
template <Scalar T>
void host_product(const Product<T>& p, HostMatrix<T>& C) {
  if (C.m() == 0 || C.n() == 0) return;
  const auto size = [](Index x) { return static_cast<int>(x); };
  device::cpu::gemm<T>(p.op_a, p.op_b, size(C.m()), size(C.n()), size(p.k()), p.alpha, p.A.data(), size(p.A.ld()),
                       p.B.data(), size(p.B.ld()), p.beta, C.data(), size(C.ld()));
}

}  // namespace tessera::test
