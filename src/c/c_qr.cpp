// SPDX-License-Identifier: BSD-3-Clause
// QR factorization and least squares in C: on pointers for every type, and on matrices.
#include <memory>

#include <tessera/lapack.hpp>

#include "c_interface.hpp"
#include "c_solvers.hpp"

using namespace tessera;
using namespace tessera::c;

struct tessera_reflectors {
  Reflectors reflectors;
};

// Complex arrays are void pointers, as in c_routines.cpp. For real matrices, the unitary factor has its own routine
// names.
#define DEFINE_QR(letter, T, Element, mqr, gqr)                                                                       \
  tessera_status tessera_##letter##geqrf(tessera_layout layout, int64_t m, int64_t n, Element* A, int64_t lda,        \
                                         Element* tau) {                                                              \
    return solve<T>(                                                                                                  \
        "tessera_" #letter "geqrf", [](auto... x) { geqrf(x...); }, choice("layout", layout), m, n, A, lda, tau);     \
  }                                                                                                                   \
  tessera_status tessera_##letter##mqr(tessera_layout layout, tessera_side side, tessera_op op, int64_t m, int64_t n, \
                                       int64_t k, const Element* A, int64_t lda, const Element* tau, Element* C,      \
                                       int64_t ldc) {                                                                 \
    return solve<T>(                                                                                                  \
        "tessera_" #letter #mqr, [](auto... x) { unmqr(x...); }, choice("layout", layout), choice("side", side),      \
        choice("op", op), m, n, k, A, lda, tau, C, ldc);                                                              \
  }                                                                                                                   \
  tessera_status tessera_##letter##gqr(tessera_layout layout, int64_t m, int64_t n, int64_t k, Element* A,            \
                                       int64_t lda, const Element* tau) {                                             \
    return solve<T>(                                                                                                  \
        "tessera_" #letter #gqr, [](auto... x) { ungqr(x...); }, choice("layout", layout), m, n, k, A, lda, tau);     \
  }                                                                                                                   \
  tessera_status tessera_##letter##gels(tessera_layout layout, tessera_op op, int64_t m, int64_t n, int64_t nrhs,     \
                                        Element* A, int64_t lda, Element* B, int64_t ldb, int64_t* info) {            \
    return solve<T>(                                                                                                  \
        "tessera_" #letter "gels", info, [](auto... x) { return gels(x...); }, choice("layout", layout),              \
        choice("op", op), m, n, nrhs, A, lda, B, ldb);                                                                \
  }

extern "C" {

DEFINE_QR(s, float, float, ormqr, orgqr)
DEFINE_QR(d, double, double, ormqr, orgqr)
DEFINE_QR(c, std::complex<float>, void, unmqr, ungqr)
DEFINE_QR(z, std::complex<double>, void, unmqr, ungqr)

tessera_status tessera_geqrf_submit(const tessera_matrix* A, tessera_reflectors** reflectors) {
  constexpr const char* function = "tessera_geqrf_submit";
  if (reflectors != nullptr) *reflectors = nullptr;
  return status_of(function, [&] {
    require_pointer(function, 1, "A", A);
    require_pointer(function, 2, "reflectors", reflectors);
    std::visit([&](const auto& matrix) { *reflectors = new tessera_reflectors{geqrf(matrix)}; }, A->matrix);
  });
}

tessera_status tessera_unmqr_submit(tessera_side side, tessera_op op, const tessera_matrix* A,
                                    const tessera_reflectors* reflectors, const tessera_matrix* C) {
  constexpr const char* function = "tessera_unmqr_submit";
  return status_of(function, [&] {
    const Side which = choice("side", side).meaning(function, 1);
    const Op operation = choice("op", op).meaning(function, 2);
    require_pointer(function, 4, "reflectors", reflectors);
    with_matrices(function, {3, A}, {5, C},
                  [&](const auto& a, const auto& c) { unmqr(which, operation, a, reflectors->reflectors, c); });
  });
}

tessera_status tessera_ungqr_submit(const tessera_matrix* A, const tessera_reflectors* reflectors) {
  constexpr const char* function = "tessera_ungqr_submit";
  return status_of(function, [&] {
    require_pointer(function, 1, "A", A);
    require_pointer(function, 2, "reflectors", reflectors);
    std::visit([&](const auto& matrix) { ungqr(matrix, reflectors->reflectors); }, A->matrix);
  });
}

tessera_status tessera_gels_submit(tessera_op op, const tessera_matrix* A, const tessera_matrix* B,
                                   tessera_info** info) {
  constexpr const char* function = "tessera_gels_submit";
  if (info != nullptr) *info = nullptr;
  return status_of(function, [&] {
    const Op operation = choice("op", op).meaning(function, 1);
    require_pointer(function, 4, "info", info);
    with_matrices(function, {2, A}, {3, B},
                  [&](const auto& a, const auto& b) { *info = new tessera_info{gels(operation, a, b)}; });
  });
}

tessera_status tessera_reflectors_wait(const tessera_reflectors* reflectors, char type, void* tau) {
  constexpr const char* function = "tessera_reflectors_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "reflectors", reflectors);
    require_pointer(function, 3, "tau", tau);
    const auto wait = [&]<Scalar T>(T) { reflectors->reflectors.wait(static_cast<T*>(tau)); };
    switch (type) {
    case 's': return wait(float{});
    case 'd': return wait(double{});
    case 'c': return wait(std::complex<float>{});
    case 'z': return wait(std::complex<double>{});
    default: throw ArgumentError(function, 2, "type", "must be 's', 'd', 'c' or 'z'");
    }
  });
}

void tessera_reflectors_destroy(tessera_reflectors* reflectors) { delete reflectors; }

}  // extern "C"
