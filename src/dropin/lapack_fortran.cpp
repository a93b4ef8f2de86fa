// SPDX-License-Identifier: BSD-3-Clause
// The Fortran symbols of every routine of lapack.def and every type: dgetrf_, and two names with 64-bit integers:
// dgetrf_64_ and dgetrf64_.
#include <cstdint>

#include "blas/lapack_call.hpp"
#include "blas/shapes.hpp"
#include "device_operands.hpp"
#include "dispatch.hpp"
#include "guest.hpp"
#include "option.hpp"
#include "xerbla.hpp"

namespace tessera::dropin {

namespace {

using blas::LapackRoutine;

/// Handles a call that no LAPACK accepts: reports the illegal argument through `xerbla_`. Aborts the program if there
/// is no LAPACK.
template <typename Int>
void refuse(const LapackCall& call, const char* routine, Int* info) {
  auto& guest = Guest::of_process();
  if (!guest.lapack().has(call)) guest.abort_without_host("LAPACK");
  int position = first_illegal(call).position;
  if (position == 0)  // legal, but too large for the host's 32-bit integers
    position = position_of(call, call.ldb > blas::arguments::largest_int ? "ldb" : "lda");
  *info = -static_cast<Int>(position);
  report_illegal(routine, call.wide, position);
}

/// Handles a call of the program. Legal calls that compute something are dispatched. All others reach the host's LAPACK
/// unchanged, and behave as without the drop-in. The program's xerbla may leave by longjmp, so no frame on that path
/// has objects to destroy.
template <typename Int>
void make(const LapackCall& call, const char* routine, Int* info) {
  if (is_legal(call) && flops(call) > 0) {
    Index result = 0;
    if (done_on_gpu(call, info, result)) {
      if (is_on_host(info)) *info = static_cast<Int>(result);
      return;
    }
    if (dispatch(call, result)) {
      *info = static_cast<Int>(result);
      return;
    }
  } else if (Guest::of_process().lapack().pass_on(call, info)) {
    return;
  } else if (first_illegal(call).position == 0 && fits(call)) {  // 64-bit integers, but the host has no such functions
    Index result = 0;
    if (Guest::of_process().lapack()(call, result)) {
      *info = static_cast<Int>(result);
      return;
    }
  }
  refuse(call, routine, info);
}

}  // namespace

// The parameters of a function with integers of type Int.
#define DECLARE_OPTION(Type, name, Int) const char *name,
#define DECLARE_SIZE(name, Int) const Int *name,
#define DECLARE_MATRIX(name, ld, Int) void *name, const Int *ld,
#define DECLARE_PIVOTS(Int) Int *ipiv,
#define DECLARE_TAU(Int) void *tau,
#define DECLARE_WORK(Int) void *work, const Int *lwork,

// The arguments as members of a LapackCall.
#define MEMBER_OPTION(Type, name, ...) .name = option<Type>(name),
#define MEMBER_SIZE(name, ...) .name = *name,
#define MEMBER_MATRIX(name, ld, ...) .name = name, .ld = *ld,
#define MEMBER_PIVOTS(...) .ipiv = ipiv,
#define MEMBER_TAU(...) .tau = tau,
#define MEMBER_WORK(...) .work = work, .lwork = *lwork,

#define DEFINE_SYMBOL(symbol, routine_name, code, Name, list, Int)                                                    \
  void symbol(LAPACK_##list(DECLARE, Int) Int* info) {                                                                \
    make(LapackCall{.routine = LapackRoutine::Name, .type = code, .wide = sizeof(Int) == 8, LAPACK_##list(MEMBER, )}, \
         #routine_name, info);                                                                                        \
  }

#define DEFINE(letter, T, list, Name, name)                                             \
  DEFINE_SYMBOL(letter##name##_, letter##name, #letter[0], Name, list, int)             \
  DEFINE_SYMBOL(letter##name##_64_, letter##name, #letter[0], Name, list, std::int64_t) \
  DEFINE_SYMBOL(letter##name##64_, letter##name, #letter[0], Name, list, std::int64_t)
#define LAPACK(name, list, matrix, pivots, info, types) FOR_##types(DEFINE, list, name, name)

extern "C" {
#include "blas/lapack.def"
}

}  // namespace tessera::dropin
