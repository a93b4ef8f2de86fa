// SPDX-License-Identifier: BSD-3-Clause
#include "job.hpp"

namespace tessera::dropin {

using blas::Member;
using blas::Use;

const char* Job::name() const {
  return is_lapack() ? blas::lapack_routines[routine - blas::routine_count].name : blas::routines[routine].name;
}

double Job::backup_bytes() const {
  double elements = 0;
  for (const auto& operand : overwritten)
    if (operand.use != Use::None) elements += operand.elements();
  return elements * static_cast<double>(element_size);
}

Job job_of(const Call& c, double flops) {
  Job job{.call = c,
          .routine = static_cast<int>(c.routine),
          .type = c.type,
          .flops = flops,
          .traffic = traffic(c),
          .sizes = {has(c.shape(), Member::m) ? c.m : Job::absent, c.n, has(c.shape(), Member::k) ? c.k : Job::absent,
                    Job::absent},
          .overwritten = {},
          .element_size = c.element_size()};
  if (reads_result(c)) job.overwritten[0] = {c.C, c.rows(), c.n, c.ldc, {}, Use::Overwritten};
  if (c.has_triangle()) job.overwritten[0].triangle = c.uplo;
  return job;
}

Job job_of(const LapackCall& c, double flops) {
  Job job{.call = c,
          .routine = blas::routine_count + static_cast<int>(c.routine),
          .type = c.type,
          .flops = flops,
          .traffic = traffic(c),
          .sizes = {c.m > 0 ? c.m : Job::absent, c.n, c.k > 0 ? c.k : Job::absent, c.nrhs > 0 ? c.nrhs : Job::absent},
          .overwritten = operands(c),
          .element_size = c.element_size()};
  for (auto& operand : job.overwritten)
    if (operand.use != Use::Overwritten) operand = {};
  return job;
}

}  // namespace tessera::dropin
