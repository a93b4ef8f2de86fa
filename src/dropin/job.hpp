// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <variant>

#include "blas/call.hpp"
#include "blas/lapack_call.hpp"

/// The properties of a BLAS or LAPACK call that the decision, the backup and the log need.
namespace tessera::dropin {

using blas::Call;
using blas::LapackCall;

/// The number of BLAS and LAPACK routines, which are numbered consecutively.
inline constexpr int all_routines = blas::routine_count + blas::lapack_routine_count;
/// All BLAS routines count as one kind, because their rates are similar. Each LAPACK routine is a separate kind.
inline constexpr int kind_count = 1 + blas::lapack_routine_count;

struct Job {
  std::variant<Call, LapackCall> call;
  int routine = 0;  ///< number of the routine among all_routines
  char type = 'd';
  double flops = 0;
  blas::Traffic traffic{};
  /// m, n, k, nrhs
  static constexpr const char* size_names[] = {"m", "n", "k", "nrhs"};
  static constexpr Index any = -1, absent = -2;
  std::array<Index, 4> sizes{absent, absent, absent, absent};
  std::array<blas::StoredOperand, 2> overwritten;  ///< read and overwritten; Use::None: no such operand
  Index element_size = 8;
  bool on_gpu = false;  ///< an operand is in memory of a GPU: the host cannot compute the call

  bool is_lapack() const { return routine >= blas::routine_count; }
  int kind() const { return is_lapack() ? 1 + routine - blas::routine_count : 0; }
  /// Without the type letter: "gemm".
  const char* name() const;
  /// The number of bytes to copy before the devices may overwrite them.
  double backup_bytes() const;
};

Job job_of(const Call& call, double flops);
Job job_of(const LapackCall& call, double flops);

}  // namespace tessera::dropin
