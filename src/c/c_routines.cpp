// SPDX-License-Identifier: BSD-3-Clause
// The routines on pointers in C, with CBLAS's argument lists, for every routine of routines.def and every type.
#include <tessera/blas.hpp>

#include "c_interface.hpp"

using namespace tessera::c;

namespace {

/// As in CBLAS, complex numbers are passed by address.
template <tessera::Scalar T>
using Number = std::conditional_t<tessera::is_complex<T>, const void*, T>;

const void* address(const void* x) { return x; }
const void* address(const float& x) { return &x; }
const void* address(const double& x) { return &x; }

template <tessera::Scalar T, typename... Arguments>
tessera_status compute(const char* function, Arguments... arguments) {
  return status_of(function, [&] { call<T>(function, arguments...); });
}

}  // namespace

// The parameters after the layout. Elements have type T, alpha has type Alpha, and beta has type Beta.
#define DECLARE_OPTION(Type, member, name, T, Alpha, Beta) C##Type name,
#define DECLARE_SIZE(name, T, Alpha, Beta) int64_t name,
#define DECLARE_FACTOR(Kind, name, T, Alpha, Beta) Number<FACTOR_##Kind(Alpha<T>, Beta<T>)> name,
#define DECLARE_INPUT(name, ld, T, Alpha, Beta) const Element<T>*name, int64_t ld,
#define DECLARE_OUTPUT(name, ld, T, Alpha, Beta) Element<T>*name, int64_t ld

// The arguments in the form that `call` converts.
#define GIVE_OPTION(Type, member, name, Alpha, Beta) choice(#name, name),
#define GIVE_SIZE(name, Alpha, Beta) name,
#define GIVE_FACTOR(Kind, name, Alpha, Beta) Factor<FACTOR_##Kind(Alpha, Beta)>{#name, address(name)},
#define GIVE_INPUT(name, ld, Alpha, Beta) name, ld,
#define GIVE_OUTPUT(name, ld, Alpha, Beta) name, ld

// `tessera::name<T>` is overloaded; these arguments select the overload for pointers.
#define DEFINE(letter, T, name, shape, Alpha, Beta)                                                      \
  tessera_status tessera_##letter##name(tessera_layout layout, SHAPE_##shape(DECLARE, T, Alpha, Beta)) { \
    return compute<T>(                                                                                   \
        "tessera_" #letter #name, [](auto... x) { tessera::name<T>(x...); }, choice("layout", layout),   \
        SHAPE_##shape(GIVE, Alpha, Beta));                                                               \
  }
#define ROUTINE(name, types, shape, alpha, beta) FOR_##types(DEFINE, name, shape, alpha, beta)

extern "C" {
#include "blas/routines.def"
}
