// SPDX-License-Identifier: BSD-3-Clause
// symm and hemm: a product in which the tiles of A that are not stored are (conjugate) transposes of stored ones.
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>

#include "blas/arguments.hpp"
#include "codelets/codelet.hpp"
#include "common/mirror.hpp"
#include "conformable.hpp"
#include "operands.hpp"
#include "runtime/process_session.hpp"
#include "tiling/plan.hpp"
#include "unroll/accumulate.hpp"
#include "unroll/scale.hpp"

namespace tessera {

using namespace detail;

namespace {

template <Scalar T, bool hermitian>
starpu_codelet& diagonal_codelet() {
  if constexpr (hermitian) return codelets::hemm<T>();
  else return codelets::symm<T>();
}

template <Scalar T, bool hermitian>
void multiply(const char* routine, Side side, Uplo uplo, T alpha, const Matrix<T>& A, const Matrix<T>& B, T beta,
              const Matrix<T>& C, const Plan* plan = nullptr) {
  using namespace arguments;
  require_legal(routine, first_of({illegal_side(1, side), illegal_uplo(2, uplo)}));
  const bool left = side == Side::Left;
  require_square(routine, 4, "A", A);
  require_equal(routine, 5, "B", left ? "rows" : "columns", left ? B.m() : B.n(), "A", A.m());
  require_equal(routine, 7, "C", "rows", C.m(), "B", B.m());
  require_equal(routine, 7, "C", "columns", C.n(), "B", B.n());
  require_writable(routine, 7, "C", C);
  if (C.m() == 0 || C.n() == 0) return;
  // On a transposed view of C, Cᵀ ← α A Bᵀ + β Cᵀ, the stored C gets C ← α B A + β C if Aᵀ = A. If the view of A is its
  // conjugate (Aᵀ of a Hermitian A, Aᴴ of a symmetric A), the view of C must be conjugated, too.
  if (conjugates<T, hermitian>(A) != conjugates<T, hermitian>(C)) refuse_conjugate(routine, 4, "A");
  const auto& session = MatrixAccess::session(C);
  alpha = conjugated_if<T>(is_conjugated(C), alpha), beta = conjugated_if<T>(is_conjugated(C), beta);
  name_operand(A, 'A'), name_operand(B, 'B'), name_operand(C, 'C');
  if (alpha == T{}) return unroll::submit_scale<T>(session, beta, C.stored());

  if (B.op() != C.op())
    throw ArgumentError(routine, 5, "B", "must be seen through the same transpose as C: B would have to be transposed");
  require_same_tiles(routine, 4, "A", "rows", row_cut(A), "its columns", column_cut(A));
  require_same_tiles(routine, 5, "B", left ? "rows" : "columns", left ? row_cut(B) : column_cut(B), "A", row_cut(A));
  require_same_tiles(routine, 7, "C", "rows", row_cut(C), "the rows of B", row_cut(B));
  require_same_tiles(routine, 7, "C", "columns", column_cut(C), "the columns of B", column_cut(B));
  require_disjoint(routine, 7, "C", C, "A", A);
  require_disjoint(routine, 7, "C", C, "B", B);

  const auto S = A.stored(), factor = B.stored(), result = C.stored();
  const bool from_left = left != is_transposed(C);
  const Uplo triangle = flipped_if(is_transposed(A), uplo);
  unroll::accumulate(
      session, plan != nullptr ? *plan : plan_of<T>(session.machine(), result, Part::All, S), result, Part::All, beta,
      [&](auto& submitter, const unroll::Step& s, const unroll::Target<T>& target) {
        const Index i = from_left ? s.i : s.k, k = from_left ? s.k : s.j;  // the tile of A
        const bool mirrored = (triangle == Uplo::Lower) == (i < k);
        const unroll::Access a{mirrored ? S.handle(k, i) : S.handle(i, k), STARPU_R};
        const unroll::Access b{from_left ? factor.handle(k, s.j) : factor.handle(s.i, i), STARPU_R};
        const unroll::Access c{target.handle, target.mode};
        const codelets::Work work{product_flops<T>(result.tile_m(s.i), result.tile_n(s.j), S.tile_m(s.k)),
                                  type_letter<T>};
        if (i == k) {
          const codelets::SymmArgs<T> args{work, from_left ? Side::Left : Side::Right, triangle, alpha, target.beta};
          submitter.submit(diagonal_codelet<T, hermitian>(), {a, b, c}, args, target.owner, target.wanted_next);
        } else {
          const Op op = mirrored ? codelets::mirror<hermitian> : Op::NoTrans;
          const codelets::GemmArgs<T> args{work, from_left ? op : Op::NoTrans, from_left ? Op::NoTrans : op, alpha,
                                           target.beta};
          submitter.submit(codelets::gemm<T>(), {from_left ? a : b, from_left ? b : a, c}, args, target.owner,
                           target.wanted_next);
        }
      });
}

template <Scalar T, bool hermitian>
void compute(const char* routine, Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B,
             Index ldb, T beta, T* C, Index ldc) {
  if (m == 0 || n == 0 || (alpha == T{} && beta == T(1))) return;
  const auto session = session_to_wait(routine);
  const auto plan = plan_symmetric<T>(session->machine(), side, m, n);
  const auto c = private_output(session, plan, C, m, n, ldc);
  if (alpha == T{}) {  // A and B are not read, and may be null
    unroll::submit_scale<T>(*session, beta, c);
    return c.wait();
  }
  const Index order = side == Side::Left ? m : n;
  const auto a = stored_triangle(session, uplo, A, order, lda, plan.tile.k);
  const auto b = MatrixAccess::matrix(session, B, m, n, ldb, {plan.tile.m, plan.tile.n});
  multiply<T, hermitian>(routine, side, uplo, alpha, a, b, beta, c, &plan);
  c.wait();
}

/// Row-major memory, read as column-major, holds transposes: Cᵀ ← α Bᵀ Aᵀ + β Cᵀ. A is then on the other side and
/// stored in the other triangle. A symmetric Aᵀ is A; a Hermitian Aᵀ is the conjugate of A, and is what the memory
/// holds.
template <Scalar T, bool hermitian>
void call(const char* routine, std::optional<Layout> layout, Side side, Uplo uplo, Index m, Index n, T alpha,
          const T* A, Index lda, const T* B, Index ldb, T beta, T* C, Index ldc) {
  const bool rows = layout == Layout::RowMajor;
  arguments::require_legal_call(
      routine, arguments::SymmetricCall{{sizeof(T), rows}, side, uplo, m, n, A, lda, B, ldb, C, ldc, alpha != T{}},
      layout);
  compute<T, hermitian>(routine, flipped_if(rows, side), flipped_if(rows, uplo), rows ? n : m, rows ? m : n, alpha, A,
                        lda, B, ldb, beta, C, ldc);
}

}  // namespace

template <Scalar T>
void symm(Side side, Uplo uplo, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
          std::type_identity_t<T> beta, const Matrix<T>& C) {
  multiply<T, false>("symm", side, uplo, alpha, A, B, beta, C);
}
template <ComplexScalar T>
void hemm(Side side, Uplo uplo, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
          std::type_identity_t<T> beta, const Matrix<T>& C) {
  multiply<T, true>("hemm", side, uplo, alpha, A, B, beta, C);
}

template <Scalar T>
void symm(Side side, Uplo uplo, Index m, Index n, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
          Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("symm", {}, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <Scalar T>
void symm(Layout layout, Side side, Uplo uplo, Index m, Index n, std::type_identity_t<T> alpha, const T* A, Index lda,
          const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, false>("symm", layout, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <ComplexScalar T>
void hemm(Side side, Uplo uplo, Index m, Index n, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
          Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, true>("hemm", {}, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}
template <ComplexScalar T>
void hemm(Layout layout, Side side, Uplo uplo, Index m, Index n, std::type_identity_t<T> alpha, const T* A, Index lda,
          const T* B, Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  call<T, true>("hemm", layout, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
}

#define INSTANTIATE(routine, T)                                                                          \
  template void routine<T>(Side, Uplo, T, const Matrix<T>&, const Matrix<T>&, T, const Matrix<T>&);      \
  template void routine<T>(Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index); \
  template void routine<T>(Layout, Side, Uplo, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);
INSTANTIATE(symm, float)
INSTANTIATE(symm, double)
INSTANTIATE(symm, std::complex<float>)
INSTANTIATE(symm, std::complex<double>)
INSTANTIATE(hemm, std::complex<float>)
INSTANTIATE(hemm, std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera
