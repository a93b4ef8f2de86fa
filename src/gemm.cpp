// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>
#include <vector>

#include "arguments.hpp"
#include "codelets/codelet.hpp"
#include "conformable.hpp"
#include "planning.hpp"
#include "session.hpp"
#include "unroll/order.hpp"
#include "unroll/submit.hpp"

namespace tessera {

namespace {

/// An operand of a product: the stored tiles and what is done with them.
template <Scalar T>
struct Factor {
  Matrix<T> tiles;
  bool transpose, conjugate;

  Op op() const { return !transpose ? Op::NoTrans : conjugate ? Op::ConjTrans : Op::Trans; }
  Matrix<T> seen() const { return transpose ? tiles.transposed() : tiles; }  ///< but for the conjugation
  Factor transposed(bool conjugated) const { return {tiles, !transpose, conjugate != conjugated}; }
};

template <Scalar T>
Factor<T> factor(const Matrix<T>& A, Op op) {
  const bool conjugate = (A.op() == Op::ConjTrans) != (op == Op::ConjTrans);
  return {A.stored(), (A.op() != Op::NoTrans) != (op != Op::NoTrans), is_complex<T> && conjugate};
}

/// C ← β C
template <Scalar T>
void submit_scale(const detail::Session& session, T beta, const Matrix<T>& C) {
  if (beta == T(1)) return;
  const auto owners = detail::owner_grid(session.gpu_count());
  const bool owned = session.placement() == Placement::Owner;
  unroll::Submitter submitter(session);
  for (Index j = 0; j < C.nt(); j++)
    for (Index i = 0; i < C.mt(); i++) {
      const double elements = static_cast<double>(C.tile_m(i)) * static_cast<double>(C.tile_n(j));
      const codelets::ScaleArgs<T> args{{elements, type_letter<T>}, beta};
      submitter.submit(codelets::scale<T>(), {{C.handle(i, j), beta == T{} ? STARPU_W : STARPU_RW}}, args,
                       owned ? unroll::owner_of(owners, i, j) : -1);
    }
}

/// C ← α op(A) op(B) + β C on tiles that fit together, α ≠ 0 and k > 0; C as it is stored.
template <Scalar T>
void submit_product(const detail::Session& session, T alpha, const Factor<T>& A, const Factor<T>& B, T beta,
                    const Matrix<T>& C) {
  const auto a = A.seen(), b = B.seen();
  const Index terms = a.nt();
  const auto owners = detail::owner_grid(session.gpu_count());
  const bool owned = session.placement() == Placement::Owner;
  const auto blocks = detail::block_of_tiles<T>(session, C.mb());
  std::vector<starpu_data_handle_t> sums(static_cast<std::size_t>(C.mt() * C.nt()));  // of deferred tiles
  unroll::Submitter submitter(session);
  for (const auto& step :
       unroll::product_order(C.mt(), C.nt(), terms, blocks.rows, blocks.columns, owned ? &owners : nullptr)) {
    const double elements = static_cast<double>(C.tile_m(step.i)) * static_cast<double>(C.tile_n(step.j));
    const auto c = C.handle(step.i, step.j);
    const bool deferred = step.deferred && beta != T{} && terms > 1;
    auto& sum = sums[static_cast<std::size_t>(step.i + step.j * C.mt())];
    if (deferred && step.term == 0) sum = unroll::temporary_tile(C.tile_m(step.i), C.tile_n(step.j), sizeof(T));

    const T factor = step.term > 0 ? T(1) : deferred ? T(0) : beta;
    const codelets::GemmArgs<T> product{
        {flops_per_multiply_add<T> * elements * static_cast<double>(a.tile_n(step.k)), type_letter<T>},
        A.op(),
        B.op(),
        alpha,
        factor};
    submitter.submit(codelets::gemm<T>(),
                     {{a.handle(step.i, step.k), STARPU_R},
                      {b.handle(step.k, step.j), STARPU_R},
                      {deferred ? sum : c, factor == T{} ? STARPU_W : STARPU_RW}},
                     product, step.owner, deferred && step.term == terms / 2 ? c : nullptr);
    if (deferred && step.term == terms - 1) {
      const codelets::AddArgs<T> addition{{elements, type_letter<T>}, beta};
      submitter.submit(codelets::add<T>(), {{sum, STARPU_R}, {c, STARPU_RW}}, addition, step.owner);
      starpu_data_unregister_submit(sum);
    }
  }
}

}  // namespace

template <Scalar T>
void gemm(Op op_a, Op op_b, std::type_identity_t<T> alpha, const Matrix<T>& A, const Matrix<T>& B,
          std::type_identity_t<T> beta, const Matrix<T>& C) {
  using namespace arguments;
  require_legal("gemm", illegal_op(1, "op_a", op_a));
  require_legal("gemm", illegal_op(2, "op_b", op_b));
  const auto left = factor(A, op_a), right = factor(B, op_b);
  const auto a = left.seen(), b = right.seen();
  require_equal("gemm", 5, "B", "rows", b.m(), "the columns of op(A)", a.n());
  require_equal("gemm", 7, "C", "rows", C.m(), "the rows of op(A)", a.m());
  require_equal("gemm", 7, "C", "columns", C.n(), "the columns of op(B)", b.n());
  require_writable("gemm", 7, "C", C);
  if (C.m() == 0 || C.n() == 0) return;
  const auto session = detail::session();
  // Cᵀ ← α A B + β Cᵀ is C ← α Bᵀ Aᵀ + β C, and with the conjugate transpose the scalars are conjugated too.
  const bool turned = C.op() != Op::NoTrans, conjugate = is_complex<T> && C.op() == Op::ConjTrans;
  const auto conj = [&](T x) {
    if constexpr (is_complex<T>) return conjugate ? std::conj(x) : x;
    else return x;
  };
  if (alpha == T{} || a.n() == 0) return submit_scale<T>(*session, conj(beta), C.stored());

  require_same_tiles("gemm", 5, "B", "rows", row_cut(b), "columns of op(A)", column_cut(a));
  require_same_tiles("gemm", 7, "C", "rows", row_cut(C), "rows of op(A)", row_cut(a));
  require_same_tiles("gemm", 7, "C", "columns", column_cut(C), "columns of op(B)", column_cut(b));
  require_disjoint("gemm", 7, "C", C, "A", A);
  require_disjoint("gemm", 7, "C", C, "B", B);
  const auto first = turned ? right.transposed(conjugate) : left, second = turned ? left.transposed(conjugate) : right;
  for (const auto* f : {&first, &second})
    if (f->conjugate && !f->transpose)
      throw ArgumentError("gemm", (f == &first) != turned ? 4 : 5, (f == &first) != turned ? "A" : "B",
                          "would have to be conjugated without being transposed, which is no operation of the BLAS");
  submit_product<T>(*session, conj(alpha), first, second, conj(beta), C.stored());
}

template <Scalar T>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, std::type_identity_t<T> alpha, const T* A, Index lda, const T* B,
          Index ldb, std::type_identity_t<T> beta, T* C, Index ldc) {
  arguments::require_legal("gemm", arguments::first_illegal(arguments::ProductCall{op_a, op_b, m, n, k, A, lda, B, ldb,
                                                                                   C, ldc, alpha != T{}, sizeof(T)}));
  if (m == 0 || n == 0 || ((alpha == T{} || k == 0) && beta == T(1))) return;
  const auto session = detail::session();
  const auto tiles = detail::plan_product<T>(*session, m, n, k);
  const Matrix<T> c(C, m, n, ldc, {tiles.m, tiles.n});
  if (alpha == T{} || k == 0) {  // A and B are not read, and may be null
    submit_scale<T>(*session, beta, c);
    return c.wait();
  }
  const auto input = [](Op op, const T* data, Index rows, Index columns, Index ld, TileSize tile) {
    return op == Op::NoTrans ? Matrix<T>(data, rows, columns, ld, tile)
                             : Matrix<T>(data, columns, rows, ld, {tile.columns, tile.rows});
  };
  const auto a = input(op_a, A, m, k, lda, {tiles.m, tiles.k}), b = input(op_b, B, k, n, ldb, {tiles.k, tiles.n});
  arguments::require_disjoint("gemm", 12, "C", c, "A", a);
  arguments::require_disjoint("gemm", 12, "C", c, "B", b);
  gemm<T>(op_a, op_b, alpha, a, b, beta, c);
  c.wait();
}

#define INSTANTIATE(T)                                                                       \
  template void gemm<T>(Op, Op, T, const Matrix<T>&, const Matrix<T>&, T, const Matrix<T>&); \
  template void gemm<T>(Op, Op, Index, Index, Index, T, const T*, Index, const T*, Index, T, T*, Index);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace tessera
