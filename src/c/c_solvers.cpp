// SPDX-License-Identifier: BSD-3-Clause
// Factorizations and solves in C: on pointers for every type, and on matrices.
#include <algorithm>
#include <memory>

#include <tessera/lapack.hpp>

#include "c_interface.hpp"
#include "c_solvers.hpp"

using namespace tessera;
using namespace tessera::c;

struct tessera_growth {
  Growth growth;
};

namespace {

/// Calls a factorization without pivoting, and stores its info and its growth.
/// @param routine  (Growth*), null if the growth is not wanted
template <typename Routine>
void give_unpivoted(Routine routine, tessera_growth** growth, tessera_info** info) {
  auto owned = growth != nullptr ? std::make_unique<tessera_growth>() : nullptr;
  *info = new tessera_info{routine(owned != nullptr ? &owned->growth : nullptr)};
  if (growth != nullptr) *growth = owned.release();
}

void give(Pivoted pivoted, tessera_pivots** pivots, tessera_info** info) {
  std::unique_ptr<tessera_pivots> owned(new tessera_pivots{std::move(pivoted.pivots)});
  *info = new tessera_info{std::move(pivoted.info)};
  *pivots = owned.release();
}

}  // namespace

// Complex arrays are void pointers, as in c_routines.cpp.
#define DEFINE_SOLVERS(letter, T, Element)                                                                             \
  tessera_status tessera_##letter##trtrs(tessera_layout layout, tessera_uplo uplo, tessera_op op, tessera_diag diag,   \
                                         int64_t n, int64_t nrhs, const Element* A, int64_t lda, Element* B,           \
                                         int64_t ldb, int64_t* info) {                                                 \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "trtrs", info, [](auto... x) { return trtrs(x...); }, choice("layout", layout),             \
        choice("uplo", uplo), choice("op", op), choice("diag", diag), n, nrhs, A, lda, B, ldb);                        \
  }                                                                                                                    \
  tessera_status tessera_##letter##potrf(tessera_layout layout, tessera_uplo uplo, int64_t n, Element* A, int64_t lda, \
                                         int64_t* info) {                                                              \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "potrf", info, [](auto... x) { return potrf(x...); }, choice("layout", layout),             \
        choice("uplo", uplo), n, A, lda);                                                                              \
  }                                                                                                                    \
  tessera_status tessera_##letter##potrs(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs,            \
                                         const Element* A, int64_t lda, Element* B, int64_t ldb) {                     \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "potrs", [](auto... x) { return potrs(x...); }, choice("layout", layout),                   \
        choice("uplo", uplo), n, nrhs, A, lda, B, ldb);                                                                \
  }                                                                                                                    \
  tessera_status tessera_##letter##posv(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, Element* A, \
                                        int64_t lda, Element* B, int64_t ldb, int64_t* info) {                         \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "posv", info, [](auto... x) { return posv(x...); }, choice("layout", layout),               \
        choice("uplo", uplo), n, nrhs, A, lda, B, ldb);                                                                \
  }                                                                                                                    \
  tessera_status tessera_##letter##getrf(tessera_layout layout, int64_t m, int64_t n, Element* A, int64_t lda,         \
                                         int64_t* ipiv, int64_t* info) {                                               \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "getrf", info, [](auto... x) { return getrf(x...); }, choice("layout", layout), m, n, A,    \
        lda, ipiv);                                                                                                    \
  }                                                                                                                    \
  tessera_status tessera_##letter##getrs(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs,                \
                                         const Element* A, int64_t lda, const int64_t* ipiv, Element* B,               \
                                         int64_t ldb) {                                                                \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "getrs", [](auto... x) { return getrs(x...); }, choice("layout", layout), choice("op", op), \
        n, nrhs, A, lda, ipiv, B, ldb);                                                                                \
  }                                                                                                                    \
  tessera_status tessera_##letter##gesv(tessera_layout layout, int64_t n, int64_t nrhs, Element* A, int64_t lda,       \
                                        int64_t* ipiv, Element* B, int64_t ldb, int64_t* info) {                       \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "gesv", info, [](auto... x) { return gesv(x...); }, choice("layout", layout), n, nrhs, A,   \
        lda, ipiv, B, ldb);                                                                                            \
  }                                                                                                                    \
  tessera_status tessera_##letter##getrf_nopiv(tessera_layout layout, int64_t m, int64_t n, Element* A, int64_t lda,   \
                                               double* growth, int64_t* info) {                                        \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "getrf_nopiv", info, [](auto... x) { return getrf_nopiv(x...); }, choice("layout", layout), \
        m, n, A, lda, growth);                                                                                         \
  }                                                                                                                    \
  tessera_status tessera_##letter##getrs_nopiv(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs,          \
                                               const Element* A, int64_t lda, Element* B, int64_t ldb) {               \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "getrs_nopiv", [](auto... x) { return getrs_nopiv(x...); }, choice("layout", layout),       \
        choice("op", op), n, nrhs, A, lda, B, ldb);                                                                    \
  }                                                                                                                    \
  tessera_status tessera_##letter##gesv_nopiv(tessera_layout layout, int64_t n, int64_t nrhs, Element* A, int64_t lda, \
                                              Element* B, int64_t ldb, double* growth, int64_t* info) {                \
    return solve<T>(                                                                                                   \
        "tessera_" #letter "gesv_nopiv", info, [](auto... x) { return gesv_nopiv(x...); }, choice("layout", layout),   \
        n, nrhs, A, lda, B, ldb, growth);                                                                              \
  }

extern "C" {

DEFINE_SOLVERS(s, float, float)
DEFINE_SOLVERS(d, double, double)
DEFINE_SOLVERS(c, std::complex<float>, void)
DEFINE_SOLVERS(z, std::complex<double>, void)

tessera_status tessera_potrf_submit(tessera_uplo uplo, const tessera_matrix* A, tessera_info** result) {
  constexpr const char* function = "tessera_potrf_submit";
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    const Uplo triangle = choice("uplo", uplo).meaning(function, 1);
    require_pointer(function, 2, "A", A);
    require_pointer(function, 3, "result", result);
    std::visit([&](const auto& matrix) { *result = new tessera_info{potrf(triangle, matrix)}; }, A->matrix);
  });
}

tessera_status tessera_potrs_submit(tessera_uplo uplo, const tessera_matrix* A, const tessera_matrix* B) {
  constexpr const char* function = "tessera_potrs_submit";
  return status_of(function, [&] {
    const Uplo triangle = choice("uplo", uplo).meaning(function, 1);
    with_matrices(function, {2, A}, {3, B}, [&](const auto& a, const auto& b) { potrs(triangle, a, b); });
  });
}

tessera_status tessera_posv_submit(tessera_uplo uplo, const tessera_matrix* A, const tessera_matrix* B,
                                   tessera_info** result) {
  constexpr const char* function = "tessera_posv_submit";
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    const Uplo triangle = choice("uplo", uplo).meaning(function, 1);
    require_pointer(function, 2, "A", A);
    require_pointer(function, 3, "B", B);
    require_pointer(function, 4, "result", result);
    with_matrices(function, {2, A}, {3, B},
                  [&](const auto& a, const auto& b) { *result = new tessera_info{posv(triangle, a, b)}; });
  });
}

tessera_status tessera_getrf_submit(const tessera_matrix* A, tessera_pivots** pivots, tessera_info** info) {
  constexpr const char* function = "tessera_getrf_submit";
  if (pivots != nullptr) *pivots = nullptr;
  if (info != nullptr) *info = nullptr;
  return status_of(function, [&] {
    require_pointer(function, 1, "A", A);
    require_pointer(function, 2, "pivots", pivots);
    require_pointer(function, 3, "info", info);
    std::visit([&](const auto& matrix) { give(getrf(matrix), pivots, info); }, A->matrix);
  });
}

tessera_status tessera_getrs_submit(tessera_op op, const tessera_matrix* A, const tessera_pivots* pivots,
                                    const tessera_matrix* B) {
  constexpr const char* function = "tessera_getrs_submit";
  return status_of(function, [&] {
    const Op which = choice("op", op).meaning(function, 1);
    require_pointer(function, 2, "A", A);
    require_pointer(function, 3, "pivots", pivots);
    with_matrices(function, {2, A}, {4, B}, [&](const auto& a, const auto& b) { getrs(which, a, pivots->pivots, b); });
  });
}

tessera_status tessera_gesv_submit(const tessera_matrix* A, const tessera_matrix* B, tessera_pivots** pivots,
                                   tessera_info** info) {
  constexpr const char* function = "tessera_gesv_submit";
  if (pivots != nullptr) *pivots = nullptr;
  if (info != nullptr) *info = nullptr;
  return status_of(function, [&] {
    require_pointer(function, 1, "A", A);
    require_pointer(function, 2, "B", B);
    require_pointer(function, 3, "pivots", pivots);
    require_pointer(function, 4, "info", info);
    with_matrices(function, {1, A}, {2, B}, [&](const auto& a, const auto& b) { give(gesv(a, b), pivots, info); });
  });
}

tessera_status tessera_getrf_nopiv_submit(const tessera_matrix* A, tessera_growth** growth, tessera_info** info) {
  constexpr const char* function = "tessera_getrf_nopiv_submit";
  if (growth != nullptr) *growth = nullptr;
  if (info != nullptr) *info = nullptr;
  return status_of(function, [&] {
    require_pointer(function, 1, "A", A);
    require_pointer(function, 3, "info", info);
    std::visit(
        [&](const auto& matrix) {
          give_unpivoted([&](Growth* measured) { return getrf_nopiv(matrix, measured); }, growth, info);
        },
        A->matrix);
  });
}

tessera_status tessera_getrs_nopiv_submit(tessera_op op, const tessera_matrix* A, const tessera_matrix* B) {
  constexpr const char* function = "tessera_getrs_nopiv_submit";
  return status_of(function, [&] {
    const Op which = choice("op", op).meaning(function, 1);
    with_matrices(function, {2, A}, {3, B}, [&](const auto& a, const auto& b) { getrs_nopiv(which, a, b); });
  });
}

tessera_status tessera_gesv_nopiv_submit(const tessera_matrix* A, const tessera_matrix* B, tessera_growth** growth,
                                         tessera_info** info) {
  constexpr const char* function = "tessera_gesv_nopiv_submit";
  if (growth != nullptr) *growth = nullptr;
  if (info != nullptr) *info = nullptr;
  return status_of(function, [&] {
    require_pointer(function, 1, "A", A);
    require_pointer(function, 2, "B", B);
    require_pointer(function, 4, "info", info);
    with_matrices(function, {1, A}, {2, B}, [&](const auto& a, const auto& b) {
      give_unpivoted([&](Growth* measured) { return gesv_nopiv(a, b, measured); }, growth, info);
    });
  });
}

tessera_status tessera_growth_wait(const tessera_growth* growth, double* value) {
  constexpr const char* function = "tessera_growth_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "growth", growth);
    *require_pointer(function, 2, "value", value) = growth->growth.wait();
  });
}

void tessera_growth_destroy(tessera_growth* growth) { delete growth; }

tessera_status tessera_pivots_wait(const tessera_pivots* pivots, int64_t* ipiv) {
  constexpr const char* function = "tessera_pivots_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "pivots", pivots);
    std::ranges::copy(pivots->pivots.wait(), require_pointer(function, 2, "ipiv", ipiv));
  });
}

void tessera_pivots_destroy(tessera_pivots* pivots) { delete pivots; }

tessera_status tessera_info_wait(const tessera_info* info, int64_t* value) {
  constexpr const char* function = "tessera_info_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "info", info);
    *require_pointer(function, 2, "value", value) = info->info.wait();
  });
}

struct _starpu_data_state* tessera_info_handle(const tessera_info* info) {
  return info == nullptr ? nullptr : info->info.handle();
}

void tessera_info_destroy(tessera_info* info) { delete info; }

}  // extern "C"
