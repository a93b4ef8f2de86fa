// SPDX-License-Identifier: BSD-3-Clause
// Factorizations and solves in C: on pointers for every type, and on matrices.
#include <tessera/lapack.hpp>

#include "c_interface.hpp"

using namespace tessera;
using namespace tessera::c;

struct tessera_info {
  Info info;
};

namespace {

/// Translates LAPACK's arguments, which begin with the layout and `uplo`, and calls `routine`.
template <typename Routine>
tessera_status solve(const char* function, tessera_layout layout, tessera_uplo uplo, Routine routine) {
  return status_of(function, [&] {
    const auto order = choice("layout", layout).meaning(function, 1);
    routine(order, choice("uplo", uplo).meaning(function, 2));
  });
}

/// Calls `routine` with the type of A, and with B in that type.
template <typename Routine>
void with_matrices(const char* function, const tessera_matrix* A, const tessera_matrix* B, Routine routine) {
  require_pointer(function, 2, "A", A);
  require_pointer(function, 3, "B", B);
  std::visit(
      [&]<Scalar T>(const Matrix<T>& typed) {
        const auto* right = std::get_if<Matrix<T>>(&B->matrix);
        if (right == nullptr)
          throw ArgumentError(function, 3, "B", std::string("is not of the type of A, ") + type_letter<T>);
        routine(typed, *right);
      },
      A->matrix);
}

}  // namespace

// Complex arrays are void pointers, as in c_routines.cpp.
#define DEFINE_SOLVERS(letter, T, Element)                                                                             \
  tessera_status tessera_##letter##potrf(tessera_layout layout, tessera_uplo uplo, int64_t n, Element* A, int64_t lda, \
                                         int64_t* info) {                                                              \
    constexpr const char* function = "tessera_" #letter "potrf";                                                       \
    return solve(function, layout, uplo, [&](Layout order, Uplo triangle) {                                            \
      require_pointer(function, 6, "info", info);                                                                      \
      *info = potrf(order, triangle, n, static_cast<T*>(A), lda);                                                      \
    });                                                                                                                \
  }                                                                                                                    \
  tessera_status tessera_##letter##potrs(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs,            \
                                         const Element* A, int64_t lda, Element* B, int64_t ldb) {                     \
    return solve("tessera_" #letter "potrs", layout, uplo, [&](Layout order, Uplo triangle) {                          \
      potrs(order, triangle, n, nrhs, static_cast<const T*>(A), lda, static_cast<T*>(B), ldb);                         \
    });                                                                                                                \
  }                                                                                                                    \
  tessera_status tessera_##letter##posv(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, Element* A, \
                                        int64_t lda, Element* B, int64_t ldb, int64_t* info) {                         \
    constexpr const char* function = "tessera_" #letter "posv";                                                        \
    return solve(function, layout, uplo, [&](Layout order, Uplo triangle) {                                            \
      require_pointer(function, 9, "info", info);                                                                      \
      *info = posv(order, triangle, n, nrhs, static_cast<T*>(A), lda, static_cast<T*>(B), ldb);                        \
    });                                                                                                                \
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
    with_matrices(function, A, B, [&](const auto& a, const auto& b) { potrs(triangle, a, b); });
  });
}

tessera_status tessera_posv_submit(tessera_uplo uplo, const tessera_matrix* A, const tessera_matrix* B,
                                   tessera_info** result) {
  constexpr const char* function = "tessera_posv_submit";
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    const Uplo triangle = choice("uplo", uplo).meaning(function, 1);
    require_pointer(function, 4, "result", result);
    with_matrices(function, A, B,
                  [&](const auto& a, const auto& b) { *result = new tessera_info{posv(triangle, a, b)}; });
  });
}

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
