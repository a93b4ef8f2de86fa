// SPDX-License-Identifier: BSD-3-Clause
#include "lapack_engine.hpp"

#include <cstdint>

#include <tessera/lapack.hpp>

#include "common/of_type.hpp"

namespace tessera::dropin {

namespace {

using blas::LapackCall, blas::LapackRoutine;

/// @param ipiv  null if the routine has no pivots
template <Scalar T, typename Int>
Index compute_typed(const LapackCall& c, Int* ipiv) {
  auto* const A = static_cast<T*>(c.A);
  auto* const B = static_cast<T*>(c.B);
  auto* const tau = static_cast<T*>(c.tau);
  switch (c.routine) {
  case LapackRoutine::potrf: return potrf(c.layout, c.uplo, c.n, A, c.lda);
  case LapackRoutine::potri: return potri(c.layout, c.uplo, c.n, A, c.lda);
  case LapackRoutine::lauum: return lauum(c.layout, c.uplo, c.n, A, c.lda), 0;
  case LapackRoutine::trtri: return trtri(c.layout, c.uplo, c.diag, c.n, A, c.lda);
  case LapackRoutine::trtrs: return trtrs<T>(c.layout, c.uplo, c.op, c.diag, c.n, c.nrhs, A, c.lda, B, c.ldb);
  case LapackRoutine::potrs: return potrs<T>(c.layout, c.uplo, c.n, c.nrhs, A, c.lda, B, c.ldb), 0;
  case LapackRoutine::posv: return posv(c.layout, c.uplo, c.n, c.nrhs, A, c.lda, B, c.ldb);
  case LapackRoutine::getrf: return getrf(c.layout, c.m, c.n, A, c.lda, ipiv);
  case LapackRoutine::getri: return getri<T, Int>(c.layout, c.n, A, c.lda, ipiv);
  case LapackRoutine::getrs: return getrs<T, Int>(c.layout, c.op, c.n, c.nrhs, A, c.lda, ipiv, B, c.ldb), 0;
  case LapackRoutine::gesv: return gesv(c.layout, c.n, c.nrhs, A, c.lda, ipiv, B, c.ldb);
  case LapackRoutine::geqrf: return geqrf(c.layout, c.m, c.n, A, c.lda, tau), 0;
  case LapackRoutine::ormqr:
  case LapackRoutine::unmqr: return unmqr<T>(c.layout, c.side, c.op, c.m, c.n, c.k, A, c.lda, tau, B, c.ldb), 0;
  case LapackRoutine::orgqr:
  case LapackRoutine::ungqr: return ungqr<T>(c.layout, c.m, c.n, c.k, A, c.lda, tau), 0;
  case LapackRoutine::gels: return gels(c.layout, c.op, c.m, c.n, c.nrhs, A, c.lda, B, c.ldb);
  }
  return 0;
}

}  // namespace

Index compute(const LapackCall& call) {
  return with_type(call.type, [&]<Scalar T>(T) {
    if (call.wide) return compute_typed<T>(call, static_cast<std::int64_t*>(call.ipiv));
    return compute_typed<T>(call, static_cast<std::int32_t*>(call.ipiv));
  });
}

}  // namespace tessera::dropin
