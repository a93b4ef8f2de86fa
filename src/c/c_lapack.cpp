// SPDX-License-Identifier: BSD-3-Clause
// Factorizations, solves and inverses on pointers in C, for every type: the routines of lapack.def, and those that
// LAPACK does not have or the drop-in leaves to the host.
#include <tessera/lapack.hpp>

#include "blas/lapack_arguments.hpp"
#include "c_interface.hpp"

using namespace tessera;
using namespace tessera::c;

namespace {

template <Scalar T, typename Routine, typename... Arguments>
tessera_status solve(const char* function, Routine routine, Arguments... arguments) {
  return status_of(function, [&] { call<T>(function, routine, arguments...); });
}
/// Calls a routine that returns an info, and stores it. `info` is the last argument of the C function.
template <Scalar T, typename Routine, typename... Arguments>
tessera_status solve(const char* function, int64_t* info, Routine routine, Arguments... arguments) {
  const auto routine_with_info = [&](auto... x) {
    require_pointer(function, sizeof...(x) + 1, "info", info);
    *info = routine(x...);
  };
  return solve<T>(function, routine_with_info, arguments...);
}

// LAPACK's names for real matrices.
void ormqr(auto... x) { unmqr(x...); }
void orgqr(auto... x) { ungqr(x...); }

}  // namespace

// The parameters after the layout, for elements of type T. `matrix` and `pivots` say how the routine uses A and ipiv.
#define DECLARE_OPTION(Type, name, ...) , C##Type name
#define DECLARE_SIZE(name, ...) , int64_t name
#define DECLARE_MATRIX(name, ld, T, list, matrix, pivots) , CONST_##name(matrix) Element<T>*name, int64_t ld
#define DECLARE_PIVOTS(T, list, matrix, pivots) , CONST_A(pivots) int64_t* ipiv
#define DECLARE_TAU(T, list, ...) , TAU_##list Element<T>* tau
#define DECLARE_WORK(...)
#define CONST_A(use) CONST_##use
#define CONST_B(use)
#define CONST_Read const
#define CONST_Overwritten
#define TAU_reflectors
#define TAU_unitary_product const
#define TAU_unitary_factor const
#define DECLARE_Info , int64_t* info
#define DECLARE_None

// The arguments in the form that `call` converts.
#define GIVE_OPTION(Type, name, ...) , choice(#name, name)
#define GIVE_SIZE(name, ...) , name
#define GIVE_MATRIX(name, ld, ...) , name, ld
#define GIVE_PIVOTS(...) , ipiv
#define GIVE_TAU(...) , tau
#define GIVE_WORK(...)
#define GIVE_Info info,
#define GIVE_None

#define DEFINE(letter, T, name, list, matrix, pivots, info)                                                   \
  tessera_status tessera_##letter##name(tessera_layout layout LAPACK_##list(DECLARE, T, list, matrix, pivots) \
                                            DECLARE_##info) {                                                 \
    return solve<T>(                                                                                          \
        "tessera_" #letter #name, GIVE_##info[](auto... x) { return name(x...); },                            \
        choice("layout", layout) LAPACK_##list(GIVE, ));                                                      \
  }
#define LAPACK(name, list, matrix, pivots, info, types) FOR_##types(DEFINE, name, list, matrix, pivots, info)

#define DEFINE_OTHERS(letter, T, ...)                                                                                  \
  tessera_status tessera_##letter##getrf_nopiv(tessera_layout layout, int64_t m, int64_t n, Element<T>* A,             \
                                               int64_t lda, double* growth, int64_t* info) {                           \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "getrf_nopiv", info, [](auto... x) { return getrf_nopiv(x...); }, choice("layout", layout), \
        m, n, A, lda, growth);                                                                                         \
  }                                                                                                                    \
  tessera_status tessera_##letter##getrs_nopiv(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs,          \
                                               const Element<T>* A, int64_t lda, Element<T>* B, int64_t ldb) {         \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "getrs_nopiv", [](auto... x) { return getrs_nopiv(x...); }, choice("layout", layout),       \
        choice("op", op), n, nrhs, A, lda, B, ldb);                                                                    \
  }                                                                                                                    \
  tessera_status tessera_##letter##gesv_nopiv(tessera_layout layout, int64_t n, int64_t nrhs, Element<T>* A,           \
                                              int64_t lda, Element<T>* B, int64_t ldb, double* growth,                 \
                                              int64_t* info) {                                                         \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "gesv_nopiv", info, [](auto... x) { return gesv_nopiv(x...); }, choice("layout", layout),   \
        n, nrhs, A, lda, B, ldb, growth);                                                                              \
  }                                                                                                                    \
  tessera_status tessera_##letter##laswp(tessera_layout layout, int64_t n, Element<T>* A, int64_t lda, int64_t k1,     \
                                         int64_t k2, const int64_t* ipiv, int64_t incx) {                              \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "laswp", [](auto... x) { return laswp(x...); }, choice("layout", layout), n, A, lda, k1,    \
        k2, ipiv, incx);                                                                                               \
  }

extern "C" {
#include "blas/lapack.def"
FOR_SDCZ(DEFINE_OTHERS, )
}
