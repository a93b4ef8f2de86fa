// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "codelets/codelet.hpp"
#include "common/of_type.hpp"
#include "memory/sum_slots.hpp"
#include "product_ops.hpp"
#include "runtime/session.hpp"
#include "tile.hpp"

namespace tessera::tile {

/// Where infinities and NaN of X may spread in op(A) X: only into sums that contain them, as in the BLAS, or into their
/// whole columns (whole rows in X op(A)). For AsInBlas, a GPU that computes by blocks first checks for such values.
enum class Spread { AsInBlas, Anywhere };

/// Whether CUDA GPUs solve with a triangle of this order by multiplying with the inverses of its diagonal blocks.
/// OpenCL devices solve with these blocks by substitution.
inline bool is_blocked(const machine::Machine& machine, Index order) {
  return machine.has_cuda() && order > device::diagonal_block;
}
inline bool is_blocked(const detail::Session& session, Index order) { return is_blocked(session.machine(), order); }

/// How a triangular matrix, or its inverse, is applied to another matrix in panels.
struct TriangularFactor {
  bool inverse;
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  bool blocked;  ///< whether GPUs compute by blocks, see `is_blocked`
  /// Whether a step computes its rows of the result from other rows. Otherwise it changes the other rows.
  bool gathers() const noexcept { return (side == Side::Left) == (op != Op::NoTrans); }
};

/// A range of rows of a matrix.
struct PanelRows {
  Index first, count;
};

/// The operations on tiles from which algorithms are written. Each becomes a task of the sink: a codelet with its
/// arguments, tiles with their access modes, the number of flops, and the GPU that owns the result.
template <typename Sink>
class Ops : public ProductOps<Sink> {
 public:
  /// A diagonal tile of a triangular matrix, by which other tiles are divided.
  struct Divisor {
    Tile tile;
    Uplo uplo;  ///< triangle of the tile as stored
    Diag diag;
    typename Sink::Temporary inverses;  ///< inverses of its diagonal blocks; empty if they are not used
  };

  using ProductOps<Sink>::ProductOps;

  /// The stored triangle of C ← α X Xᴴ + β C. C is on the diagonal.
  void herk(double alpha, const Tile& X, double beta, Tile C, Uplo stored) {
    C.part = common::part_of(stored);
    this->rank_k(common::is_complex_type(type_), alpha, X, beta, C);
  }

  /// A ← its Cholesky factor, in the stored triangle.
  /// @param first  the row of the matrix at which A begins
  void potrf(const Tile& A, Uplo stored, Index first, codelets::InfoValue* info) {
    sink_.step(A.i);
    sink_.submit(codelets::potrf(type_), {{A.handle, STARPU_RW}},
                 codelets::PotrfArgs{work(sixth_of_cube(A)), stored, first, info}, A.owner);
  }

  /// A ← L U without pivoting.
  /// @param unit   which factor of the stored A has the unit diagonal: Lower: L, Upper: U
  /// @param first  the row of the matrix at which A begins
  void getrf_nopiv(const Tile& A, Uplo unit, Index first, codelets::InfoValue* info) {
    const auto rows = static_cast<double>(A.rows), columns = static_cast<double>(A.columns),
               order = std::min(rows, columns);
    const double products = rows * columns * order - (rows + columns) * order * order / 2 + order * order * order / 3;
    sink_.step(A.i);
    sink_.submit(codelets::getrf_nopiv(type_), {{A.handle, STARPU_RW}},
                 codelets::GetrfNopivArgs{work(per_multiply_add_ * products), unit, first, info}, A.owner);
  }

  /// Makes a triangle of A a divisor. CUDA GPUs divide by multiplying with the inverses of the triangle's diagonal
  /// blocks. This function computes these inverses if A is square and larger than one block. A core's divisor has none:
  /// only cores divide by it.
  Divisor divisor(const Tile& A, Uplo stored, Diag diag = Diag::NonUnit) {
    Divisor result{A, stored, diag, {}};
    if (!is_blocked(A) || is_of_core(A)) return result;
    sink_.step(A.j);
    result.inverses = diagonal_blocks(A, 0, stored, diag);
    return result;
  }
  /// Inverts the diagonal blocks of a triangle that spans all columns of A.
  /// @param first_row  row of the tile at which the diagonal enters it
  typename Sink::Temporary diagonal_blocks(const Tile& A, Index first_row, Uplo stored, Diag diag) {
    constexpr Index block = device::diagonal_block;
    auto inverses = sink_.temporary(A, block, 2 * A.columns, element_size_);
    const double flops = per_multiply_add_ * static_cast<double>(A.columns * block * block);
    sink_.submit(codelets::diagonal_blocks(type_), {A.read(), {inverses.handle(), STARPU_W}},
                 codelets::DiagonalBlocksArgs{work(flops), stored, diag, static_cast<int>(first_row)}, A.owner);
    return inverses;
  }

  /// X ← α op(A)⁻¹ X (Left), or α X op(A)⁻¹ (Right)
  /// @pre  if X is an adjoint, α is real
  void trsm(Side side, Op op, const Divisor& A, const common::Number& alpha, const Tile& X,
            Spread spread = Spread::Anywhere) {
    sink_.step(A.tile.j);
    const auto args = triangular(side, op, A.tile, A.uplo, A.diag, alpha, X, A.inverses.handle() != nullptr, spread);
    const Access diagonal = A.tile.read(), tile{X.handle, STARPU_RW};
    if (args.blocked)
      sink_.submit(codelets::trsm(type_), {diagonal, tile, {A.inverses.handle(), STARPU_R}}, args, X.owner);
    else sink_.submit(codelets::trsm(type_), {diagonal, tile}, args, X.owner);
  }

  /// X ← α op(A) X (Left), or α X op(A) (Right), where A is a triangle of a diagonal tile.
  /// @pre  if X is an adjoint, α is real
  void trmm(Side side, Op op, const Tile& A, Uplo stored, Diag diag, const common::Number& alpha, const Tile& X,
            Spread spread = Spread::Anywhere) {
    sink_.step(A.i);
    const auto args = triangular(side, op, A, stored, diag, alpha, X, is_blocked(A), spread);
    sink_.submit(codelets::trmm(type_), {A.read(), {X.handle, STARPU_RW}}, args, X.owner);
  }

  /// Makes the triangle in a panel of A of full height a divisor.
  /// @param first  the row at which its diagonal begins
  Divisor panel_divisor(const Tile& A, Index first, Uplo stored, Diag diag, bool blocked) {
    return {A, stored, diag, blocked ? diagonal_blocks(A, first, stored, diag) : typename Sink::Temporary{}};
  }
  /// One step of trsm or trmm: applies one panel of a triangular A to one panel of X, both of full height. With A on
  /// the right, the panel of X has full width. See codelets::trsm_panel.
  /// @param A        a panel; for a blocked trsm, with the inverses of its diagonal blocks
  /// @param first    the row of the matrix at which its diagonal begins
  /// @param next     the rows of the next step for X; empty if this is the last step
  /// @param sum      in: the sum for the rows of X in this step, empty before the first step; out: the sum for the rows
  ///                 in the next step
  void triangular_panel(const TriangularFactor& how, const Divisor& A, Index first, const common::Number& alpha,
                        const Tile& X, PanelRows next, std::optional<void*>& sum) {
    sink_.step(A.tile.j);
    using Args = codelets::TriangularPanelArgs;
    const auto order = static_cast<double>(A.tile.columns),
               others = static_cast<double>(A.uplo == Uplo::Lower ? A.tile.rows - first - A.tile.columns : first);
    const double square = per_multiply_add_ * order * static_cast<double>(how.side == Side::Left ? X.columns : X.rows);
    auto products = work(square * others), diagonal = work(square * order / 2);
    products.beside = products.flops, diagonal.order = order;
    const Access a = A.tile.read(), x{X.handle, STARPU_RW};
    auto& codelet = how.inverse ? codelets::trsm_panel(type_) : codelets::trmm_panel(type_);
    const auto slot = [&](bool wanted) -> void* {
      return wanted && sink_.runs(X.handle) ? memory::sum_slots::take(type_) : nullptr;
    };

    // The rows that a trsm gathers change before it solves.
    const bool changes = how.blocked && how.inverse && how.gathers() && others > 0;
    if (!sum) sum = how.blocked && !changes ? inspect(X) : nullptr;
    auto part = Args::Part::All;
    if (changes && !machine_.is_opencl(X.owner)) sum = slot(true);
    if (changes && *sum != nullptr) {
      sink_.submit(codelet, {a, x},
                   Args{{products, how.side, A.uplo, how.op, A.diag, alpha, how.blocked, nullptr},
                        static_cast<int>(first),
                        static_cast<int>(first),
                        static_cast<int>(A.tile.columns),
                        *sum,
                        Args::Part::Product},
                   X.owner);
      part = Args::Part::Diagonal;
    } else {
      diagonal.flops += products.flops, diagonal.beside = products.flops;
    }
    void* const next_sum = slot(how.blocked && !(how.inverse && how.gathers()) && next.count > 0);
    const Args args{{diagonal, how.side, A.uplo, how.op, A.diag, alpha, how.blocked, *sum},
                    static_cast<int>(first),
                    static_cast<int>(next.first),
                    static_cast<int>(next.count),
                    next_sum,
                    part};
    if (A.inverses.handle() != nullptr) sink_.submit(codelet, {a, x, {A.inverses.handle(), STARPU_R}}, args, X.owner);
    else sink_.submit(codelet, {a, x}, args, X.owner);
    sum = next_sum;
  }

  /// The triangle A ← A⁻¹
  void trtri(const Divisor& A) {
    const bool blocked = A.inverses.handle() != nullptr;
    on_triangle(codelets::trtri(type_), A.tile, blocked ? A.inverses.handle() : nullptr,
                codelets::TrtriArgs{work(sixth_of_cube(A.tile)), A.uplo, A.diag, blocked});
  }

  /// The triangle A ← Lᴴ L, or U Uᴴ
  void lauum(const Tile& A, Uplo stored) {
    on_triangle(codelets::lauum(type_), A, nullptr, codelets::LauumArgs{work(sixth_of_cube(A)), stored});
  }

  /// Finds the first zero on the diagonal of A. The tile is only read, but declared as an output, so that later tasks
  /// that only read it also wait for this one.
  /// @param row    the row of A at which its diagonal begins
  /// @param first  the same row, counted in the whole matrix
  void find_zero(const Tile& A, Index row, Index first, codelets::InfoValue* info) {
    sink_.step(A.j);
    sink_.submit(codelets::find_zero(type_), {{A.handle, STARPU_RW}},
                 codelets::FindZeroArgs{work(static_cast<double>(A.columns)), row, first, info}, A.owner);
  }

  /// `value` ← the largest element of a part of A. The tile is declared as an output, so that the policy keeps this
  /// task on the GPU of the tasks that write the tile.
  void growth(const Tile& A, common::Part part, codelets::GrowthValue::Of of, codelets::GrowthValue* value,
              starpu_data_handle_t result) {
    sink_.submit(codelets::growth(type_), {{A.handle, STARPU_RW}, {result, STARPU_R}},
                 codelets::GrowthArgs{work(A.elements()), part, of, value}, A.owner);
  }

  /// result ← value, after the last task on A.
  void outcome(const Tile& A, starpu_data_handle_t result, codelets::OutcomeValue* value) {
    sink_.submit(codelets::outcome(), {A.read(), {result, STARPU_W}}, codelets::OutcomeArgs{work(0), value}, A.owner);
  }

 private:
  using ProductOps<Sink>::work, ProductOps<Sink>::machine_, ProductOps<Sink>::sink_, ProductOps<Sink>::type_,
      ProductOps<Sink>::element_size_, ProductOps<Sink>::per_multiply_add_;

  double sixth_of_cube(const Tile& A) const {
    const auto order = static_cast<double>(A.rows);
    return per_multiply_add_ / 6 * order * order * order;
  }
  /// Whether GPUs divide by A through the inverses of diagonal blocks. Tiles at the edge of a rectangular matrix may
  /// not be square, and have no diagonal blocks.
  bool is_blocked(const Tile& A) const { return A.rows == A.columns && tile::is_blocked(machine_, A.rows); }

  codelets::TriangularArgs triangular(Side side, Op op, const Tile& A, Uplo stored, Diag diag,
                                      const common::Number& alpha, const Tile& X, bool blocked, Spread spread) {
    const bool transposed = X.op != Op::NoTrans;
    blocked = blocked && !is_of_core(X);  // the host BLAS solves directly
    if (transposed) side = side == Side::Left ? Side::Right : Side::Left;
    const double order = static_cast<double>(side == Side::Left ? X.rows : X.columns);
    op = composed(op, A.op);
    auto steps = work(per_multiply_add_ / 2 * X.elements() * order);
    steps.order = order;
    return {.work = steps,
            .side = side,
            .uplo = stored,
            .op = transposed ? composed(op, this->adjoint_op()) : op,
            .diag = diag,
            .alpha = alpha,
            .blocked = blocked,
            .sum = blocked && spread == Spread::AsInBlas ? inspect(X) : nullptr,
            .spreads = spread == Spread::Anywhere};
  }

  /// Sums up a tile right before a task that must know whether all its elements are finite. The sum only reads the
  /// tile, but uses the access mode of that task. The policy thus keeps it on the GPU of the tasks that write the tile,
  /// and a failure counts as a failure of the tile.
  /// @return  where the sum will be; null if the task must inspect the tile itself, or if it runs on an OpenCL device,
  ///         which need not inspect the tile
  void* inspect(const Tile& X) {
    if (machine_.is_opencl(X.owner) || X.elements() > std::numeric_limits<int>::max() || !sink_.runs(X.handle))
      return nullptr;
    void* const sum = memory::sum_slots::take(type_);
    if (sum != nullptr)
      sink_.submit(codelets::inspect(type_), {{X.handle, STARPU_RW}}, codelets::InspectArgs{work(X.elements()), sum},
                   X.owner);
    return sum;
  }
  /// Whether a core owns X. Owner numbers count GPUs first, then cores.
  bool is_of_core(const Tile& X) const { return X.owner >= 0 && X.owner >= machine_.gpu_count(); }

  /// Replaces a triangle. GPUs compute the new triangle in a temporary tile.
  /// @param inverses  inverses of its diagonal blocks, or null
  template <typename Args>
  void on_triangle(starpu_codelet& codelet, const Tile& A, starpu_data_handle_t inverses, const Args& args) {
    typename Sink::Temporary workspace;
    std::vector<Access> accesses{{A.handle, STARPU_RW}};
    if (machine_.has_cuda()) {
      workspace = sink_.temporary(A, A.rows, A.rows, element_size_);
      accesses.push_back({workspace.handle(), STARPU_W});
    }
    if (inverses != nullptr) accesses.push_back({inverses, STARPU_R});
    sink_.step(A.i);
    sink_.submit(codelet, std::span<const Access>(accesses), args, A.owner);
  }
};

}  // namespace tessera::tile
