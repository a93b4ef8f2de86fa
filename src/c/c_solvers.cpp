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
  Info value;
};
struct tessera_pivots {
  Pivots value;
};
struct tessera_growth {
  Growth value;
};
struct tessera_reflectors {
  Reflectors value;
};

namespace {

Operand matrix(const char* name, const tessera_matrix* given) { return {name, given, "the type of A"}; }

/// A result of an earlier function.
template <typename Handle>
struct Given {
  const char* name;
  const Handle* address;

  template <Scalar T>
  const auto& as(const char* function, int position) const {
    return require_pointer(function, position, name, address)->value;
  }
};

/// The place for a new result, which is null until the function succeeds.
template <typename Handle>
struct Place {
  const char* name;
  Handle** address;
  bool may_be_null;

  Place(const char* called, Handle** place, bool optional = false)
      : name(called), address(place), may_be_null(optional) {
    if (address != nullptr) *address = nullptr;
  }
  template <Scalar T>
  Handle** as(const char* function, int position) const {
    return may_be_null ? address : require_pointer(function, position, name, address);
  }
};

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

void give(Info info, tessera_info** place) { *place = new tessera_info{std::move(info)}; }
void give(Reflectors reflectors, tessera_reflectors** place) { *place = new tessera_reflectors{std::move(reflectors)}; }
void give(Pivoted pivoted, tessera_pivots** pivots, tessera_info** info) {
  std::unique_ptr<tessera_pivots> owned(new tessera_pivots{std::move(pivoted.pivots)});
  give(std::move(pivoted.info), info);
  *pivots = owned.release();
}

/// A function that calls `routine` with all of its arguments but the last `places`, which receive the results.
template <std::size_t places, typename Routine>
auto giving(Routine routine) {
  return [routine](const auto&... x) {
    const auto all = std::tie(x...);
    [&]<std::size_t... I, std::size_t... P>(std::index_sequence<I...>, std::index_sequence<P...>) {
      if constexpr (places == 0) routine(std::get<I>(all)...);
      else give(routine(std::get<I>(all)...), std::get<sizeof...(I) + P>(all)...);
    }
    (std::make_index_sequence<sizeof...(x) - places>(), std::make_index_sequence<places>());
  };
}

/// A factorization without pivoting, which stores its info and, if it is wanted, its growth. The two places follow the
/// matrices.
template <typename Routine>
auto giving_growth(Routine routine) {
  return [routine](const auto&... x) {
    constexpr auto matrices = sizeof...(x) - 2;
    const auto all = std::tie(x...);
    auto** const place = std::get<matrices>(all);
    auto growth = place != nullptr ? std::make_unique<tessera_growth>() : nullptr;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      give(routine(std::get<I>(all)..., growth != nullptr ? &growth->value : nullptr), std::get<matrices + 1>(all));
    }
    (std::make_index_sequence<matrices>());
    if (place != nullptr) *place = growth.release();
  };
}

}  // namespace

// The name and the code of a routine whose last arguments are places for results.
#define ROUTINE(name, places) "tessera_" #name "_submit", giving<places>([](const auto&... x) { return name(x...); })
#define ROUTINE_WITH_GROWTH(name) "tessera_" #name "_submit", giving_growth([](const auto&... x) { return name(x...); })

extern "C" {

tessera_status tessera_potrf_submit(tessera_uplo uplo, const tessera_matrix* A, tessera_info** info) {
  return submit(ROUTINE(potrf, 1), choice("uplo", uplo), matrix("A", A), Place("result", info));
}

tessera_status tessera_potrs_submit(tessera_uplo uplo, const tessera_matrix* A, const tessera_matrix* B) {
  return submit(ROUTINE(potrs, 0), choice("uplo", uplo), matrix("A", A), matrix("B", B));
}

tessera_status tessera_posv_submit(tessera_uplo uplo, const tessera_matrix* A, const tessera_matrix* B,
                                   tessera_info** info) {
  return submit(ROUTINE(posv, 1), choice("uplo", uplo), matrix("A", A), matrix("B", B), Place("result", info));
}

tessera_status tessera_getrf_submit(const tessera_matrix* A, tessera_pivots** pivots, tessera_info** info) {
  return submit(ROUTINE(getrf, 2), matrix("A", A), Place("pivots", pivots), Place("info", info));
}

tessera_status tessera_getrs_submit(tessera_op op, const tessera_matrix* A, const tessera_pivots* pivots,
                                    const tessera_matrix* B) {
  return submit(ROUTINE(getrs, 0), choice("op", op), matrix("A", A), Given{"pivots", pivots}, matrix("B", B));
}

tessera_status tessera_gesv_submit(const tessera_matrix* A, const tessera_matrix* B, tessera_pivots** pivots,
                                   tessera_info** info) {
  return submit(ROUTINE(gesv, 2), matrix("A", A), matrix("B", B), Place("pivots", pivots), Place("info", info));
}

tessera_status tessera_getrf_nopiv_submit(const tessera_matrix* A, tessera_growth** growth, tessera_info** info) {
  return submit(ROUTINE_WITH_GROWTH(getrf_nopiv), matrix("A", A), Place("growth", growth, true), Place("info", info));
}

tessera_status tessera_getrs_nopiv_submit(tessera_op op, const tessera_matrix* A, const tessera_matrix* B) {
  return submit(ROUTINE(getrs_nopiv, 0), choice("op", op), matrix("A", A), matrix("B", B));
}

tessera_status tessera_gesv_nopiv_submit(const tessera_matrix* A, const tessera_matrix* B, tessera_growth** growth,
                                         tessera_info** info) {
  return submit(ROUTINE_WITH_GROWTH(gesv_nopiv), matrix("A", A), matrix("B", B), Place("growth", growth, true),
                Place("info", info));
}

tessera_status tessera_trtri_submit(tessera_uplo uplo, tessera_diag diag, const tessera_matrix* A,
                                    tessera_info** info) {
  return submit(ROUTINE(trtri, 1), choice("uplo", uplo), choice("diag", diag), matrix("A", A), Place("result", info));
}

tessera_status tessera_lauum_submit(tessera_uplo uplo, const tessera_matrix* A) {
  return submit(ROUTINE(lauum, 0), choice("uplo", uplo), matrix("A", A));
}

tessera_status tessera_potri_submit(tessera_uplo uplo, const tessera_matrix* A, tessera_info** info) {
  return submit(ROUTINE(potri, 1), choice("uplo", uplo), matrix("A", A), Place("result", info));
}

tessera_status tessera_getri_submit(const tessera_matrix* A, const tessera_pivots* pivots, tessera_info** info) {
  return submit(ROUTINE(getri, 1), matrix("A", A), Given{"pivots", pivots}, Place("result", info));
}

tessera_status tessera_laswp_submit(const tessera_matrix* A, const tessera_pivots* pivots, int64_t incx) {
  return submit(ROUTINE(laswp, 0), matrix("A", A), Given{"pivots", pivots}, incx);
}

tessera_status tessera_geqrf_submit(const tessera_matrix* A, tessera_reflectors** reflectors) {
  return submit(ROUTINE(geqrf, 1), matrix("A", A), Place("reflectors", reflectors));
}

tessera_status tessera_unmqr_submit(tessera_side side, tessera_op op, const tessera_matrix* A,
                                    const tessera_reflectors* reflectors, const tessera_matrix* C) {
  return submit(ROUTINE(unmqr, 0), choice("side", side), choice("op", op), matrix("A", A),
                Given{"reflectors", reflectors}, matrix("C", C));
}

tessera_status tessera_ungqr_submit(const tessera_matrix* A, const tessera_reflectors* reflectors) {
  return submit(ROUTINE(ungqr, 0), matrix("A", A), Given{"reflectors", reflectors});
}

tessera_status tessera_gels_submit(tessera_op op, const tessera_matrix* A, const tessera_matrix* B,
                                   tessera_info** info) {
  return submit(ROUTINE(gels, 1), choice("op", op), matrix("A", A), matrix("B", B), Place("info", info));
}

tessera_status tessera_info_wait(const tessera_info* info, int64_t* value) {
  constexpr const char* function = "tessera_info_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "info", info);
    *require_pointer(function, 2, "value", value) = info->value.wait();
  });
}

struct _starpu_data_state* tessera_info_handle(const tessera_info* info) {
  return info == nullptr ? nullptr : info->value.handle();
}

void tessera_info_destroy(tessera_info* info) { delete info; }

tessera_status tessera_pivots_wait(const tessera_pivots* pivots, int64_t* ipiv) {
  constexpr const char* function = "tessera_pivots_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "pivots", pivots);
    std::ranges::copy(pivots->value.wait(), require_pointer(function, 2, "ipiv", ipiv));
  });
}

struct _starpu_data_state* tessera_pivots_handle(const tessera_pivots* pivots, int64_t k) {
  return pivots == nullptr || k < 0 || k >= pivots->value.panels() ? nullptr : pivots->value.handle(k);
}

void tessera_pivots_destroy(tessera_pivots* pivots) { delete pivots; }

tessera_status tessera_growth_wait(const tessera_growth* growth, double* value) {
  constexpr const char* function = "tessera_growth_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "growth", growth);
    *require_pointer(function, 2, "value", value) = growth->value.wait();
  });
}

void tessera_growth_destroy(tessera_growth* growth) { delete growth; }

tessera_status tessera_reflectors_wait(const tessera_reflectors* reflectors, char type, void* tau) {
  constexpr const char* function = "tessera_reflectors_wait";
  return status_of(function, [&] {
    require_pointer(function, 1, "reflectors", reflectors);
    require_type(function, 2, type);
    require_pointer(function, 3, "tau", tau);
    common::with_type(type, [&]<Scalar T>(T /*element*/) { reflectors->value.wait(static_cast<T*>(tau)); });
  });
}

void tessera_reflectors_destroy(tessera_reflectors* reflectors) { delete reflectors; }

}  // extern "C"
