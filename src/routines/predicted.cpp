// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cstdint>

#include "compute.hpp"
#include "plan/plans.hpp"

namespace tessera::routines {

namespace {

using blas::LapackCall, blas::LapackRoutine, blas::Use;

/// The nearest of eight sizes for each power of two.
Index near(Index size) {
  const auto step = std::max<Index>(1, static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(size)) / 8));
  return (size + step / 2) / step * step;
}

/// The routine whose plan a call uses: a factorization, or solves with one triangle.
LapackRoutine planned_routine(const blas::LapackProperties& of) {
  if (of.has_triangle() && of.matrix == Use::Overwritten) return LapackRoutine::potrf;
  if (of.matrix == Use::Read && !of.reads_factors()) return LapackRoutine::trtrs;
  return of.pivots != Use::None ? LapackRoutine::getrf : LapackRoutine::geqrf;
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
  const auto planned = planned_routine(call.properties());
  const char type = call.type;
  const Index m = near(call.rows()), n = near(call.columns()), nrhs = near(call.nrhs);
  const double flops = blas::flops(LapackCall{.routine = planned, .type = type, .m = m, .n = n, .nrhs = nrhs});
  if (flops == 0) return 0;
  const auto plan = planned == LapackRoutine::trtrs   ? plan::plan_solves(machine, type, Side::Left, n, nrhs)
                    : planned == LapackRoutine::getrf ? plan::plan_getrf(machine, type, m, n)
                    : planned == LapackRoutine::geqrf
                        ? plan::plan_geqrf(machine, type, call.routine == LapackRoutine::gels ? std::max(m, n) : m,
                                           call.routine == LapackRoutine::gels ? std::min(m, n) : n)
                        : plan::plan_cholesky(machine, type, n, call.routine != planned,
                                              plan::are_far_apart(type, n, near(call.lda)));
  return plan.seconds * blas::flops(call) / flops;
}

}  // namespace tessera::routines
