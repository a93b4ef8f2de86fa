// SPDX-License-Identifier: BSD-3-Clause
// The CBLAS symbols: cblas_dgemm, and with 64-bit integers cblas_dgemm64_ as OpenBLAS and cblas_dgemm_64 as the
// reference call it, for every routine of the table and every type; gemmt also as gemmtr.
#include <complex>
#include <type_traits>

#include "dispatch.hpp"
#include "report.hpp"
#include "shapes.hpp"

namespace tessera::dropin {

namespace {

using shapes::Data;

/// As in CBLAS, complex numbers go by address.
template <Scalar T>
using Number = std::conditional_t<is_complex<T>, const void*, T>;
template <Scalar T>
using Full = T;

float value_of(float x, float /*type*/) { return x; }
double value_of(double x, double /*type*/) { return x; }
template <ComplexScalar T>
T value_of(const void* x, T /*type*/) {
  return *static_cast<const T*>(x);
}

// The values of CBLAS. What is none of them stays illegal.
constexpr int row_major = 101, column_major = 102;
constexpr auto illegal = '?';
Op op(int x) {
  return Op{x == 111 ? 'N' : x == 112 ? 'T' : x == 113 ? 'C' : x == 114 ? static_cast<char>(conj_no_trans) : illegal};
}
Uplo uplo(int x) { return Uplo{x == 121 ? 'U' : x == 122 ? 'L' : illegal}; }
Diag diag(int x) { return Diag{x == 131 ? 'N' : x == 132 ? 'U' : illegal}; }
Side side(int x) { return Side{x == 141 ? 'L' : x == 142 ? 'R' : illegal}; }

void submit(const char* symbol, int layout, const Call& call) {
  if (layout != row_major && layout != column_major) return report_illegal_cblas(symbol, 1);
  const bool by_rows = layout == row_major;
  if (is_for_openblas(call)) return pass_to_host(by_rows ? by_columns(call) : call);
  if (const int position = first_illegal(call, by_rows); position != 0)
    return report_illegal_cblas(symbol, position + 1);
  dispatch(by_rows ? by_columns(call) : call);
}

/// By columns, a row-major her2k is one with the conjugate of alpha.
template <Scalar T>
T factor(Routine routine, int layout, T alpha) {
  if constexpr (is_complex<T>)
    if (routine == Routine::her2k && layout == row_major) return std::conj(alpha);
  return alpha;
}

}  // namespace

}  // namespace tessera::dropin

using namespace tessera::dropin;
using tessera::Real;

// One function for each argument shape. `code` is the letter of the type.

#define DEFINE_product(symbol, code, T, Name, Alpha, Beta, Int)                                                     \
  void symbol(int layout, int op_a, int op_b, Int m, Int n, Int k, Number<Alpha<T>> alpha, Data A, Int lda, Data B, \
              Int ldb, Number<Beta<T>> beta, void* C, Int ldc) {                                                    \
    const auto a = value_of(alpha, Alpha<T>{});                                                                     \
    const auto b = value_of(beta, Beta<T>{});                                                                       \
    submit(#symbol, layout,                                                                                         \
           shapes::product(Routine::Name, code, op(op_a), op(op_b), m, n, k, &a, A, lda, B, ldb, &b, C, ldc));      \
  }

#define DEFINE_triangle_product(symbol, code, T, Name, Alpha, Beta, Int)                                               \
  void symbol(int layout, int triangle, int op_a, int op_b, Int n, Int k, Number<Alpha<T>> alpha, Data A, Int lda,     \
              Data B, Int ldb, Number<Beta<T>> beta, void* C, Int ldc) {                                               \
    const auto a = value_of(alpha, Alpha<T>{});                                                                        \
    const auto b = value_of(beta, Beta<T>{});                                                                          \
    submit(#symbol, layout,                                                                                            \
           shapes::triangle_product(Routine::Name, code, uplo(triangle), op(op_a), op(op_b), n, k, &a, A, lda, B, ldb, \
                                    &b, C, ldc));                                                                      \
  }

#define DEFINE_symmetric(symbol, code, T, Name, Alpha, Beta, Int)                                                      \
  void symbol(int layout, int where, int triangle, Int m, Int n, Number<Alpha<T>> alpha, Data A, Int lda, Data B,      \
              Int ldb, Number<Beta<T>> beta, void* C, Int ldc) {                                                       \
    const auto a = value_of(alpha, Alpha<T>{});                                                                        \
    const auto b = value_of(beta, Beta<T>{});                                                                          \
    submit(#symbol, layout,                                                                                            \
           shapes::symmetric(Routine::Name, code, side(where), uplo(triangle), m, n, &a, A, lda, B, ldb, &b, C, ldc)); \
  }

#define DEFINE_rank_k(symbol, code, T, Name, Alpha, Beta, Int)                                            \
  void symbol(int layout, int triangle, int trans, Int n, Int k, Number<Alpha<T>> alpha, Data A, Int lda, \
              Number<Beta<T>> beta, void* C, Int ldc) {                                                   \
    const auto a = value_of(alpha, Alpha<T>{});                                                           \
    const auto b = value_of(beta, Beta<T>{});                                                             \
    submit(#symbol, layout,                                                                               \
           shapes::rank_k(Routine::Name, code, uplo(triangle), op(trans), n, k, &a, A, lda, &b, C, ldc)); \
  }

#define DEFINE_rank_2k(symbol, code, T, Name, Alpha, Beta, Int)                                                    \
  void symbol(int layout, int triangle, int trans, Int n, Int k, Number<Alpha<T>> alpha, Data A, Int lda, Data B,  \
              Int ldb, Number<Beta<T>> beta, void* C, Int ldc) {                                                   \
    const auto a = factor(Routine::Name, layout, value_of(alpha, Alpha<T>{}));                                     \
    const auto b = value_of(beta, Beta<T>{});                                                                      \
    submit(#symbol, layout,                                                                                        \
           shapes::rank_2k(Routine::Name, code, uplo(triangle), op(trans), n, k, &a, A, lda, B, ldb, &b, C, ldc)); \
  }

#define DEFINE_triangular(symbol, code, T, Name, Alpha, Beta, Int)                                                    \
  void symbol(int layout, int where, int triangle, int trans, int unit, Int m, Int n, Number<Alpha<T>> alpha, Data A, \
              Int lda, void* B, Int ldb) {                                                                            \
    const auto a = value_of(alpha, Alpha<T>{});                                                                       \
    submit(#symbol, layout,                                                                                           \
           shapes::triangular(Routine::Name, code, side(where), uplo(triangle), op(trans), diag(unit), m, n, &a, A,   \
                              lda, B, ldb));                                                                          \
  }

#define DEFINE(shape, code, letter, T, Name, name, Alpha, Beta)                           \
  DEFINE_##shape(cblas_##letter##name, code, T, Name, Alpha, Beta, int)                   \
      DEFINE_##shape(cblas_##letter##name##64_, code, T, Name, Alpha, Beta, std::int64_t) \
          DEFINE_##shape(cblas_##letter##name##_64, code, T, Name, Alpha, Beta, std::int64_t)

#define CZ(shape, Name, name, Alpha, Beta)                            \
  DEFINE(shape, 'c', c, std::complex<float>, Name, name, Alpha, Beta) \
  DEFINE(shape, 'z', z, std::complex<double>, Name, name, Alpha, Beta)
#define SDCZ(shape, Name, name, Alpha, Beta)             \
  DEFINE(shape, 's', s, float, Name, name, Alpha, Beta)  \
  DEFINE(shape, 'd', d, double, Name, name, Alpha, Beta) \
  CZ(shape, Name, name, Alpha, Beta)
#define ROUTINE(name, types, shape, Alpha, Beta) types(shape, name, name, Alpha, Beta)

extern "C" {
#include "routines.def"
SDCZ(triangle_product, gemmt, gemmtr, Full, Full)
}
