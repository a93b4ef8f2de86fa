// SPDX-License-Identifier: BSD-3-Clause
// trtrs: a triangular system on pointers, solved by trsm after a check that a solution exists.
#include <algorithm>
#include <tessera/lapack.hpp>

#include "blas/call.hpp"
#include "blas/shapes.hpp"
#include "compute.hpp"
#include "lapack_on_pointers.hpp"
#include "on_host.hpp"
#include "plan/plans.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera {

namespace routines {

namespace {

template <Scalar T>
Index trtrs_on_pointers(const Layout* given, Uplo uplo, Op op, Diag diag, Index n, Index nrhs, const T* A, Index lda,
                        T* B, Index ldb) {
  require_legal("trtrs", LAPACK_CALL(trtrs, triangular_system), given);
  if (const Index zero = diag == Diag::NonUnit ? first_zero(n, A, lda) : 0; zero != 0) return zero;
  if (n == 0 || nrhs == 0) return 0;
  const auto session = runtime::session_to_wait("trtrs");
  const T alpha(1);
  const blas::ByColumns solve({.routine = blas::Routine::trsm,
                               .type = type_letter<T>,
                               .uplo = uplo,
                               .op_a = op,
                               .diag = diag,
                               .m = n,
                               .n = nrhs,
                               .alpha = &alpha,
                               .A = A,
                               .lda = lda,
                               .C = B,
                               .ldc = ldb},
                              layout_of(given));
  const auto& call = solve.call();
  const auto& machine = machine_for(*session, memories_of(call));
  compute_triangular<T>(session, plan_call(machine, call), call);
  return 0;
}

}  // namespace

}  // namespace routines

DEFINE_ON_POINTERS(Index, trtrs, (Scalar T),
                   (Uplo uplo, Op op, Diag diag, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb),
                   trtrs_on_pointers, (uplo, op, diag, n, nrhs, A, lda, B, ldb))

#define INSTANTIATE_TRTRS(letter, T, ...) \
  INSTANTIATE_ON_POINTERS(Index, trtrs<T>, Uplo, Op, Diag, Index, Index, const T*, Index, T*, Index)
FOR_SDCZ(INSTANTIATE_TRTRS, )

}  // namespace tessera
