// SPDX-License-Identifier: BSD-3-Clause
// Factorizations, solves and inverses on matrices in C, and the handles of their results besides the factors.
#include <algorithm>
#include <memory>

#include <tessera/lapack.hpp>

#include "c_interface.hpp"
#include "common/of_type.hpp"

using namespace tessera;
using namespace tessera::c;

struct tessera_info {
  Info info;
};
struct tessera_pivots {
  Pivots pivots;
};
struct tessera_growth {
  Growth growth;
};
struct tessera_reflectors {
  Reflectors reflectors;
};

namespace {

/// A matrix argument, which must have the element type of A.
struct Operand {
  const char* name;
  const tessera_matrix* matrix;

  template <Scalar T>
  const Matrix<T>& as(const char* function, int position) const {
    const auto* typed = std::get_if<Matrix<T>>(&require_pointer(function, position, name, matrix)->matrix);
    if (typed == nullptr)
      throw ArgumentError(function, position, name, std::string("is not of the type of A, ") + type_letter<T>);
    return *typed;
  }
};

/// A result of an earlier function, or the place for a new one.
template <typename Handle>
struct Given {
  const char* name;
  Handle* address;
  bool may_be_null = false;

  template <Scalar T>
  Handle* as(const char* function, int position) const {
    return may_be_null ? address : require_pointer(function, position, name, address);
  }
};
/// The place for a new result, which is null until the function succeeds.
template <typename Handle>
Given<Handle*> result(const char* name, Handle** address, bool may_be_null = false) {
  if (address != nullptr) *address = nullptr;
  return {name, address, may_be_null};
}

/// Calls `routine` with its arguments converted to the element type of A, which is the first matrix among them.
template <typename Routine, typename... Arguments>
tessera_status submit(const char* function, Routine routine, Arguments... arguments) {
  const tessera_matrix* A = nullptr;
  const auto look_at = [&](const auto& argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Operand>) A = A == nullptr ? argument.matrix : A;
  };
  (look_at(arguments), ...);
  return status_of(function, [&] {
    if (A == nullptr) return call<double>(function, routine, arguments...);  // refuses an argument: A or an earlier one
    std::visit([&]<Scalar T>(const Matrix<T>& /*typed*/) { call<T>(function, routine, arguments...); }, A->matrix);
  });
}

void give(Pivoted pivoted, tessera_pivots** pivots, tessera_info** info) {
  std::unique_ptr<tessera_pivots> owned(new tessera_pivots{std::move(pivoted.pivots)});
  *info = new tessera_info{std::move(pivoted.info)};
  *pivots = owned.release();
}

/// Calls a factorization without pivoting, and stores its info and its growth.
/// @param routine  (Growth*), null if the growth is not wanted
template <typename Routine>
void give_unpivoted(Routine routine, tessera_growth** growth, tessera_info** info) {
  auto owned = growth != nullptr ? std::make_unique<tessera_growth>() : nullptr;
  *info = new tessera_info{routine(owned != nullptr ? &owned->growth : nullptr)};
  if (growth != nullptr) *growth = owned.release();
}

}  // namespace

extern "C" {

tessera_status tessera_potrf_submit(tessera_uplo uplo, const tessera_matrix* A, tessera_info** info) {
  return submit(
      "tessera_potrf_submit",
      [](Uplo triangle, const auto& a, auto** made) { *made = new tessera_info{potrf(triangle, a)}; },
      choice("uplo", uplo), Operand{"A", A}, result("result", info));
}

tessera_status tessera_potrs_submit(tessera_uplo uplo, const tessera_matrix* A, const tessera_matrix* B) {
  return submit(
      "tessera_potrs_submit", [](auto... x) { potrs(x...); }, choice("uplo", uplo), Operand{"A", A}, Operand{"B", B});
}

tessera_status tessera_posv_submit(tessera_uplo uplo, const tessera_matrix* A, const tessera_matrix* B,
                                   tessera_info** info) {
  return submit(
      "tessera_posv_submit",
      [](Uplo triangle, const auto& a, const auto& b, auto** made) { *made = new tessera_info{posv(triangle, a, b)}; },
      choice("uplo", uplo), Operand{"A", A}, Operand{"B", B}, result("result", info));
}

tessera_status tessera_getrf_submit(const tessera_matrix* A, tessera_pivots** pivots, tessera_info** info) {
  return submit(
      "tessera_getrf_submit", [](const auto& a, auto** p, auto** made) { give(getrf(a), p, made); }, Operand{"A", A},
      result("pivots", pivots), result("info", info));
}

tessera_status tessera_getrs_submit(tessera_op op, const tessera_matrix* A, const tessera_pivots* pivots,
                                    const tessera_matrix* B) {
  return submit(
      "tessera_getrs_submit",
      [](Op which, const auto& a, const auto* p, const auto& b) { getrs(which, a, p->pivots, b); }, choice("op", op),
      Operand{"A", A}, Given{"pivots", pivots}, Operand{"B", B});
}

tessera_status tessera_gesv_submit(const tessera_matrix* A, const tessera_matrix* B, tessera_pivots** pivots,
                                   tessera_info** info) {
  return submit(
      "tessera_gesv_submit", [](const auto& a, const auto& b, auto** p, auto** made) { give(gesv(a, b), p, made); },
      Operand{"A", A}, Operand{"B", B}, result("pivots", pivots), result("info", info));
}

tessera_status tessera_getrf_nopiv_submit(const tessera_matrix* A, tessera_growth** growth, tessera_info** info) {
  return submit(
      "tessera_getrf_nopiv_submit",
      [](const auto& a, auto** g, auto** made) {
        give_unpivoted([&](Growth* measured) { return getrf_nopiv(a, measured); }, g, made);
      },
      Operand{"A", A}, result("growth", growth, true), result("info", info));
}

tessera_status tessera_getrs_nopiv_submit(tessera_op op, const tessera_matrix* A, const tessera_matrix* B) {
  return submit(
      "tessera_getrs_nopiv_submit", [](auto... x) { getrs_nopiv(x...); }, choice("op", op), Operand{"A", A},
      Operand{"B", B});
}

tessera_status tessera_gesv_nopiv_submit(const tessera_matrix* A, const tessera_matrix* B, tessera_growth** growth,
                                         tessera_info** info) {
  return submit(
      "tessera_gesv_nopiv_submit",
      [](const auto& a, const auto& b, auto** g, auto** made) {
        give_unpivoted([&](Growth* measured) { return gesv_nopiv(a, b, measured); }, g, made);
      },
      Operand{"A", A}, Operand{"B", B}, result("growth", growth, true), result("info", info));
}

tessera_status tessera_trtri_submit(tessera_uplo uplo, tessera_diag diag, const tessera_matrix* A,
                                    tessera_info** info) {
  return submit(
      "tessera_trtri_submit",
      [](Uplo triangle, Diag diagonal, const auto& a, auto** made) {
        *made = new tessera_info{trtri(triangle, diagonal, a)};
      },
      choice("uplo", uplo), choice("diag", diag), Operand{"A", A}, result("result", info));
}

tessera_status tessera_lauum_submit(tessera_uplo uplo, const tessera_matrix* A) {
  return submit(
      "tessera_lauum_submit", [](auto... x) { lauum(x...); }, choice("uplo", uplo), Operand{"A", A});
}

tessera_status tessera_potri_submit(tessera_uplo uplo, const tessera_matrix* A, tessera_info** info) {
  return submit(
      "tessera_potri_submit",
      [](Uplo triangle, const auto& a, auto** made) { *made = new tessera_info{potri(triangle, a)}; },
      choice("uplo", uplo), Operand{"A", A}, result("result", info));
}

tessera_status tessera_getri_submit(const tessera_matrix* A, const tessera_pivots* pivots, tessera_info** info) {
  return submit(
      "tessera_getri_submit",
      [](const auto& a, const auto* p, auto** made) { *made = new tessera_info{getri(a, p->pivots)}; }, Operand{"A", A},
      Given{"pivots", pivots}, result("result", info));
}

tessera_status tessera_laswp_submit(const tessera_matrix* A, const tessera_pivots* pivots, int64_t incx) {
  return submit(
      "tessera_laswp_submit", [](const auto& a, const auto* p, int64_t step) { laswp(a, p->pivots, step); },
      Operand{"A", A}, Given{"pivots", pivots}, incx);
}

tessera_status tessera_geqrf_submit(const tessera_matrix* A, tessera_reflectors** reflectors) {
  return submit(
      "tessera_geqrf_submit", [](const auto& a, auto** made) { *made = new tessera_reflectors{geqrf(a)}; },
      Operand{"A", A}, result("reflectors", reflectors));
}

tessera_status tessera_unmqr_submit(tessera_side side, tessera_op op, const tessera_matrix* A,
                                    const tessera_reflectors* reflectors, const tessera_matrix* C) {
  return submit(
      "tessera_unmqr_submit",
      [](Side which, Op operation, const auto& a, const auto* r, const auto& c) {
        unmqr(which, operation, a, r->reflectors, c);
      },
      choice("side", side), choice("op", op), Operand{"A", A}, Given{"reflectors", reflectors}, Operand{"C", C});
}

tessera_status tessera_ungqr_submit(const tessera_matrix* A, const tessera_reflectors* reflectors) {
  return submit(
      "tessera_ungqr_submit", [](const auto& a, const auto* r) { ungqr(a, r->reflectors); }, Operand{"A", A},
      Given{"reflectors", reflectors});
}

tessera_status tessera_gels_submit(tessera_op op, const tessera_matrix* A, const tessera_matrix* B,
                                   tessera_info** info) {
  return submit(
      "tessera_gels_submit",
      [](Op operation, const auto& a, const auto& b, auto** made) { *made = new tessera_info{gels(operation, a, b)}; },
      choice("op", op), Operand{"A", A}, Operand{"B", B}, result("info", info));
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

tessera_status tessera_pivots_wait(const tessera_pivots* pivots, int64_t* ipiv) {
  constexpr const char* function = "tessera_pivots_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "pivots", pivots);
    std::ranges::copy(pivots->pivots.wait(), require_pointer(function, 2, "ipiv", ipiv));
  });
}

struct _starpu_data_state* tessera_pivots_handle(const tessera_pivots* pivots, int64_t k) {
  return pivots == nullptr || k < 0 || k >= pivots->pivots.panels() ? nullptr : pivots->pivots.handle(k);
}

void tessera_pivots_destroy(tessera_pivots* pivots) { delete pivots; }

tessera_status tessera_growth_wait(const tessera_growth* growth, double* value) {
  constexpr const char* function = "tessera_growth_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "growth", growth);
    *require_pointer(function, 2, "value", value) = growth->growth.wait();
  });
}

void tessera_growth_destroy(tessera_growth* growth) { delete growth; }

tessera_status tessera_reflectors_wait(const tessera_reflectors* reflectors, char type, void* tau) {
  constexpr const char* function = "tessera_reflectors_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "reflectors", reflectors);
    require_type(function, 2, type);
    require_pointer(function, 3, "tau", tau);
    with_type(type, [&]<Scalar T>(T /*element*/) { reflectors->reflectors.wait(static_cast<T*>(tau)); });
  });
}

void tessera_reflectors_destroy(tessera_reflectors* reflectors) { delete reflectors; }

}  // extern "C"
