// SPDX-License-Identifier: BSD-3-Clause
// gels: least squares, and smallest solutions, by QR factorization.
#include <algorithm>
#include <memory>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "conformable.hpp"
#include "info.hpp"
#include "qr_panels.hpp"
#include "runtime/process_session.hpp"

namespace tessera {

namespace detail {

namespace {

/// The tasks of a problem with A = Q R, which has at least as many rows as columns.
template <Scalar T>
class LeastSquares {
 public:
  LeastSquares(const Plan& plan, Op op, const Matrix<T>& A, const Matrix<T>& B)
      : plan_(plan), op_(op == Op::NoTrans ? op : Op::ConjTrans), A_(A), B_(B), reflectors_(reflectors_of(A)) {}

  void factorize(const Outcome& outcome) {
    // The last task deletes it. If a submission fails, tasks may still use it, and it is lost.
    auto* const value = new codelets::InfoValue;
    submit_geqrf(plan_, A_, *reflectors_, true, value);
    name_operand(B_, 'B');
    submit(A_, [&](auto& to) { to.outcome(outcome.handle(), value); });
  }
  /// What comes before R is divided by, which must have no zero on its diagonal.
  void begin() {
    if (op_ == Op::NoTrans) reflect();
  }
  void end() {
    submit(B_, [&](auto& to) { algorithms::solve_with_r(to, op_, B_); });
    if (op_ != Op::NoTrans) reflect();
  }

 private:
  void submit(const Matrix<T>& output, auto algorithm) { submit_qr(plan_, A_, *reflectors_, output, algorithm); }
  void reflect() {
    submit(B_, [&](auto& to) { algorithms::unmqr(to, Side::Left, op_ == Op::NoTrans, B_); });
  }

  const Plan& plan_;
  Op op_;
  const Matrix<T>&A_, &B_;
  std::shared_ptr<ReflectorTiles> reflectors_;
};

template <Scalar T>
bool is_zero(Index m, Index n, const T* A, Index lda) {
  for (Index j = 0; j < n; j++)
    if (!std::all_of(A + j * lda, A + j * lda + m, [](T x) { return x == T{}; })) return false;
  return true;
}
template <Scalar T>
void clear_rows([[maybe_unused]] Index begin, [[maybe_unused]] Index end, [[maybe_unused]] Index n,
                [[maybe_unused]] T* B, [[maybe_unused]] Index ldb) {
#ifndef STARPU_SIMGRID  // simulated matrices have no elements
  for (Index j = 0; j < n; j++) std::fill(B + begin + j * ldb, B + end + j * ldb, T{});
#endif
}

/// @pre  m ≥ n
template <Scalar T>
Index solve_tall(Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) {
  const auto session = session_to_wait("gels");
  const auto plan = plan_qr<T>(session->machine(), m, n);
  if (op != Op::NoTrans) clear_rows(n, m, nrhs, B, ldb);
  const auto a = private_output(session, plan, A, m, n, lda);
  const auto b = reflected_panels(session, plan, Side::Left, B, m, nrhs, ldb);
  const Outcome outcome(session);
  LeastSquares<T> problem(plan, op, a, b);
  problem.factorize(outcome);
  problem.begin();
  a.start_write_back();
  const Index info = outcome.wait();
  if (info == 0) problem.end();
  a.wait();
  b.wait();
  if (info != 1 || !is_zero(m, n, A, lda)) return info;
  clear_rows(0, m, nrhs, B, ldb);  // of a matrix of zeros, LAPACK finds this solution
  return 0;
}

/// Calls visit(i, j) block by block, so that both matrices stay in the cache.
void for_each_in_blocks([[maybe_unused]] Index m, [[maybe_unused]] Index n, [[maybe_unused]] auto visit) {
#ifndef STARPU_SIMGRID  // simulated matrices have no elements
  constexpr Index block = 32;
  for (Index j0 = 0; j0 < n; j0 += block)
    for (Index i0 = 0; i0 < m; i0 += block)
      for (Index j = j0; j < std::min(n, j0 + block); j++)
        for (Index i = i0; i < std::min(m, i0 + block); i++) visit(i, j);
#endif
}

/// With m < n, the adjoint of A is factorized, whose factors are the adjoints of L and Q in LAPACK's LQ factorization.
template <Scalar T>
Index solve_by_adjoint(Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) {
  std::vector<T> adjoint(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  const auto at = [&](Index i, Index j) -> T& { return adjoint[static_cast<std::size_t>(j + i * n)]; };
  const auto conjugate = [](T x) { return conjugated_if(true, x); };
  for_each_in_blocks(m, n, [&](Index i, Index j) { at(i, j) = conjugate(A[i + j * lda]); });
  const Op other = op == Op::NoTrans ? Op::ConjTrans : Op::NoTrans;
  const Index info = solve_tall(other, n, m, nrhs, adjoint.data(), n, B, ldb);
  for_each_in_blocks(m, n, [&](Index i, Index j) { A[i + j * lda] = conjugate(at(i, j)); });
  return info;
}

template <Scalar T>
Index gels_on_pointers(const Layout* given, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) {
  LapackArguments check("gels", given);
  check.unitary_op<T>(op);
  check.size("m", m);
  check.size("n", n);
  check.size("nrhs", nrhs);
  const Index rows = std::max(m, n);
  const bool used = nrhs > 0 && m > 0 && n > 0;
  const auto a = check.matrix("A", "lda", m, n, lda, A, used);
  check.require_disjoint(a, check.matrix("B", "ldb", rows, nrhs, ldb, B, true));
  const auto layout = layout_of(given);
  ColumnMajorCopy<T> right(layout, B, rows, nrhs, ldb);
  Index info = 0;
  if (used) {
    ColumnMajorCopy<T> columns(layout, A, m, n, lda);
    const auto solve = m >= n ? solve_tall<T> : solve_by_adjoint<T>;
    info = solve(op, m, n, nrhs, columns.data(), columns.ld(), right.data(), right.ld());
    columns.copy_back();
  } else clear_rows(0, rows, nrhs, right.data(), right.ld());
  right.copy_back();
  return info;
}

}  // namespace

}  // namespace detail

template <Scalar T>
Info gels(Op op, const Matrix<T>& A, const Matrix<T>& B) {
  detail::LapackArguments check("gels", nullptr);
  check.unitary_op<T>(op);
  const arguments::MatrixArgument at_a{"gels", 2, "A"}, at_b{"gels", 3, "B"};
  detail::require_tall_panels(at_a, A);
  arguments::require_writable(at_a, A);
  detail::require_stored(at_b, B);
  arguments::require_equal(at_b, "rows", B.m(), "A", A.m());
  arguments::require_equal(at_b, "rows of tiles", B.mt(), "A", A.mt());
  arguments::require_writable(at_b, B);
  arguments::require_disjoint(at_b, B, "A", A);
  auto outcome = std::make_shared<detail::Outcome>(detail::MatrixAccess::grid(A).shared_session());
  if (A.n() == 0) {
    outcome->succeed();
  } else {
    const auto plan = detail::panels_of(A);
    detail::LeastSquares<T> problem(plan, op, A, B);
    problem.factorize(*outcome);
    problem.begin();
    problem.end();
  }
  return detail::InfoAccess::info(std::move(outcome));
}

template <Scalar T>
Index gels(Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) {
  return detail::gels_on_pointers(nullptr, op, m, n, nrhs, A, lda, B, ldb);
}
template <Scalar T>
Index gels(Layout layout, Op op, Index m, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) {
  return detail::gels_on_pointers(&layout, op, m, n, nrhs, A, lda, B, ldb);
}

#define INSTANTIATE_GELS(letter, T, ...)                                 \
  template Info gels<T>(Op, const Matrix<T>&, const Matrix<T>&);         \
  template Index gels<T>(Op, Index, Index, Index, T*, Index, T*, Index); \
  template Index gels<T>(Layout, Op, Index, Index, Index, T*, Index, T*, Index);
FOR_SDCZ(INSTANTIATE_GELS, )

}  // namespace tessera
