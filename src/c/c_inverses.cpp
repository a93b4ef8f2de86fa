// SPDX-License-Identifier: BSD-3-Clause
// Inverses in C: on pointers for every type, and on matrices.
#include <tessera/lapack.hpp>

#include "c_interface.hpp"
#include "c_solvers.hpp"

using namespace tessera;
using namespace tessera::c;

// Complex arrays are void pointers, as in c_routines.cpp.
#define DEFINE_INVERSES(letter, T, Element)                                                                            \
  tessera_status tessera_##letter##trtri(tessera_layout layout, tessera_uplo uplo, tessera_diag diag, int64_t n,       \
                                         Element* A, int64_t lda, int64_t* info) {                                     \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "trtri", info, [](auto... x) { return trtri(x...); }, choice("layout", layout),             \
        choice("uplo", uplo), choice("diag", diag), n, A, lda);                                                        \
  }                                                                                                                    \
  tessera_status tessera_##letter##lauum(tessera_layout layout, tessera_uplo uplo, int64_t n, Element* A,              \
                                         int64_t lda) {                                                                \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "lauum", [](auto... x) { return lauum(x...); }, choice("layout", layout),                   \
        choice("uplo", uplo), n, A, lda);                                                                              \
  }                                                                                                                    \
  tessera_status tessera_##letter##potri(tessera_layout layout, tessera_uplo uplo, int64_t n, Element* A, int64_t lda, \
                                         int64_t* info) {                                                              \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "potri", info, [](auto... x) { return potri(x...); }, choice("layout", layout),             \
        choice("uplo", uplo), n, A, lda);                                                                              \
  }                                                                                                                    \
  tessera_status tessera_##letter##getri(tessera_layout layout, int64_t n, Element* A, int64_t lda,                    \
                                         const int64_t* ipiv, int64_t* info) {                                         \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "getri", info, [](auto... x) { return getri(x...); }, choice("layout", layout), n, A, lda,  \
        ipiv);                                                                                                         \
  }

extern "C" {

DEFINE_INVERSES(s, float, float)
DEFINE_INVERSES(d, double, double)
DEFINE_INVERSES(c, std::complex<float>, void)
DEFINE_INVERSES(z, std::complex<double>, void)

tessera_status tessera_trtri_submit(tessera_uplo uplo, tessera_diag diag, const tessera_matrix* A,
                                    tessera_info** result) {
  constexpr const char* function = "tessera_trtri_submit";
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    const Uplo triangle = choice("uplo", uplo).meaning(function, 1);
    const Diag diagonal = choice("diag", diag).meaning(function, 2);
    require_pointer(function, 3, "A", A);
    require_pointer(function, 4, "result", result);
    std::visit([&](const auto& matrix) { *result = new tessera_info{trtri(triangle, diagonal, matrix)}; }, A->matrix);
  });
}

tessera_status tessera_lauum_submit(tessera_uplo uplo, const tessera_matrix* A) {
  constexpr const char* function = "tessera_lauum_submit";
  return status_of(function, [&] {
    const Uplo triangle = choice("uplo", uplo).meaning(function, 1);
    require_pointer(function, 2, "A", A);
    std::visit([&](const auto& matrix) { lauum(triangle, matrix); }, A->matrix);
  });
}

tessera_status tessera_potri_submit(tessera_uplo uplo, const tessera_matrix* A, tessera_info** result) {
  constexpr const char* function = "tessera_potri_submit";
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    const Uplo triangle = choice("uplo", uplo).meaning(function, 1);
    require_pointer(function, 2, "A", A);
    require_pointer(function, 3, "result", result);
    std::visit([&](const auto& matrix) { *result = new tessera_info{potri(triangle, matrix)}; }, A->matrix);
  });
}

tessera_status tessera_getri_submit(const tessera_matrix* A, const tessera_pivots* pivots, tessera_info** result) {
  constexpr const char* function = "tessera_getri_submit";
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    require_pointer(function, 1, "A", A);
    require_pointer(function, 2, "pivots", pivots);
    require_pointer(function, 3, "result", result);
    std::visit([&](const auto& matrix) { *result = new tessera_info{getri(matrix, pivots->pivots)}; }, A->matrix);
  });
}

}  // extern "C"
