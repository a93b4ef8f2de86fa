// SPDX-License-Identifier: BSD-3-Clause
// The CBLAS symbols of every routine of the table and every type: cblas_dgemm, and two names with 64-bit integers:
// OpenBLAS's cblas_dgemm64_ and the reference CBLAS's cblas_dgemm_64. gemmt has gemmtr as a second name.
#include <type_traits>

#include "blas/call.hpp"
#include "dispatch.hpp"
#include "entry.hpp"

namespace tessera::dropin {

namespace {

using Data = const void*;

/// The type of a scalar argument in CBLAS: complex scalars are passed by address.
template <Scalar T>
using Number = std::conditional_t<is_complex<T>, const void*, T>;
Data address(const float& x) { return &x; }
Data address(const double& x) { return &x; }
Data address(const void* const& x) { return x; }  // may be null if the call is empty

// Conversions of CBLAS's enumerators. All other values, including OpenBLAS's extensions, become illegal options.
constexpr auto illegal = '?';
template <typename Option>
Option option(int x);
template <>
Layout option(int x) {
  return Layout{x == 101 ? 'R' : x == 102 ? 'C' : illegal};
}
template <>
Op option(int x) {
  return Op{x == 111 ? 'N' : x == 112 ? 'T' : x == 113 ? 'C' : illegal};
}
template <>
Uplo option(int x) {
  return Uplo{x == 121 ? 'U' : x == 122 ? 'L' : illegal};
}
template <>
Diag option(int x) {
  return Diag{x == 131 ? 'N' : x == 132 ? 'U' : illegal};
}
template <>
Side option(int x) {
  return Side{x == 141 ? 'L' : x == 142 ? 'R' : illegal};
}

/// Computes a legal call, or refuses its operands.
/// @return  false if the call must go to the host with the program's own arguments
bool done(Layout layout, const Call& call, const Entry& entry) {
  if (layout != Layout::ColMajor && layout != Layout::RowMajor) return false;
  if (first_illegal(call, layout, blas::Rules::Blas).position != 0) return false;
  if (entry.done_on_gpu(call, layout)) return true;
  return dispatch(blas::ByColumns(call, layout).call());
}

}  // namespace

using namespace blas;

// The parameters after the layout, for alpha and beta of types Alpha and Beta and integers of type Int.
#define DECLARE_OPTION(Type, member, name, Alpha, Beta, Int) int name,
#define DECLARE_SIZE(name, Alpha, Beta, Int) Int name,
#define DECLARE_FACTOR(Kind, name, Alpha, Beta, Int) Number<FACTOR_##Kind(Alpha, Beta)> name,
#define DECLARE_INPUT(name, ld, Alpha, Beta, Int) Data name, Int ld,
#define DECLARE_OUTPUT(name, ld, Alpha, Beta, Int) void *name, Int ld

// The arguments as members of a Call.
#define MEMBER_OPTION(Type, member, name, ...) .member = option<Type>(name),
#define MEMBER_SIZE(name, ...) .name = name,
#define MEMBER_FACTOR(Kind, name, ...) .name = address(name),
#define MEMBER_INPUT(name, ld, ...) .name = name, .ld = ld,
#define MEMBER_OUTPUT(name, leading, ...) .C = name, .ldc = leading

#define DEFINE_SYMBOL(symbol, entry, code, Name, shape, Alpha, Beta, Int)                                        \
  void symbol(int order, SHAPE_##shape(DECLARE, Alpha, Beta, Int)) {                                             \
    static constinit Entry host entry;                                                                           \
    const Call call{.routine = Routine::Name, .type = code, SHAPE_##shape(MEMBER)};                              \
    if (!done(option<Layout>(order), call, host)) host(call, option<Layout>(order), order, SHAPE_##shape(PASS)); \
  }

#define ENTRY(interface, routine) (Interface::interface, #routine)
#define DEFINE(letter, T, shape, Name, name, Alpha, Beta)                                                            \
  DEFINE_SYMBOL(cblas_##letter##name, ENTRY(Cblas, letter##name), #letter[0], Name, shape, Alpha<T>, Beta<T>, int)   \
  DEFINE_SYMBOL(cblas_##letter##name##64_, ENTRY(Cblas64, letter##name), #letter[0], Name, shape, Alpha<T>, Beta<T>, \
                std::int64_t)                                                                                        \
  DEFINE_SYMBOL(cblas_##letter##name##_64, ENTRY(Cblas64, letter##name), #letter[0], Name, shape, Alpha<T>, Beta<T>, \
                std::int64_t)
#define ROUTINE(name, types, shape, Alpha, Beta) FOR_##types(DEFINE, shape, name, name, Alpha, Beta)

extern "C" {
#include "blas/routines.def"
FOR_SDCZ(DEFINE, triangle_product, gemmt, gemmtr, Full, Full)
}

}  // namespace tessera::dropin
