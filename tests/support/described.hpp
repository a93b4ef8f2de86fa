// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/call.hpp"
#include "support/call.hpp"

namespace tessera::test {

/// A call on pointers as the routines see it. It points to `call`, which must outlive it.
template <Scalar T>
blas::Call described(Call<T>& call) {
  blas::Call described{call.routine->which, type_letter<T>};
  const auto& options = call.options;
  described.side = options.side, described.uplo = options.uplo, described.diag = options.diag;
  described.op_a = options.op_a, described.op_b = options.op_b;
  described.m = call.size.m, described.n = call.size.n, described.k = call.size.k;
  described.alpha = &call.alpha, described.beta = &call.beta;
  described.A = call.A.data(), described.lda = call.A.ld();
  described.B = call.B.data(), described.ldb = call.B.ld();
  described.C = call.C.data(), described.ldc = call.C.ld();
  return described;
}

}  // namespace tessera::test
