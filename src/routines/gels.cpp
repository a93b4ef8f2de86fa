// SPDX-License-Identifier: BSD-3-Clause
// gels: least squares, and smallest solutions, by QR factorization.
#include <starpu.h>  // STARPU_SIMGRID

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include <tessera/lapack.hpp>
#include <tessera/types.hpp>

#include "common/blocks.hpp"
#include "common/columns.hpp"
#include "conformable.hpp"
#include "info.hpp"
#include "on_host.hpp"
#include "plan/plans.hpp"
#include "qr_panels.hpp"
#include "runtime/process_session.hpp"
#include "runtime/running_calls.hpp"

namespace tessera {

namespace routines {

namespace {

/// Calls visit(column) for all columns of A, on several threads if it is large.
template <Scalar T>
void for_columns_of(Index m, Index n, T* A, Index lda, auto visit) {
  common::for_columns(n, static_cast<double>(m) * static_cast<double>(n) * sizeof(T), [&](Index first, Index last) {
    for (Index j = first; j < last; j++) visit(std::span(A + j * lda, static_cast<std::size_t>(m)));
  });
}

/// The maximum of magnitude(x) over all elements; NaN if any is NaN.
template <Scalar T>
Real<T> largest(Index m, Index n, T* A, Index lda, auto magnitude) {
  using Bits = std::conditional_t<sizeof(Real<T>) == 4, std::uint32_t, std::uint64_t>;
  std::atomic<Bits> largest = 0;
  for_columns_of(m, n, A, lda, [&](std::span<const T> column) {
    Bits most = 0;  // bits of magnitudes are ordered like their values, and those of NaN come last
    for (const T& x : column) most = std::max(most, std::bit_cast<Bits>(magnitude(x)));
    Bits before = largest;
    while (before < most && !largest.compare_exchange_weak(before, most)) {
    }
  });
  return std::bit_cast<Real<T>>(largest.load());
}

/// A ← factor A
template <Scalar T>
void scale(Index m, Index n, T* A, Index lda, Real<T> factor) {
  if (factor != 1)
    for_columns_of(m, n, A, lda, [&](std::span<T> column) {
      for (T& x : column) x *= factor;
    });
}

template <typename R>
struct Scaling {
  R norm;    ///< norm of the matrix before scaling
  R factor;  ///< factor by which it was multiplied
};

/// Multiplies A such that its largest element is in the range in which LAPACK computes safely. An element outside the
/// range is moved to the nearest end of the range.
template <Scalar T>
Scaling<Real<T>> scale_into_range([[maybe_unused]] Index m, [[maybe_unused]] Index n, [[maybe_unused]] T* A,
                                  [[maybe_unused]] Index lda) {
  using R = Real<T>;
#ifdef STARPU_SIMGRID  // simulated matrices have no elements
  return {R(1), R(1)};
#else
  constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon(), most = 1 / least;
  // The bound is between |x| and 2 |x|, and much faster to compute.
  R norm = largest(m, n, A, lda, [](T x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); });
  if (is_complex<T> && !(norm >= 2 * least && norm <= most))
    norm = largest(m, n, A, lda, [](T x) { return std::abs(x); });
  const R factor = norm > 0 && norm < least ? least / norm : norm > most ? most / norm : R(1);
  scale(m, n, A, lda, factor);
  return {norm, factor};
#endif
}

/// The tasks of a problem with A = Q R, which has at least as many rows as columns.
template <Scalar T>
class LeastSquares {
 public:
  LeastSquares(const algorithms::Plan& plan, Op op, const Matrix<T>& A, const Matrix<T>& B)
      : plan_(plan), op_(op == Op::NoTrans ? op : Op::ConjTrans), A_(A), B_(B), reflectors_(reflectors_of(A)) {}

  /// @param report  see `submit_geqrf`
  void factorize(auto report) {
    submit_geqrf(plan_, A_, *reflectors_, true, report);
    name_operand(B_, 'B');
  }
  /// Submits the tasks that precede the division by R, which must have no zero on its diagonal.
  void begin() {
    if (op_ == Op::NoTrans) reflect();
  }
  void end() {
    submit(B_, [&](auto& to) { algorithms::solve_with_r(to, op_, B_); });
    if (op_ == Op::NoTrans) return;
    submit(B_, [&](auto& to) { algorithms::clear_rows(to, B_, A_.n()); });
    reflect();
  }
  /// Sets the solution to zero if the matrix is zero.
  void clear_if_zero(const detail::Outcome& outcome, const codelets::RankValue& value) {
    submit(B_, [&](auto& to) { algorithms::clear_rows(to, B_, 0, &value.size, outcome.handle()); });
  }
  void end_with(const detail::Outcome& outcome, codelets::OutcomeValue* value) {
    submit(A_, [&](auto& to) { to.outcome(outcome.handle(), value); });
  }

 private:
  void submit(const Matrix<T>& output, auto algorithm) { submit_qr(plan_, A_, *reflectors_, output, algorithm); }
  void reflect() {
    submit(B_, [&](auto& to) { algorithms::unmqr(to, Side::Left, op_ == Op::NoTrans, B_); });
  }

  const algorithms::Plan& plan_;
  Op op_;
  const Matrix<T>&A_, &B_;
  std::shared_ptr<detail::ReflectorTiles> reflectors_;
};

template <Scalar T>
void clear([[maybe_unused]] Index m, [[maybe_unused]] Index n, [[maybe_unused]] T* B, [[maybe_unused]] Index ldb) {
#ifndef STARPU_SIMGRID  // simulated matrices have no elements
  for (Index j = 0; j < n; j++) std::fill_n(B + j * ldb, m, T{});
#endif
}

/// What a problem needs before its operands change.
struct Prepared {
  std::shared_ptr<detail::Session> session;
  algorithms::Plan plan;
};
template <Scalar T>
Prepared prepared(Index m, Index n) {
  const auto session = runtime::session_to_wait("gels");
  return {session, plan::plan_geqrf(session->machine(), type_letter<T>, std::max(m, n), std::min(m, n))};
}

/// @pre  m ≥ n
template <Scalar T>
Index solve_tall(const Prepared& by, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) {
  const auto& [session, plan] = by;
  const auto a = private_output(session, plan, A, m, n, lda);
  const auto b = reflected_panels(session, plan, Side::Left, B, m, nrhs, ldb);
  const detail::Outcome outcome(session);
  LeastSquares<T> problem(plan, op, a, b);
  auto* const zeros = owned_by_tasks<codelets::InfoValue>();
  problem.factorize([&](auto& to) { to.report_zeros_to(zeros); });
  problem.end_with(outcome, zeros);
  problem.begin();
  a.start_write_back();
  const Index info = outcome.wait();
  if (info == 0) problem.end();
  a.wait();
  b.wait();
  return info;
}

/// If m < n, factorizes the adjoint of A. Its factors are the adjoints of L and Q in LAPACK's LQ factorization.
template <Scalar T>
Index solve_by_adjoint(const Prepared& by, Op op, Index m, Index n, Index nrhs, T* A, [[maybe_unused]] Index lda, T* B,
                       Index ldb) {
  const Op other = op == Op::NoTrans ? Op::ConjTrans : Op::NoTrans;
#ifdef STARPU_SIMGRID  // simulated matrices have no elements: the adjoint may be where A is
  return solve_tall(by, other, n, m, nrhs, A, n, B, ldb);
#else
  const auto adjoint = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(m * n));
  const auto for_each = [&](auto visit) {
    common::for_columns(n, static_cast<double>(m) * static_cast<double>(n) * sizeof(T), [&](Index first, Index last) {
      common::for_each_in_blocks(
          m, last - first, [&](Index i, Index j) { visit(A[i + (first + j) * lda], adjoint[first + j + i * n]); });
    });
  };
  for_each([](const T& a, T& x) { x = conjugated_if(true, a); });
  const Index info = solve_tall(by, other, n, m, nrhs, adjoint.get(), n, B, ldb);
  for_each([](T& a, const T& x) { a = conjugated_if(true, x); });
  return info;
#endif
}

/// Scales A and B away from overflow and underflow, as LAPACK does. The factors are those of the scaled A.
template <Scalar T>
Index solve_scaled(Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) {
  const bool plain = op == Op::NoTrans;
  const auto by = prepared<T>(m, n);
  const auto of_a = scale_into_range(m, n, A, lda);
  if (of_a.norm == 0) {
    clear(std::max(m, n), nrhs, B, ldb);
    return 0;
  }
  const auto of_b = scale_into_range(plain ? m : n, nrhs, B, ldb);
  const auto solve = m >= n ? solve_tall<T> : solve_by_adjoint<T>;
  const Index info = solve(by, op, m, n, nrhs, A, lda, B, ldb);
  if (info > 0) return info;
  scale(plain ? n : m, nrhs, B, ldb, of_a.factor);
  scale(plain ? n : m, nrhs, B, ldb, 1 / of_b.factor);
  return 0;
}

template <Scalar T>
Index gels_on_pointers(const Layout* given, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) {
  const auto [a, b] = require_legal("gels", LAPACK_CALL(gels, least_squares), given);
  const Index rows = std::max(m, n);
  const auto layout = layout_of(given);
  OnHost<T> stored_b(B, b.m, b.n, ldb, HostUse::Both);  // the host scales B there
  ColumnMajorCopy<T> right(layout, stored_b.data(), rows, nrhs, stored_b.ld());
  Index info = 0;
  if (a.used && m > 0 && n > 0) {
    OnHost<T> stored_a(A, a.m, a.n, lda, HostUse::Both);
    ColumnMajorCopy<T> columns(layout, stored_a.data(), m, n, stored_a.ld());
    info = solve_scaled(op, m, n, nrhs, columns.data(), columns.ld(), right.data(), right.ld());
    columns.copy_back();
    stored_a.finish();
  } else clear(rows, nrhs, right.data(), right.ld());
  right.copy_back();
  stored_b.finish();
  return info;
}

}  // namespace

}  // namespace routines

template <Scalar T>
Info gels(Op op, const Matrix<T>& A, const Matrix<T>& B) {
  routines::require_legal_options({.routine = blas::LapackRoutine::gels, .type = type_letter<T>, .op = op});
  const routines::MatrixArgument at_a{"gels", 2, "A"}, at_b{"gels", 3, "B"};
  routines::require_tall_panels(at_a, A);
  routines::require_in_place(at_a, A);
  routines::require_stored(at_b, B);
  routines::require_equal(at_b, "rows", B.m(), "A", A.m());
  routines::require_equal(at_b, "rows of tiles", B.mt(), "A", A.mt());
  routines::require_in_place(at_b, B);
  routines::require_disjoint(at_b, B, "A", A);
  const runtime::WholeCall whole(detail::MatrixAccess::session(A));
  auto outcome = std::make_shared<detail::Outcome>(detail::MatrixAccess::grid(A).shared_session());
  outcome->succeed();  // so that it has a value: tasks that measure read it
  if (A.n() > 0) {
    const auto plan = routines::panels_of(A);
    routines::LeastSquares<T> problem(plan, op, A, B);
    auto* const rank = routines::owned_by_tasks<codelets::RankValue>();
    problem.factorize([&](auto& to) {
      to.report_zeros_to(&rank->zeros);
      to.report_size_to(&rank->size, outcome->handle());
    });
    problem.begin();
    problem.end();
    problem.clear_if_zero(*outcome, *rank);
    problem.end_with(*outcome, rank);
  }
  return detail::InfoAccess::info(std::move(outcome));
}

DEFINE_ON_POINTERS(Index, gels, (Scalar T), (Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb),
                   gels_on_pointers, (op, m, n, nrhs, A, lda, B, ldb))

#define INSTANTIATE_GELS(letter, T, ...)                         \
  template Info gels<T>(Op, const Matrix<T>&, const Matrix<T>&); \
  INSTANTIATE_ON_POINTERS(Index, gels<T>, Op, Index, Index, Index, T*, Index, T*, Index)
FOR_SDCZ(INSTANTIATE_GELS, )

}  // namespace tessera
