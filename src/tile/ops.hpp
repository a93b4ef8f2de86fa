// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codelets/codelet.hpp"
#include "codelets/sum_slots.hpp"
#include "product_ops.hpp"
#include "runtime/session.hpp"
#include "tile.hpp"

namespace tessera::tile {

/// Where infinities and NaN of X may go in op(A) X: only into the sums that they are a part of, as in the BLAS, or into
/// all of their column (of their row in X op(A)). A GPU that computes by blocks looks for them in the first case.
enum class Spread { AsInBlas, Anywhere };

/// Whether GPUs of CUDA solve with a triangle of this order by the inverses of its diagonal blocks. OpenCL devices
/// solve with these blocks by substitution.
inline bool is_blocked(const detail::Machine& machine, Index order) {
  return machine.has_cuda() && order > codelets::diagonal_block;
}
inline bool is_blocked(const detail::Session& session, Index order) { return is_blocked(session.machine(), order); }

/// Rows of a matrix.
struct PanelRows {
  Index first, count;
};

/// The operations on tiles, as an algorithm writes them. Each becomes a task of the sink: the codelet and its
/// arguments, its tiles with their access modes, its flops, and the GPU that owns its result.
template <Scalar T, typename Sink>
class Ops : public ProductOps<T, Sink> {
 public:
  /// A tile on the diagonal of a triangular matrix, as a factor whose inverse is applied to others.
  struct Divisor {
    Tile tile;
    Uplo uplo;  ///< of the tile as stored
    Diag diag;
    typename Sink::Temporary inverses;  ///< of its diagonal blocks; no tile where they are not used
  };

  using ProductOps<T, Sink>::ProductOps;

  /// The triangle of C that is stored ← α X Xᴴ + β C. C is on the diagonal.
  void herk(Real<T> alpha, const Tile& X, Real<T> beta, Tile C, Uplo stored) {
    C.part = codelets::part_of(stored);
    this->template rank_k<is_complex<T>>(T(alpha), X, T(beta), C);
  }

  /// A ← its Cholesky factor, in the triangle that is stored.
  /// @param first  the row of the matrix in which A begins
  void potrf(const Tile& A, Uplo stored, Index first, codelets::InfoValue* info) {
    sink_.step(A.i);
    sink_.submit(codelets::potrf<T>(), {{A.handle, STARPU_RW}},
                 codelets::PotrfArgs<T>{work(sixth_of_cube(A)), stored, first, info}, A.owner);
  }

  /// A ← L U without pivoting.
  /// @param unit   the factor with ones on its diagonal, of A as stored
  /// @param first  the row of the matrix in which A begins
  void getrf_nopiv(const Tile& A, Uplo unit, Index first, codelets::InfoValue* info) {
    const auto rows = static_cast<double>(A.rows), columns = static_cast<double>(A.columns),
               order = std::min(rows, columns);
    const double products = rows * columns * order - (rows + columns) * order * order / 2 + order * order * order / 3;
    sink_.step(A.i);
    sink_.submit(codelets::getrf_nopiv<T>(), {{A.handle, STARPU_RW}},
                 codelets::GetrfNopivArgs{work(flops_per_multiply_add<T> * products), unit, first, info}, A.owner);
  }

  /// Makes a triangle of A a divisor. GPUs apply its inverse by products, for which they invert its diagonal blocks, if
  /// A is square.
  Divisor divisor(const Tile& A, Uplo stored, Diag diag = Diag::NonUnit) {
    Divisor result{A, stored, diag, {}};
    if (!is_blocked(A)) return result;
    sink_.step(A.j);
    result.inverses = diagonal_blocks(A, 0, stored, diag);
    return result;
  }
  /// Inverts the diagonal blocks of a triangle that has all columns of A.
  /// @param first_row  row of the tile in which the diagonal enters it
  typename Sink::Temporary diagonal_blocks(const Tile& A, Index first_row, Uplo stored, Diag diag) {
    constexpr Index block = codelets::diagonal_block;
    auto inverses = sink_.temporary(A, block, 2 * A.columns, sizeof(T));
    const double flops = flops_per_multiply_add<T> * static_cast<double>(A.columns * block * block);
    sink_.submit(codelets::diagonal_blocks<T>(), {A.read(), {inverses.handle(), STARPU_W}},
                 codelets::DiagonalBlocksArgs<T>{work(flops), stored, diag, static_cast<int>(first_row)}, A.owner);
    return inverses;
  }

  /// X ← α op(A)⁻¹ X (Left), or α X op(A)⁻¹ (Right)
  /// @pre  if X is an adjoint, α is real
  void trsm(Side side, Op op, const Divisor& A, T alpha, const Tile& X, Spread spread = Spread::Anywhere) {
    sink_.step(A.tile.j);
    const auto args = triangular(side, op, A.tile, A.uplo, A.diag, alpha, X, A.inverses.handle() != nullptr, spread);
    const Access diagonal = A.tile.read(), tile{X.handle, STARPU_RW};
    if (args.blocked)
      sink_.submit(codelets::trsm<T>(), {diagonal, tile, {A.inverses.handle(), STARPU_R}}, args, X.owner);
    else sink_.submit(codelets::trsm<T>(), {diagonal, tile}, args, X.owner);
  }

  /// X ← α op(A) X (Left), or α X op(A) (Right), where A is a triangle of a tile on the diagonal.
  /// @pre  if X is an adjoint, α is real
  void trmm(Side side, Op op, const Tile& A, Uplo stored, Diag diag, T alpha, const Tile& X,
            Spread spread = Spread::Anywhere) {
    sink_.step(A.i);
    const auto args = triangular(side, op, A, stored, diag, alpha, X, is_blocked(A), spread);
    sink_.submit(codelets::trmm<T>(), {A.read(), {X.handle, STARPU_RW}}, args, X.owner);
  }

  /// Makes a triangle in a panel of A, which has all of its rows, a divisor.
  /// @param first  the row in which its diagonal begins
  Divisor panel_divisor(const Tile& A, Index first, Uplo stored, Diag diag, bool blocked) {
    return {A, stored, diag, blocked ? diagonal_blocks(A, first, stored, diag) : typename Sink::Temporary{}};
  }
  /// What trsm or trmm with a triangular A on the left, in panels of full height, has of one of these and one of X: see
  /// codelets::trsm_panel.
  /// @param A        a panel; for a blocked trsm, with the inverses of its diagonal blocks
  /// @param blocked  whether GPUs compute by blocks, see `is_blocked`
  /// @param first    the row of the matrix in which its diagonal begins
  /// @param next     the rows of the step that comes next for X; none if this is the last one
  /// @param sum      of the rows of this step of X, then of those of the next step; nothing before the first one
  void triangular_panel(bool inverse, const Divisor& A, bool blocked, Index first, T alpha, const Tile& X,
                        PanelRows next, std::optional<Real<T>*>& sum) {
    sink_.step(A.tile.j);
    if (!sum) sum = blocked ? inspect(X) : nullptr;
    Real<T>* const next_sum =
        blocked && next.count > 0 && sink_.runs(X.handle) ? codelets::sum_slots::take<T>() : nullptr;
    const auto order = static_cast<double>(A.tile.columns),
               others = static_cast<double>(A.uplo == Uplo::Lower ? A.tile.rows - first - A.tile.columns : first);
    const double square = flops_per_multiply_add<T> * order * static_cast<double>(X.columns);
    auto steps = work(square * (order / 2 + others));
    steps.beside = square * others;
    const codelets::TriangularPanelArgs<T> args{{steps, Side::Left, A.uplo, Op::NoTrans, A.diag, alpha, blocked, *sum},
                                                static_cast<int>(first),
                                                static_cast<int>(next.first),
                                                static_cast<int>(next.count),
                                                next_sum};
    const Access a = A.tile.read(), x{X.handle, STARPU_RW};
    auto& codelet = inverse ? codelets::trsm_panel<T>() : codelets::trmm_panel<T>();
    if (A.inverses.handle() != nullptr) sink_.submit(codelet, {a, x, {A.inverses.handle(), STARPU_R}}, args, X.owner);
    else sink_.submit(codelet, {a, x}, args, X.owner);
    sum = next_sum;
  }

  /// The triangle A ← A⁻¹
  void trtri(const Divisor& A) {
    const bool blocked = is_blocked(A.tile);
    on_triangle(codelets::trtri<T>(), A.tile, blocked ? A.inverses.handle() : nullptr,
                codelets::TrtriArgs<T>{work(sixth_of_cube(A.tile)), A.uplo, A.diag, blocked});
  }

  /// The triangle A ← Lᴴ L, or U Uᴴ
  void lauum(const Tile& A, Uplo stored) {
    on_triangle(codelets::lauum<T>(), A, nullptr, codelets::LauumArgs<T>{work(sixth_of_cube(A)), stored});
  }

  /// Finds the first zero on the diagonal of A. The tile is an output, so that whatever depends on it comes later.
  /// @param row    the row of A in which its diagonal begins
  /// @param first  that row, counted in the matrix
  void find_zero(const Tile& A, Index row, Index first, codelets::InfoValue* info) {
    sink_.step(A.j);
    sink_.submit(codelets::find_zero<T>(), {{A.handle, STARPU_RW}},
                 codelets::FindZeroArgs{work(static_cast<double>(A.columns)), row, first, info}, A.owner);
  }

  /// `value` ← the largest element of a part of A. The tile is an output, as for the tasks that write it: the policy
  /// keeps them on one GPU.
  void growth(const Tile& A, codelets::Part part, codelets::GrowthValue::Of of, codelets::GrowthValue* value,
              starpu_data_handle_t result) {
    sink_.submit(codelets::growth<T>(), {{A.handle, STARPU_RW}, {result, STARPU_R}},
                 codelets::GrowthArgs{work(A.elements()), part, of, value}, A.owner);
  }

  /// result ← value, when the last task on A has run.
  void outcome(const Tile& A, starpu_data_handle_t result, codelets::OutcomeValue* value) {
    sink_.submit(codelets::outcome(), {A.read(), {result, STARPU_W}}, codelets::OutcomeArgs{work(0), value}, A.owner);
  }

 private:
  using ProductOps<T, Sink>::work, ProductOps<T, Sink>::machine_, ProductOps<T, Sink>::sink_;

  static double sixth_of_cube(const Tile& A) {
    const auto order = static_cast<double>(A.rows);
    return flops_per_multiply_add<T> / 6 * order * order * order;
  }
  /// Only square tiles have diagonal blocks. A tile at the end of a rectangular matrix may not be square.
  bool is_blocked(const Tile& A) const { return A.rows == A.columns && tile::is_blocked(machine_, A.rows); }

  codelets::TriangularArgs<T> triangular(Side side, Op op, const Tile& A, Uplo stored, Diag diag, T alpha,
                                         const Tile& X, bool blocked, Spread spread) {
    const bool transposed = X.op != Op::NoTrans;
    blocked = blocked && !is_of_core(X);  // the host BLAS needs no such help
    if (transposed) side = side == Side::Left ? Side::Right : Side::Left;
    const double order = static_cast<double>(side == Side::Left ? X.rows : X.columns);
    op = composed(op, A.op);
    return {.work = work(flops_per_multiply_add<T> / 2 * X.elements() * order),
            .side = side,
            .uplo = stored,
            .op = transposed ? composed(op, adjoint_op<T>) : op,
            .diag = diag,
            .alpha = alpha,
            .blocked = blocked,
            .sum = blocked && spread == Spread::AsInBlas ? inspect(X) : nullptr,
            .spreads = spread == Spread::Anywhere};
  }

  /// Sums a tile right before a task that must know whether all elements are finite. The sum only reads, but has the
  /// access mode of that task. The policy then keeps it on the same GPU as the tasks that write the tile, and a failure
  /// counts as one of the tile.
  /// @return  where the sum will be; null if the task must inspect the tile itself, as OpenCL devices need not
  Real<T>* inspect(const Tile& X) {
    if (machine_.is_opencl(X.owner) || X.elements() > std::numeric_limits<int>::max() || !sink_.runs(X.handle))
      return nullptr;
    Real<T>* const sum = codelets::sum_slots::take<T>();
    if (sum != nullptr)
      sink_.submit(codelets::inspect<T>(), {{X.handle, STARPU_RW}}, codelets::InspectArgs<T>{work(X.elements()), sum},
                   X.owner);
    return sum;
  }
  /// GPUs are counted first, then cores.
  bool is_of_core(const Tile& X) const { return X.owner >= 0 && X.owner >= machine_.gpu_count(); }

  /// Replaces a triangle. A GPU computes that in another tile.
  /// @param inverses  of its diagonal blocks, or null
  template <typename Args>
  void on_triangle(starpu_codelet& codelet, const Tile& A, starpu_data_handle_t inverses, const Args& args) {
    typename Sink::Temporary workspace;
    std::vector<Access> accesses{{A.handle, STARPU_RW}};
    if (machine_.has_cuda()) {
      workspace = sink_.temporary(A, A.rows, A.rows, sizeof(T));
      accesses.push_back({workspace.handle(), STARPU_W});
    }
    if (inverses != nullptr) accesses.push_back({inverses, STARPU_R});
    sink_.step(A.i);
    sink_.submit(codelet, std::span<const Access>(accesses), args, A.owner);
  }
};

}  // namespace tessera::tile
