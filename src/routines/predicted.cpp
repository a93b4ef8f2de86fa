// SPDX-License-Identifier: BSD-3-Clause
#include "predicted.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "compute.hpp"
#include "machine/machine.hpp"
#include "plan/plans.hpp"

namespace tessera::routines {

namespace {

using blas::LapackCall, blas::LapackRoutine;

/// The nearest of eight sizes for each power of two.
Index near(Index size) {
  const auto step = std::max<Index>(1, static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(size)) / 8));
  return (size + step / 2) / step * step;
}

/// The part of a call that is planned: a Cholesky, LU or QR factorization, or solves with one triangle.
LapackCall planned_part(const LapackCall& c) {
  LapackCall part{.routine = LapackRoutine::geqrf, .type = c.type, .m = near(c.rows()), .n = near(c.columns())};
  switch (c.routine) {
    using enum LapackRoutine;
  case potrf:
  case potri:
  case lauum:
  case trtri:
  case posv: part.routine = potrf; break;
  case trtrs:
  case potrs:
  case getrs: part.routine = trtrs, part.nrhs = near(c.nrhs); break;
  case getrf:
  case getri:
  case gesv: part.routine = getrf; break;
  case geqrf:
  case ormqr:
  case unmqr:
  case orgqr:
  case ungqr:
  case gels: break;
  }
  return part;
}

algorithms::Plan plan_part(const machine::Machine& machine, const LapackCall& call, const LapackCall& part) {
  switch (part.routine) {
  case LapackRoutine::potrf:
    return plan::plan_cholesky(machine, part.type, part.n, call.routine != part.routine,
                               plan::are_far_apart(part.type, part.n, near(call.lda)));
  case LapackRoutine::trtrs: return plan::plan_solves(machine, part.type, Side::Left, part.n, part.nrhs);
  case LapackRoutine::getrf: return plan::plan_getrf(machine, part.type, part.m, part.n);
  default: return plan::plan_geqrf(machine, part.type, part.m, part.n);
  }
}

}  // namespace

double predicted_seconds(const machine::Machine& machine, const blas::Call& call) {
  auto similar = call;
  for (auto* const size : {&similar.m, &similar.n, &similar.k, &similar.lda, &similar.ldb, &similar.ldc})
    *size = near(*size);
  const double flops = blas::flops(similar);
  return flops > 0 ? plan_call(machine, similar).seconds * blas::flops(call) / flops : 0;
}

double predicted_seconds(const machine::Machine& machine, const LapackCall& call) {
  const auto part = planned_part(call);
  const double flops = blas::flops(part);
  return flops > 0 ? plan_part(machine, call, part).seconds * blas::flops(call) / flops : 0;
}

}  // namespace tessera::routines
