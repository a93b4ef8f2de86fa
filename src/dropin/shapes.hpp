// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call.hpp"

/// Functions that create a Call from arguments in the order of the BLAS: one for each argument shape of
/// src/routines/routines.def.
namespace tessera::dropin::shapes {

using Data = const void*;

inline Call product(Routine routine, char type, Op op_a, Op op_b, Index m, Index n, Index k, Data alpha, Data A,
                    Index lda, Data B, Index ldb, Data beta, void* C, Index ldc) {
  Call call{.routine = routine, .type = type, .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k};
  call.alpha = alpha, call.A = A, call.lda = lda, call.B = B, call.ldb = ldb, call.beta = beta;
  call.C = C, call.ldc = ldc;
  return call;
}

inline Call triangle_product(Routine routine, char type, Uplo uplo, Op op_a, Op op_b, Index n, Index k, Data alpha,
                             Data A, Index lda, Data B, Index ldb, Data beta, void* C, Index ldc) {
  auto call = product(routine, type, op_a, op_b, 0, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  call.uplo = uplo;
  return call;
}

inline Call symmetric(Routine routine, char type, Side side, Uplo uplo, Index m, Index n, Data alpha, Data A, Index lda,
                      Data B, Index ldb, Data beta, void* C, Index ldc) {
  auto call = product(routine, type, Op::NoTrans, Op::NoTrans, m, n, 0, alpha, A, lda, B, ldb, beta, C, ldc);
  call.side = side, call.uplo = uplo;
  return call;
}

inline Call rank_2k(Routine routine, char type, Uplo uplo, Op op, Index n, Index k, Data alpha, Data A, Index lda,
                    Data B, Index ldb, Data beta, void* C, Index ldc) {
  auto call = product(routine, type, op, Op::NoTrans, 0, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  call.uplo = uplo;
  return call;
}

inline Call rank_k(Routine routine, char type, Uplo uplo, Op op, Index n, Index k, Data alpha, Data A, Index lda,
                   Data beta, void* C, Index ldc) {
  return rank_2k(routine, type, uplo, op, n, k, alpha, A, lda, nullptr, 1, beta, C, ldc);
}

inline Call triangular(Routine routine, char type, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, Data alpha,
                       Data A, Index lda, void* B, Index ldb) {
  auto call = product(routine, type, op, Op::NoTrans, m, n, 0, alpha, A, lda, nullptr, 1, nullptr, B, ldb);
  call.side = side, call.uplo = uplo, call.diag = diag;
  return call;
}

}  // namespace tessera::dropin::shapes
