// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "codelets/host_blas.hpp"
#include "support/matrices.hpp"

/// What a product of matrices should be, for tests that need some result and are not about a routine; those that are
/// have support/call.hpp.
namespace tessera::test {

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

/// That product by the host's BLAS. On integers it is exact, as ours must be.
template <Scalar T>
void host_product(const Product<T>& p, HostMatrix<T>& C) {
  if (C.m() == 0 || C.n() == 0) return;
  const auto size = [](Index x) { return static_cast<int>(x); };
  host::gemm<T>(p.op_a, p.op_b, size(C.m()), size(C.n()), size(p.k()), p.alpha, p.A.data(), size(p.A.ld()), p.B.data(),
                size(p.B.ld()), p.beta, C.data(), size(C.ld()));
}

}  // namespace tessera::test
