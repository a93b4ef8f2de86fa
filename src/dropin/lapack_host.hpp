// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "blas/lapack_call.hpp"
#include "host.hpp"
#include "known_symbol.hpp"

/// The LAPACK that computes the calls that stay on the host: the one that the program would have used.
namespace tessera::dropin {

using blas::LapackCall;

/// Looks for a symbol after the drop-in in the program's libraries, or else in liblapack.so.3 (LAPACKE_…:
/// liblapacke.so.3), or else in the host BLAS. Null if no library has it. Functions of the drop-in itself, or of a copy
/// of it, are skipped.
void* find_lapack(const HostBlas& blas, const char* symbol);

/// The call that queries the best size of the workspace, in columns.
LapackCall query_of(const LapackCall& call);

class HostLapack {
 public:
  explicit HostLapack(const HostBlas& blas) : blas_(blas) {}

  /// Computes a legal call. Row-major matrices that are not triangles are copied. If there are only functions with
  /// 32-bit integers, 64-bit pivots are copied.
  /// @param info  receives the routine's info
  /// @return  false if there is no such function, or no memory for a copy; nothing was done
  bool operator()(const LapackCall& call, Index& info);

  /// Passes a column-major call of any kind, legal or not, to the host's LAPACK with the program's arguments unchanged,
  /// and lets it decide whether the call is legal. The program's xerbla may throw, or longjmp, through `pass_on`.
  /// @return  false if there is no function with integers of this width
  bool pass_on(const LapackCall& call, void* info);

  /// Whether there is a function for the call, with integers of any width.
  bool has(const LapackCall& call);

  /// Stores the best size of the workspace in `work`, as LAPACK does.
  void set_best_work(const LapackCall& call);

 private:
  void* function(const LapackCall& call, bool wide);
  bool compute_by_columns(const LapackCall& call, Index& info);
  bool compute_narrow(void* function, const LapackCall& call, Index& info);

  const HostBlas& blas_;
  KnownSymbol functions_[blas::lapack_routine_count][4][2];  ///< by routine, type, and width of integers
};

}  // namespace tessera::dropin
