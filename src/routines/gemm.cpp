// SPDX-License-Identifier: BSD-3-Clause
// gemm and gemmt: products. They differ only in which part of a diagonal tile is computed.
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "algorithms/distributed_product.hpp"
#include "algorithms/plan.hpp"
#include "algorithms/products.hpp"
#include "algorithms/submit_sum.hpp"
#include "compute.hpp"
#include "conformable.hpp"
#include "operands.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera::routines {

namespace {

using blas::Member;

/// How a product over many processes is cut, given their resources and the options of the program.
template <Scalar T>
tile::ProcessBlocks process_blocks(const Matrix<T>& P, const Matrix<T>& Q, const Matrix<T>& result) {
  const auto& share = detail::MatrixAccess::grid(result).share();
  auto model = share.processes->model();
  model.p = share.p, model.q = share.q;
  const auto bytes = [](Index m, Index n) { return sizeof(T) * static_cast<double>(m) * static_cast<double>(n); };
  const tile::TiledProduct product{result.mt(),           result.nt(),           P.nt(),
                                   bytes(P.mb(), P.nb()), bytes(Q.mb(), Q.nb()), bytes(result.mb(), result.nb())};
  return tile::choose_process_blocks(model, product, share.processes->control().blocks);
}

/// C ← α op(A) op(B) + β C
/// @param plan  plan for the tiles of C
/// @param uplo  the triangle of C to compute, in the tiles of `region`; if empty, all of C
template <Scalar T>
void unroll_product(const detail::Session& session, const algorithms::Plan& plan, std::optional<Uplo> uplo, T alpha,
                    const Factor<T>& first, const Factor<T>& second, T beta, const Matrix<T>& result,
                    tile::Region region) {
  const algorithms::Product add{alpha, {first.tiles, first.op()}, {second.tiles, second.op()}, plan.panels, plan.tile};
  const auto& share = detail::MatrixAccess::grid(result).share();
  if (!share.is_distributed() || uplo) return algorithms::submit_sum(session, plan, result, region, beta, false, add);
  const auto P = first.view(), Q = second.view();
  auto blocks = process_blocks(P, Q, result);
  // A tile that serves both as a tile of A and as a tile of B cannot be released chunk by chunk.
  blocks.holds_back = blocks.holds_back && &detail::MatrixAccess::grid(P) != &detail::MatrixAccess::grid(Q);
  const int gpus = session.machine().gpu_count();
  algorithms::accumulate_in_chunks(
      session, blocks,
      share.processes->control().by_columns ? tile::OwnerGrid{1, std::max(gpus, 1)} : tile::owner_grid(gpus), add,
      P.nt(), result, beta);
}

/// The triangle that gemmt computes; empty for gemm.
std::optional<Uplo> computed_triangle(blas::Routine routine, Uplo uplo) {
  return routine == blas::Routine::gemmt ? std::optional(uplo) : std::nullopt;
}

}  // namespace

template <Scalar T>
void submit_product(const TileCall<T>& call) {
  auto uplo = computed_triangle(call.routine, call.uplo);
  const auto at_a = matrix_argument(call.routine, Member::A), at_b = matrix_argument(call.routine, Member::B),
             at_c = matrix_argument(call.routine, Member::C);
  const auto &A = *call.A, &B = *call.B, &C = *call.C;
  const Factor<T> left(A, call.op_a), right(B, call.op_b);
  const auto a = left.view(), b = right.view();
  require_equal(at_b, "rows", b.m(), "the columns of op(A)", a.n());
  if (uplo) require_square(at_c, C);
  require_equal(at_c, "rows", C.m(), "the rows of op(A)", a.m());
  require_equal(at_c, "columns", C.n(), "the columns of op(B)", b.n());
  require_writable(at_c, C);
  if (C.m() == 0 || C.n() == 0) return;
  const auto& session = detail::MatrixAccess::session(C);
  name_operand(A, 'A'), name_operand(B, 'B'), name_operand(C, 'C');
  // Cᵀ ← α A B + β Cᵀ is C ← α Bᵀ Aᵀ + β C. For the conjugate transpose, the scalars are conjugated, too. A triangle of
  // Cᵀ is the opposite triangle of C.
  const bool transposed = is_transposed(C), conjugate = is_conjugated(C);
  const T alpha = conjugated_if<T>(conjugate, call.alpha), beta = conjugated_if<T>(conjugate, call.beta);
  const auto result = C.stored();
  if (uplo) uplo = opposite_if(transposed, *uplo);
  const auto region = computed_tiles(at_c, uplo, result);
  const bool adds_nothing = alpha == T{} || a.n() == 0;
  if (is_read(beta, adds_nothing)) require_values(at_c, result, uplo);
  if (adds_nothing) return algorithms::submit_scale(session, beta, result, region);

  require_values(at_a, A);
  require_values(at_b, B);
  require_same_tiles(at_b, "rows", row_cut(b), "columns of op(A)", column_cut(a));
  require_same_tiles(at_c, "rows", row_cut(C), "rows of op(A)", row_cut(a));
  require_same_tiles(at_c, "columns", column_cut(C), "columns of op(B)", column_cut(b));
  require_disjoint(at_c, C, "A", A);
  require_disjoint(at_c, C, "B", B);
  const auto first = transposed ? right.transposed(conjugate) : left,
             second = transposed ? left.transposed(conjugate) : right;
  require_operation(transposed ? at_b : at_a, first);
  require_operation(transposed ? at_a : at_b, second);
  const auto plan = plan_of(session.machine(), result, region, first.view());
  unroll_product(session, plan, uplo, alpha, first, second, beta, result, region);
}

template <Scalar T>
void compute_product(const std::shared_ptr<detail::Session>& session, const algorithms::Plan& plan,
                     const blas::Call& call) {
  const auto uplo = computed_triangle(call.routine, call.uplo);
  const auto [op_a, op_b, m, n, k] = std::tuple(call.op_a, call.op_b, call.rows(), call.n, call.k);
  const auto [alpha, beta] = Factors<T>(call);
  const auto c = private_output(session, plan, static_cast<T*>(call.C), m, n, call.ldc, uplo);
  const auto region = computed_tiles(matrix_argument(call.routine, Member::C), uplo, c);
  name_operand(c, 'C');
  if (alpha == T{} || k == 0) {  // A and B are not read, and may be null
    algorithms::submit_scale(*session, beta, c, region);
    return c.wait();
  }
  const auto [terms, across] = std::pair(plan.panels.terms, plan.panels.columns);
  const auto a = stored_operand(session, op_a, static_cast<const T*>(call.A), call.lda, plan.rows(m),
                                {k, plan.tile.k, plan.at_the_edges}),
             b = stored_operand(session, op_b, static_cast<const T*>(call.B), call.ldb,
                                {k, terms * plan.tile.k, plan.at_the_edges},
                                across == 1 ? plan.columns(n) : tile::Edges(n, across * plan.tile.n));
  // The letters are those of the program's argument list.
  name_operand(a, call.exchanged ? 'B' : 'A'), name_operand(b, call.exchanged ? 'A' : 'B');
  unroll_product(*session, plan, uplo, alpha, Factor<T>(a, op_a), Factor<T>(b, op_b), beta, c, region);
  c.wait();
}

INSTANTIATE_FAMILY(product)

}  // namespace tessera::routines
