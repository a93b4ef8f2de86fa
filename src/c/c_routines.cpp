// SPDX-License-Identifier: BSD-3-Clause
// The routines on pointers in C, with CBLAS's argument lists, for every routine of routines.def and every type.
#include <tessera/blas.hpp>

#include "c_interface.hpp"

using namespace tessera::c;

namespace {

/// As in CBLAS, complex numbers are passed by address, and complex arrays are void pointers.
template <tessera::Scalar T>
using Number = std::conditional_t<tessera::is_complex<T>, const void*, T>;
template <tessera::Scalar T>
using Element = std::conditional_t<tessera::is_complex<T>, void, T>;

const void* address(const void* x) { return x; }
const void* address(const float& x) { return &x; }
const void* address(const double& x) { return &x; }

template <tessera::Scalar T, typename... Arguments>
tessera_status compute(const char* function, Arguments... arguments) {
  return status_of(function, [&] { call<T>(function, arguments...); });
}

}  // namespace

// One definition for each argument shape. `tessera::name<T>` is overloaded; the arguments select the pointer routine.

#define DEFINE_product(letter, T, name, Alpha, Beta)                                                                   \
  tessera_status tessera_##letter##name(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, \
                                        int64_t k, Number<Alpha<T>> alpha, const Element<T>* A, int64_t lda,           \
                                        const Element<T>* B, int64_t ldb, Number<Beta<T>> beta, Element<T>* C,         \
                                        int64_t ldc) {                                                                 \
    return compute<T>(                                                                                                 \
        "tessera_" #letter #name, [](auto... x) { tessera::name<T>(x...); }, Choice("layout", layout, layouts),        \
        Choice("op_a", op_a, ops), Choice("op_b", op_b, ops), m, n, k, Factor<Alpha>{"alpha", address(alpha)}, A, lda, \
        B, ldb, Factor<Beta>{"beta", address(beta)}, C, ldc);                                                          \
  }

#define DEFINE_triangle_product(letter, T, name, Alpha, Beta)                                                       \
  tessera_status tessera_##letter##name(tessera_layout layout, tessera_uplo uplo, tessera_op op_a, tessera_op op_b, \
                                        int64_t n, int64_t k, Number<Alpha<T>> alpha, const Element<T>* A,          \
                                        int64_t lda, const Element<T>* B, int64_t ldb, Number<Beta<T>> beta,        \
                                        Element<T>* C, int64_t ldc) {                                               \
    return compute<T>(                                                                                              \
        "tessera_" #letter #name, [](auto... x) { tessera::name<T>(x...); }, Choice("layout", layout, layouts),     \
        Choice("uplo", uplo, uplos), Choice("op_a", op_a, ops), Choice("op_b", op_b, ops), n, k,                    \
        Factor<Alpha>{"alpha", address(alpha)}, A, lda, B, ldb, Factor<Beta>{"beta", address(beta)}, C, ldc);       \
  }

#define DEFINE_symmetric(letter, T, name, Alpha, Beta)                                                             \
  tessera_status tessera_##letter##name(tessera_layout layout, tessera_side side, tessera_uplo uplo, int64_t m,    \
                                        int64_t n, Number<Alpha<T>> alpha, const Element<T>* A, int64_t lda,       \
                                        const Element<T>* B, int64_t ldb, Number<Beta<T>> beta, Element<T>* C,     \
                                        int64_t ldc) {                                                             \
    return compute<T>(                                                                                             \
        "tessera_" #letter #name, [](auto... x) { tessera::name<T>(x...); }, Choice("layout", layout, layouts),    \
        Choice("side", side, sides), Choice("uplo", uplo, uplos), m, n, Factor<Alpha>{"alpha", address(alpha)}, A, \
        lda, B, ldb, Factor<Beta>{"beta", address(beta)}, C, ldc);                                                 \
  }

#define DEFINE_rank_k(letter, T, name, Alpha, Beta)                                                                    \
  tessera_status tessera_##letter##name(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k, \
                                        Number<Alpha<T>> alpha, const Element<T>* A, int64_t lda,                      \
                                        Number<Beta<T>> beta, Element<T>* C, int64_t ldc) {                            \
    return compute<T>(                                                                                                 \
        "tessera_" #letter #name, [](auto... x) { tessera::name<T>(x...); }, Choice("layout", layout, layouts),        \
        Choice("uplo", uplo, uplos), Choice("op", op, ops), n, k, Factor<Alpha>{"alpha", address(alpha)}, A, lda,      \
        Factor<Beta>{"beta", address(beta)}, C, ldc);                                                                  \
  }

#define DEFINE_rank_2k(letter, T, name, Alpha, Beta)                                                                   \
  tessera_status tessera_##letter##name(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k, \
                                        Number<Alpha<T>> alpha, const Element<T>* A, int64_t lda, const Element<T>* B, \
                                        int64_t ldb, Number<Beta<T>> beta, Element<T>* C, int64_t ldc) {               \
    return compute<T>(                                                                                                 \
        "tessera_" #letter #name, [](auto... x) { tessera::name<T>(x...); }, Choice("layout", layout, layouts),        \
        Choice("uplo", uplo, uplos), Choice("op", op, ops), n, k, Factor<Alpha>{"alpha", address(alpha)}, A, lda, B,   \
        ldb, Factor<Beta>{"beta", address(beta)}, C, ldc);                                                             \
  }

#define DEFINE_triangular(letter, T, name, Alpha, Beta)                                                               \
  tessera_status tessera_##letter##name(tessera_layout layout, tessera_side side, tessera_uplo uplo, tessera_op op,   \
                                        tessera_diag diag, int64_t m, int64_t n, Number<Alpha<T>> alpha,              \
                                        const Element<T>* A, int64_t lda, Element<T>* B, int64_t ldb) {               \
    return compute<T>(                                                                                                \
        "tessera_" #letter #name, [](auto... x) { tessera::name<T>(x...); }, Choice("layout", layout, layouts),       \
        Choice("side", side, sides), Choice("uplo", uplo, uplos), Choice("op", op, ops), Choice("diag", diag, diags), \
        m, n, Factor<Alpha>{"alpha", address(alpha)}, A, lda, B, ldb);                                                \
  }

#define CZ(DEFINE, ...)                       \
  DEFINE(c, std::complex<float>, __VA_ARGS__) \
  DEFINE(z, std::complex<double>, __VA_ARGS__)
#define SDCZ(DEFINE, ...)        \
  DEFINE(s, float, __VA_ARGS__)  \
  DEFINE(d, double, __VA_ARGS__) \
  CZ(DEFINE, __VA_ARGS__)
#define ROUTINE(name, types, shape, alpha, beta) types(DEFINE_##shape, name, alpha, beta)

extern "C" {
#include "routines/routines.def"
}
