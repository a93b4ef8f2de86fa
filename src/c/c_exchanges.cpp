// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of rows in C: on pointers for every type, and on matrices.
#include <tessera/lapack.hpp>

#include "c_interface.hpp"
#include "c_solvers.hpp"

using namespace tessera;
using namespace tessera::c;

// Complex arrays are void pointers, as in c_routines.cpp.
#define DEFINE_EXCHANGES(letter, T, Element)                                                                        \
  tessera_status tessera_##letter##laswp(tessera_layout layout, int64_t n, Element* A, int64_t lda, int64_t k1,     \
                                         int64_t k2, const int64_t* ipiv, int64_t incx) {                           \
    return solve<T>(                                                                                                \
        "tessera_" #letter "laswp", [](auto... x) { return laswp(x...); }, choice("layout", layout), n, A, lda, k1, \
        k2, ipiv, incx);                                                                                            \
  }

extern "C" {

DEFINE_EXCHANGES(s, float, float)
DEFINE_EXCHANGES(d, double, double)
DEFINE_EXCHANGES(c, std::complex<float>, void)
DEFINE_EXCHANGES(z, std::complex<double>, void)

tessera_status tessera_laswp_submit(const tessera_matrix* A, const tessera_pivots* pivots, int64_t incx) {
  constexpr const char* function = "tessera_laswp_submit";
  return status_of(function, [&] {
    require_pointer(function, 1, "A", A);
    require_pointer(function, 2, "pivots", pivots);
    std::visit([&](const auto& matrix) { laswp(matrix, pivots->pivots, incx); }, A->matrix);
  });
}

struct _starpu_data_state* tessera_pivots_handle(const tessera_pivots* pivots, int64_t k) {
  return pivots == nullptr || k < 0 || k >= pivots->pivots.panels() ? nullptr : pivots->pivots.handle(k);
}

}  // extern "C"
