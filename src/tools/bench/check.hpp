// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "bench/problem.hpp"

namespace tessera::bench {

/// α op(A) op(B) + β C₀, and the C to compare it with. C₀ is what operands.hpp generates.
template <Scalar T>
struct CheckedProduct {
  Op op_a, op_b;
  Index m, n, k;
  T alpha, beta;
  const T* A;
  Index lda;
  const T* B;
  Index ldb;
  const T* C;
  Index ldc;
  std::uint64_t seed;
};

/// Small products: every element against the host BLAS. Large ones, in wider arithmetic: one element out of each block
/// of C, so that a tile that lacks a part of its sum is seen, and C t with a random vector t, so that no element is
/// left out.
///
/// The error is the largest |difference| / (|α| |op(A)| |op(B)| + |β| |C₀|), taken element by element; for C t both
/// sides of the fraction are multiplied by |t|.
template <Scalar T>
Verdict check_product(const CheckedProduct<T>& product);

}  // namespace tessera::bench
