// SPDX-License-Identifier: BSD-3-Clause
// The Fortran symbols of every routine of the table and every type: dgemm_, dgemm for compilers that add no underscore,
// and dgemm_64_ with 64-bit integers. gemmt has a second name, gemmtr, which is the reference BLAS's.
#include <cstdint>

#include "dispatch.hpp"
#include "entry.hpp"
#include "shapes.hpp"

namespace tessera::dropin {

namespace {

using Letter = const char*;
using shapes::Data;

/// Converts the letter of an option to upper case: both cases are legal. Other characters stay illegal.
template <typename Option>
Option option(Letter letter) {
  return Option{static_cast<char>(*letter & ~0x20)};
}

/// Computes a legal call.
/// @return false if the call must go to the host with the program's own arguments
bool computed(const Call& call) { return first_illegal(call, Layout::ColMajor) == 0 && dispatch(call); }

}  // namespace

}  // namespace tessera::dropin

using namespace tessera::dropin;
using tessera::Diag;
using tessera::Layout;
using tessera::Op;
using tessera::Side;
using tessera::Uplo;

// One function for each argument shape. `code` is the letter of the type.

#define DEFINE_product(symbol, entry, code, Name, Int)                                                                \
  void symbol(Letter op_a, Letter op_b, const Int* m, const Int* n, const Int* k, Data alpha, Data A, const Int* lda, \
              Data B, const Int* ldb, Data beta, void* C, const Int* ldc) {                                           \
    static constinit Entry host entry;                                                                                \
    const auto call = shapes::product(Routine::Name, code, option<Op>(op_a), option<Op>(op_b), *m, *n, *k, alpha, A,  \
                                      *lda, B, *ldb, beta, C, *ldc);                                                  \
    if (!computed(call)) host(call, Layout::ColMajor, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);      \
  }

#define DEFINE_triangle_product(symbol, entry, code, Name, Int)                                                      \
  void symbol(Letter uplo, Letter op_a, Letter op_b, const Int* n, const Int* k, Data alpha, Data A, const Int* lda, \
              Data B, const Int* ldb, Data beta, void* C, const Int* ldc) {                                          \
    static constinit Entry host entry;                                                                               \
    const auto call = shapes::triangle_product(Routine::Name, code, option<Uplo>(uplo), option<Op>(op_a),            \
                                               option<Op>(op_b), *n, *k, alpha, A, *lda, B, *ldb, beta, C, *ldc);    \
    if (!computed(call)) host(call, Layout::ColMajor, uplo, op_a, op_b, n, k, alpha, A, lda, B, ldb, beta, C, ldc);  \
  }

#define DEFINE_symmetric(symbol, entry, code, Name, Int)                                                               \
  void symbol(Letter side, Letter uplo, const Int* m, const Int* n, Data alpha, Data A, const Int* lda, Data B,        \
              const Int* ldb, Data beta, void* C, const Int* ldc) {                                                    \
    static constinit Entry host entry;                                                                                 \
    const auto call = shapes::symmetric(Routine::Name, code, option<Side>(side), option<Uplo>(uplo), *m, *n, alpha, A, \
                                        *lda, B, *ldb, beta, C, *ldc);                                                 \
    if (!computed(call)) host(call, Layout::ColMajor, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);          \
  }

#define DEFINE_rank_k(symbol, entry, code, Name, Int)                                                                 \
  void symbol(Letter uplo, Letter op, const Int* n, const Int* k, Data alpha, Data A, const Int* lda, Data beta,      \
              void* C, const Int* ldc) {                                                                              \
    static constinit Entry host entry;                                                                                \
    const auto call = shapes::rank_k(Routine::Name, code, option<Uplo>(uplo), option<Op>(op), *n, *k, alpha, A, *lda, \
                                     beta, C, *ldc);                                                                  \
    if (!computed(call)) host(call, Layout::ColMajor, uplo, op, n, k, alpha, A, lda, beta, C, ldc);                   \
  }

#define DEFINE_rank_2k(symbol, entry, code, Name, Int)                                                                 \
  void symbol(Letter uplo, Letter op, const Int* n, const Int* k, Data alpha, Data A, const Int* lda, Data B,          \
              const Int* ldb, Data beta, void* C, const Int* ldc) {                                                    \
    static constinit Entry host entry;                                                                                 \
    const auto call = shapes::rank_2k(Routine::Name, code, option<Uplo>(uplo), option<Op>(op), *n, *k, alpha, A, *lda, \
                                      B, *ldb, beta, C, *ldc);                                                         \
    if (!computed(call)) host(call, Layout::ColMajor, uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);            \
  }

#define DEFINE_triangular(symbol, entry, code, Name, Int)                                                             \
  void symbol(Letter side, Letter uplo, Letter op, Letter diag, const Int* m, const Int* n, Data alpha, Data A,       \
              const Int* lda, void* B, const Int* ldb) {                                                              \
    static constinit Entry host entry;                                                                                \
    const auto call = shapes::triangular(Routine::Name, code, option<Side>(side), option<Uplo>(uplo), option<Op>(op), \
                                         option<Diag>(diag), *m, *n, alpha, A, *lda, B, *ldb);                        \
    if (!computed(call)) host(call, Layout::ColMajor, side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);             \
  }

#define ENTRY(interface, routine) (Interface::interface, #routine)
#define DEFINE(shape, code, letter, Name, name)                                        \
  DEFINE_##shape(letter##name##_, ENTRY(Fortran, letter##name), code, Name, int)       \
      DEFINE_##shape(letter##name, ENTRY(FortranPlain, letter##name), code, Name, int) \
          DEFINE_##shape(letter##name##_64_, ENTRY(Fortran64, letter##name), code, Name, std::int64_t)

#define CZ(shape, Name, name)       \
  DEFINE(shape, 'c', c, Name, name) \
  DEFINE(shape, 'z', z, Name, name)
#define SDCZ(shape, Name, name)     \
  DEFINE(shape, 's', s, Name, name) \
  DEFINE(shape, 'd', d, Name, name) \
  CZ(shape, Name, name)
#define ROUTINE(name, types, shape, alpha, beta) types(shape, name, name)

extern "C" {
#include "routines/routines.def"
SDCZ(triangle_product, gemmt, gemmtr)
}
