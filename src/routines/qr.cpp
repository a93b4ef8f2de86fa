// SPDX-License-Identifier: BSD-3-Clause
// geqrf, unmqr and ungqr: QR factorization, and the unitary factor.
#include <algorithm>
#include <string>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "conformable.hpp"
#include "on_host.hpp"
#include "plan/plans.hpp"
#include "qr_panels.hpp"
#include "runtime/process_session.hpp"

namespace tessera {

namespace routines {

namespace {

// --- on matrices -----------------------------------------------------------------------------------------------------

template <Scalar T>
detail::ReflectorTiles& require_reflectors_of(const char* routine, int position, const Reflectors& reflectors,
                                              const Matrix<T>& A) {
  auto& tiles = detail::ReflectorsAccess::tiles(reflectors);
  if (tiles.rows() != A.m() || tiles.columns() != A.n() || (A.n() > 0 && tiles.panel() != A.nb()) ||
      tiles.type() != type_letter<T>)
    throw ShapeError(routine, position, "reflectors", "belong to a matrix of another size or type, or in other panels");
  return tiles;
}

// --- on pointers -----------------------------------------------------------------------------------------------------

template <Scalar T>
void geqrf_on_pointers(const Layout* given, Index m, Index n, T* A, Index lda, T* tau) {
  require_legal("geqrf", LAPACK_CALL(geqrf, reflectors), given);
  if (m == 0 || n == 0) return;
  const auto session = runtime::session_to_wait("geqrf");
  ColumnMajorCopy<T> columns(layout_of(given), A, m, n, lda);
  const auto plan =
      plan::plan_geqrf(machine_for(*session, {memory_of(columns.data(), m, n, columns.ld())}), type_letter<T>, m, n);
  {
    const auto a = private_output(session, plan, columns.data(), m, n, columns.ld());
    const auto reflectors = reflectors_of(a);
    submit_geqrf(plan, a, *reflectors, false);
    a.wait();
    reflectors->wait(tau);
  }
  columns.copy_back();
}

template <Scalar T>
void unmqr_on_pointers(const Layout* given, Side side, Op op, Index m, Index n, Index k, const T* A, Index lda,
                       const T* tau, T* B, Index ldb) {
  require_legal("unmqr", LAPACK_CALL(unmqr, unitary_product), given);
  const Index order = side == Side::Left ? m : n;
  if (m == 0 || n == 0 || k == 0) return;
  const auto session = runtime::session_to_wait("unmqr");
  const auto layout = layout_of(given);
  ColumnMajorCopy<T> vectors(layout, const_cast<T*>(A), order, k, lda),
      columns(layout, B, m, n, ldb);  // A is only read
  const auto plan = plan::plan_geqrf(machine_for(*session, {memory_of(vectors.data(), order, k, vectors.ld()),
                                                            memory_of(columns.data(), m, n, columns.ld())}),
                                     type_letter<T>, order, k);
  {
    const auto v = factored_panels<T>(session, plan, vectors.data(), order, k, vectors.ld());
    const auto c = reflected_panels(session, plan, side, columns.data(), m, n, columns.ld());
    const auto reflectors = given_reflectors(plan, v, tau);
    name_operand(v, 'A'), name_operand(c, 'C');
    submit_qr(plan, v, *reflectors, c, [&](auto& to) { algorithms::unmqr(to, side, is_adjoint(op), c); });
    c.wait();
  }
  columns.copy_back();
}

/// Sets the columns of C from `first` on to those of the identity.
template <Scalar T>
void set_columns_of_identity([[maybe_unused]] Index m, [[maybe_unused]] Index n, [[maybe_unused]] Index first,
                             [[maybe_unused]] T* C, [[maybe_unused]] Index ldc) {
#ifndef STARPU_SIMGRID  // simulated matrices have no elements
  OnHost<T> columns(C, m, n, ldc, HostUse::Writes);
  for (Index j = 0; j < n; j++) {
    std::fill_n(columns.data() + j * columns.ld(), m, T{});
    columns.data()[first + j + j * columns.ld()] = T(1);
  }
  columns.finish();
#endif
}

template <Scalar T>
void ungqr_on_pointers(const Layout* given, Index m, Index n, Index k, T* A, Index lda, const T* tau) {
  require_legal("ungqr", LAPACK_CALL(ungqr, unitary_factor), given);
  if (n == 0) return;
  const auto session = runtime::session_to_wait("ungqr");
  ColumnMajorCopy<T> columns(layout_of(given), A, m, n, lda);
  T* const rest = columns.data() + k * columns.ld();
  // Before A changes, in case there is no plan.
  const auto plan = plan::plan_geqrf(machine_for(*session, {memory_of(columns.data(), m, n, columns.ld())}),
                                     type_letter<T>, m, std::max<Index>(k, 1));
  set_columns_of_identity(m, n - k, k, rest, columns.ld());
  if (k > 0) {
    const auto a = private_output(session, plan, columns.data(), m, k, columns.ld());
    const auto reflectors = given_reflectors(plan, a, tau);
    name_operand(a, 'A');
    if (n > k) {
      const auto c = reflected_panels(session, plan, Side::Left, rest, m, n - k, columns.ld());
      name_operand(c, 'C');
      submit_qr(plan, a, *reflectors, c, [&](auto& to) { algorithms::unmqr(to, Side::Left, false, c); });
      c.wait();
    }
    submit_qr(plan, a, *reflectors, a, [](auto& to) { algorithms::ungqr(to); });
    a.wait();
  }
  columns.copy_back();
}

}  // namespace

}  // namespace routines

template <Scalar T>
void Reflectors::wait(T* tau) const {
  if (tiles_->type() != type_letter<T>)
    throw ArgumentError("Reflectors::wait", 1, "tau",
                        std::string("is of type ") + type_letter<T> + ", must be of type " + tiles_->type());
  tiles_->wait(tau);
}

template <Scalar T>
Reflectors geqrf(const Matrix<T>& A) {
  const routines::MatrixArgument at_a{"geqrf", 1, "A"};
  routines::require_full_panels(at_a, A);
  routines::require_in_place(at_a, A);
  auto reflectors = routines::reflectors_of(A);
  if (A.m() > 0 && A.n() > 0) routines::submit_geqrf(routines::panels_of(A), A, *reflectors, true);
  return detail::ReflectorsAccess::reflectors(std::move(reflectors));
}

template <Scalar T>
void unmqr(Side side, Op op, const Matrix<T>& A, const Reflectors& reflectors, const Matrix<T>& C) {
  routines::require_legal_options(
      {.routine = blas::LapackRoutine::unmqr, .type = type_letter<T>, .side = side, .op = op});
  routines::require_tall_panels({"unmqr", 3, "A"}, A);
  auto& tiles = routines::require_reflectors_of("unmqr", 4, reflectors, A);
  const routines::MatrixArgument at_c{"unmqr", 5, "C"};
  const bool left = side == Side::Left;
  routines::require_stored(at_c, C);
  routines::require_equal(at_c, left ? "rows" : "columns", left ? C.m() : C.n(), "the rows of A", A.m());
  routines::require_equal(at_c, left ? "rows of tiles" : "columns of tiles", left ? C.mt() : C.nt(), "A", A.mt());
  routines::require_values({"unmqr", 3, "A"}, A);
  routines::require_in_place(at_c, C);
  routines::require_disjoint(at_c, C, "A", A);
  if (A.n() == 0 || C.m() == 0 || C.n() == 0) return;
  routines::name_operand(A, 'A'), routines::name_operand(C, 'C');
  routines::submit_qr(routines::panels_of(A), A, tiles, C,
                      [&](auto& to) { algorithms::unmqr(to, side, routines::is_adjoint(op), C); });
}

template <Scalar T>
void ungqr(const Matrix<T>& A, const Reflectors& reflectors) {
  const routines::MatrixArgument at_a{"ungqr", 1, "A"};
  routines::require_tall_panels(at_a, A);
  routines::require_in_place(at_a, A);
  auto& tiles = routines::require_reflectors_of("ungqr", 2, reflectors, A);
  routines::name_operand(A, 'A');
  if (A.n() > 0) routines::submit_qr(routines::panels_of(A), A, tiles, A, [](auto& to) { algorithms::ungqr(to); });
}

DEFINE_ON_POINTERS(void, geqrf, (Scalar T), (Index m, Index n, T* A, Index lda, T* tau), geqrf_on_pointers,
                   (m, n, A, lda, tau))
DEFINE_ON_POINTERS(void, unmqr, (Scalar T),
                   (Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc),
                   unmqr_on_pointers, (side, op, m, n, k, A, lda, tau, C, ldc))
DEFINE_ON_POINTERS(void, ungqr, (Scalar T), (Index m, Index n, Index k, T* A, Index lda, const T* tau),
                   ungqr_on_pointers, (m, n, k, A, lda, tau))

#define INSTANTIATE_QR(letter, T, ...)                                                                         \
  template void Reflectors::wait<T>(T*) const;                                                                 \
  template Reflectors geqrf<T>(const Matrix<T>&);                                                              \
  INSTANTIATE_ON_POINTERS(void, geqrf<T>, Index, Index, T*, Index, T*)                                         \
  template void unmqr<T>(Side, Op, const Matrix<T>&, const Reflectors&, const Matrix<T>&);                     \
  INSTANTIATE_ON_POINTERS(void, unmqr<T>, Side, Op, Index, Index, Index, const T*, Index, const T*, T*, Index) \
  template void ungqr<T>(const Matrix<T>&, const Reflectors&);                                                 \
  INSTANTIATE_ON_POINTERS(void, ungqr<T>, Index, Index, Index, T*, Index, const T*)
FOR_SDCZ(INSTANTIATE_QR, )

}  // namespace tessera
