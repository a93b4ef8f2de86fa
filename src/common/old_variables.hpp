// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "environment.hpp"

namespace tessera::common {

/// An environment variable of an earlier version. Tessera refuses it, because ignoring it would silently change the
/// meaning of a run.
struct OldVariable {
  std::string_view name, now;
  std::string problem() const { return "is no longer read: use " + std::string(now); }
};
// packaging/common.sh reads these lines, too.
constexpr OldVariable old_variables[] = {
    {"TESSERA_SCHED_SLOTS", "TESSERA_SCHED=slots=N"},
    {"TESSERA_SCHED_WINDOW", "TESSERA_SCHED=window=N"},
    {"TESSERA_SCHED_LOCALITY", "TESSERA_SCHED=-locality"},
    {"TESSERA_SCHED_CHAINS", "TESSERA_SCHED=-chains"},
    {"TESSERA_SCHED_PREFETCH", "TESSERA_SCHED=-prefetch"},
    {"TESSERA_SCHED_LOOKAHEAD", "TESSERA_SCHED=lookahead=N"},
    {"TESSERA_SCHED_RESULTS", "TESSERA_SCHED=results=N"},
    {"TESSERA_SCHED_WAIT", "TESSERA_SCHED=-wait"},
    {"TESSERA_SCHED_STEAL", "TESSERA_SCHED=-steal"},
    {"TESSERA_SCHED_DECLINE", "TESSERA_SCHED=-decline"},
    {"TESSERA_SCHED_WRITE_BACK", "TESSERA_SCHED=-write-back"},
    {"TESSERA_GPUS", "TESSERA_DEVICES=N"},
    {"TESSERA_CUDA_GPUS", "TESSERA_DEVICES=cuda=N"},
    {"TESSERA_OPENCL", "TESSERA_DEVICES=opencl=N"},
    {"TESSERA_BLAS_DEVICES", "TESSERA_DEVICES"},
    {"TESSERA_SIMULATE", "the argument --simulate PROGRAM"},
    {"TESSERA_SIMULATE_MPI", "the argument --simulate PROGRAM"},
    {"TESSERA_GRAPHS", "the argument --graphs PROGRAM"},
    {"TESSERA_BENCH", "the argument --bench PROGRAM"},
    {"TESSERA_SIMULATION_RESULT", "tessera-simulate --program"},
    {"TESSERA_SIMULATION_TYPE", "tessera-simulate --type"},
};

/// The first old variable that is set and whose name starts with `prefix`; null if there is none.
inline const OldVariable* old_variable_in_use(std::string_view prefix) {
  for (const auto& old : old_variables)
    if (old.name.starts_with(prefix) && !environment(old.name.data()).empty()) return &old;
  return nullptr;
}

}  // namespace tessera::common
