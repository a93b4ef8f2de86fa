// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "blas/call.hpp"
#include "blas/lapack_call.hpp"

/// What the decision, the backup and the log must know of a call, whether it is one of the BLAS or one of LAPACK.
namespace tessera::dropin {

using blas::Call;
using blas::LapackCall;

/// The routines of the BLAS and of LAPACK, numbered one after the other.
inline constexpr int all_routines = blas::routine_count + blas::lapack_routine_count;
/// All routines of the BLAS count as one kind, since their rates are similar. Each routine of LAPACK is its own kind.
inline constexpr int kind_count = 1 + blas::lapack_routine_count;

struct Job {
  int routine = 0;  ///< its number among all_routines
  char type = 'd';
  double flops = 0;
  blas::Traffic traffic{};
  /// m, n, k, nrhs
  static constexpr const char* size_names[] = {"m", "n", "k", "nrhs"};
  static constexpr Index any = -1, absent = -2;
  std::array<Index, 4> sizes{absent, absent, absent, absent};
  std::array<const void*, 3> operands{};           ///< null: there is no such operand
  std::array<blas::StoredOperand, 2> overwritten;  ///< those that are also read; Use::None: there is no such operand
  Index element_size = 8;
  bool on_gpu = false;  ///< an operand is in memory of a GPU: the host cannot compute the call

  bool is_lapack() const { return routine >= blas::routine_count; }
  int kind() const { return is_lapack() ? 1 + routine - blas::routine_count : 0; }
  /// Without the letter of the type: "gemm".
  const char* name() const;
  /// The bytes that must be copied before the devices may overwrite them.
  double backup_bytes() const;
};

Job job_of(const Call& call, double flops);
Job job_of(const LapackCall& call, double flops);

}  // namespace tessera::dropin
