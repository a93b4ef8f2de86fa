// SPDX-License-Identifier: BSD-3-Clause
// The Fortran symbols of every routine of the table and every type: dgemm_, dgemm for compilers that add no underscore,
// and dgemm_64_ with 64-bit integers. gemmt has a second name, gemmtr, as in the reference BLAS.
#include <cstdint>

#include "blas/call.hpp"
#include "dispatch.hpp"
#include "entry.hpp"
#include "option.hpp"

namespace tessera::dropin {

namespace {

using Letter = const char*;
using Data = const void*;

/// Computes a legal call, or refuses its operands.
/// @return  false if the call must go to the host with the program's own arguments
bool done(const Call& call, const Entry& entry) {
  return first_illegal(call, Layout::ColMajor, blas::Rules::Blas).position == 0 &&
         (entry.done_on_gpu(call, Layout::ColMajor) || dispatch(call));
}

}  // namespace

// The parameters of a function with integers of type Int.
#define DECLARE_OPTION(Type, member, name, Int) Letter name,
#define DECLARE_SIZE(name, Int) const Int *name,
#define DECLARE_FACTOR(Kind, name, Int) Data name,
#define DECLARE_INPUT(name, ld, Int) Data name, const Int *ld,
#define DECLARE_OUTPUT(name, ld, Int) void *name, const Int *ld

// The arguments as members of a Call.
#define MEMBER_OPTION(Type, member, name, ...) .member = option<Type>(name),
#define MEMBER_SIZE(name, ...) .name = *name,
#define MEMBER_FACTOR(Kind, name, ...) .name = name,
#define MEMBER_INPUT(name, ld, ...) .name = name, .ld = *ld,
#define MEMBER_OUTPUT(name, leading, ...) .C = name, .ldc = *leading

#define DEFINE_SYMBOL(symbol, entry, code, Name, shape, Int)                              \
  void symbol(SHAPE_##shape(DECLARE, Int)) {                                              \
    static constinit Entry host entry;                                                    \
    const Call call{.routine = blas::Routine::Name, .type = code, SHAPE_##shape(MEMBER)}; \
    if (!done(call, host)) host(call, Layout::ColMajor, SHAPE_##shape(PASS));             \
  }

#define ENTRY(interface, routine) (Interface::interface, #routine)
#define DEFINE(letter, T, shape, Name, name)                                                   \
  DEFINE_SYMBOL(letter##name##_, ENTRY(Fortran, letter##name), #letter[0], Name, shape, int)   \
  DEFINE_SYMBOL(letter##name, ENTRY(FortranPlain, letter##name), #letter[0], Name, shape, int) \
  DEFINE_SYMBOL(letter##name##_64_, ENTRY(Fortran64, letter##name), #letter[0], Name, shape, std::int64_t)
#define ROUTINE(name, types, shape, alpha, beta) FOR_##types(DEFINE, shape, name, name)

extern "C" {
#include "blas/routines.def"
FOR_SDCZ(DEFINE, triangle_product, gemmt, gemmtr)
}

}  // namespace tessera::dropin
