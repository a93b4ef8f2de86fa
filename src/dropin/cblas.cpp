// SPDX-License-Identifier: BSD-3-Clause
// The CBLAS symbols of every routine of the table and every type: cblas_dgemm, and two names with 64-bit integers:
// OpenBLAS's cblas_dgemm64_ and the reference CBLAS's cblas_dgemm_64. gemmt has gemmtr as a second name.
#include <complex>
#include <type_traits>

#include "common/of_type.hpp"
#include "dispatch.hpp"
#include "entry.hpp"
#include "shapes.hpp"

namespace tessera::dropin {

namespace {

using shapes::Data;

/// The type of a scalar argument in CBLAS: complex scalars are passed by address.
template <Scalar T>
using Number = std::conditional_t<is_complex<T>, const void*, T>;
template <Scalar T>
using Full = T;

Data address(const float& x) { return &x; }
Data address(const double& x) { return &x; }
Data address(const void* const& x) { return x; }  // may be null if the call is empty

// Conversions of CBLAS's enumerators. All other values, including OpenBLAS's extensions, become illegal options.
constexpr auto illegal = '?';
Layout layout(int x) { return Layout{x == 101 ? 'R' : x == 102 ? 'C' : illegal}; }
Op op(int x) { return Op{x == 111 ? 'N' : x == 112 ? 'T' : x == 113 ? 'C' : illegal}; }
Uplo uplo(int x) { return Uplo{x == 121 ? 'U' : x == 122 ? 'L' : illegal}; }
Diag diag(int x) { return Diag{x == 131 ? 'N' : x == 132 ? 'U' : illegal}; }
Side side(int x) { return Side{x == 141 ? 'L' : x == 142 ? 'R' : illegal}; }

/// Dispatches a row-major her2k. The equivalent column-major call has the conjugate of alpha.
bool dispatch_her2k_by_rows(const Call& call) {
  return with_type(call.type, [&]<Scalar T>(T) {
    auto columns = by_columns(call);
    T alpha{};
    if constexpr (is_complex<T>)
      if (call.alpha != nullptr) {
        alpha = std::conj(*static_cast<const T*>(call.alpha));
        columns.alpha = &alpha;
      }
    return dispatch(columns);
  });
}

/// Computes a legal call.
/// @return false if the call must go to the host with the program's own arguments
bool computed(Layout layout, const Call& call) {
  if (layout != Layout::ColMajor && layout != Layout::RowMajor) return false;
  if (first_illegal(call, layout) != 0) return false;
  if (layout == Layout::ColMajor) return dispatch(call);
  return call.routine == Routine::her2k ? dispatch_her2k_by_rows(call) : dispatch(by_columns(call));
}

}  // namespace

}  // namespace tessera::dropin

using namespace tessera::dropin;
using tessera::Layout;
using tessera::Real;

// One function for each argument shape. `code` is the letter of the type.

#define DEFINE_product(symbol, entry, code, T, Name, Alpha, Beta, Int)                                             \
  void symbol(int order, int op_a, int op_b, Int m, Int n, Int k, Number<Alpha<T>> alpha, Data A, Int lda, Data B, \
              Int ldb, Number<Beta<T>> beta, void* C, Int ldc) {                                                   \
    static constinit Entry host entry;                                                                             \
    const auto call = shapes::product(Routine::Name, code, op(op_a), op(op_b), m, n, k, address(alpha), A, lda, B, \
                                      ldb, address(beta), C, ldc);                                                 \
    if (!computed(layout(order), call))                                                                            \
      host(call, layout(order), order, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);                  \
  }

#define DEFINE_triangle_product(symbol, entry, code, T, Name, Alpha, Beta, Int)                                   \
  void symbol(int order, int triangle, int op_a, int op_b, Int n, Int k, Number<Alpha<T>> alpha, Data A, Int lda, \
              Data B, Int ldb, Number<Beta<T>> beta, void* C, Int ldc) {                                          \
    static constinit Entry host entry;                                                                            \
    const auto call = shapes::triangle_product(Routine::Name, code, uplo(triangle), op(op_a), op(op_b), n, k,     \
                                               address(alpha), A, lda, B, ldb, address(beta), C, ldc);            \
    if (!computed(layout(order), call))                                                                           \
      host(call, layout(order), order, triangle, op_a, op_b, n, k, alpha, A, lda, B, ldb, beta, C, ldc);          \
  }

#define DEFINE_symmetric(symbol, entry, code, T, Name, Alpha, Beta, Int)                                           \
  void symbol(int order, int where, int triangle, Int m, Int n, Number<Alpha<T>> alpha, Data A, Int lda, Data B,   \
              Int ldb, Number<Beta<T>> beta, void* C, Int ldc) {                                                   \
    static constinit Entry host entry;                                                                             \
    const auto call = shapes::symmetric(Routine::Name, code, side(where), uplo(triangle), m, n, address(alpha), A, \
                                        lda, B, ldb, address(beta), C, ldc);                                       \
    if (!computed(layout(order), call))                                                                            \
      host(call, layout(order), order, where, triangle, m, n, alpha, A, lda, B, ldb, beta, C, ldc);                \
  }

#define DEFINE_rank_k(symbol, entry, code, T, Name, Alpha, Beta, Int)                                              \
  void symbol(int order, int triangle, int trans, Int n, Int k, Number<Alpha<T>> alpha, Data A, Int lda,           \
              Number<Beta<T>> beta, void* C, Int ldc) {                                                            \
    static constinit Entry host entry;                                                                             \
    const auto call = shapes::rank_k(Routine::Name, code, uplo(triangle), op(trans), n, k, address(alpha), A, lda, \
                                     address(beta), C, ldc);                                                       \
    if (!computed(layout(order), call))                                                                            \
      host(call, layout(order), order, triangle, trans, n, k, alpha, A, lda, beta, C, ldc);                        \
  }

#define DEFINE_rank_2k(symbol, entry, code, T, Name, Alpha, Beta, Int)                                                 \
  void symbol(int order, int triangle, int trans, Int n, Int k, Number<Alpha<T>> alpha, Data A, Int lda, Data B,       \
              Int ldb, Number<Beta<T>> beta, void* C, Int ldc) {                                                       \
    static constinit Entry host entry;                                                                                 \
    const auto call = shapes::rank_2k(Routine::Name, code, uplo(triangle), op(trans), n, k, address(alpha), A, lda, B, \
                                      ldb, address(beta), C, ldc);                                                     \
    if (!computed(layout(order), call))                                                                                \
      host(call, layout(order), order, triangle, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);                    \
  }

#define DEFINE_triangular(symbol, entry, code, T, Name, Alpha, Beta, Int)                                            \
  void symbol(int order, int where, int triangle, int trans, int unit, Int m, Int n, Number<Alpha<T>> alpha, Data A, \
              Int lda, void* B, Int ldb) {                                                                           \
    static constinit Entry host entry;                                                                               \
    const auto call = shapes::triangular(Routine::Name, code, side(where), uplo(triangle), op(trans), diag(unit), m, \
                                         n, address(alpha), A, lda, B, ldb);                                         \
    if (!computed(layout(order), call))                                                                              \
      host(call, layout(order), order, where, triangle, trans, unit, m, n, alpha, A, lda, B, ldb);                   \
  }

#define ENTRY(interface, routine) (Interface::interface, #routine)
#define DEFINE(shape, code, letter, T, Name, name, Alpha, Beta)                                                     \
  DEFINE_##shape(cblas_##letter##name, ENTRY(Cblas, letter##name), code, T, Name, Alpha, Beta, int) DEFINE_##shape( \
      cblas_##letter##name##64_, ENTRY(Cblas64, letter##name), code, T, Name, Alpha, Beta, std::int64_t)            \
      DEFINE_##shape(cblas_##letter##name##_64, ENTRY(Cblas64, letter##name), code, T, Name, Alpha, Beta,           \
                     std::int64_t)

#define CZ(shape, Name, name, Alpha, Beta)                            \
  DEFINE(shape, 'c', c, std::complex<float>, Name, name, Alpha, Beta) \
  DEFINE(shape, 'z', z, std::complex<double>, Name, name, Alpha, Beta)
#define SDCZ(shape, Name, name, Alpha, Beta)             \
  DEFINE(shape, 's', s, float, Name, name, Alpha, Beta)  \
  DEFINE(shape, 'd', d, double, Name, name, Alpha, Beta) \
  CZ(shape, Name, name, Alpha, Beta)
#define ROUTINE(name, types, shape, Alpha, Beta) types(shape, name, name, Alpha, Beta)

extern "C" {
#include "routines/routines.def"
SDCZ(triangle_product, gemmt, gemmtr, Full, Full)
}
