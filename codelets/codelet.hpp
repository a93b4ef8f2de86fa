// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>

#include <tessera/types.hpp>

#include "common/not_copyable.hpp"
#include "common/number.hpp"
#include "common/triangle.hpp"
#include "devices/kernel_tile.hpp"
#include "devices/work.hpp"

/// The codelets of all tile operations: their arguments, their construction, and the cost of their tasks.
namespace tessera::codelets {

using common::Number;
using device::Work;

/// A tile operation: its implementations and its performance model. Lives as long as the process.
struct TileOperation {
  starpu_perfmodel model{};
  starpu_codelet codelet{};

  /// @param name         the name in traces
  /// @param cuda         is asynchronous on the worker's stream; null if Tessera is built without CUDA
  /// @param opencl       is asynchronous in the worker's queue; null if not implemented
  /// @param host_buffer  a buffer that must be in host memory, whichever worker runs the task; -1: none
  TileOperation(const char* name, starpu_cpu_func_t cpu, starpu_cuda_func_t cuda, starpu_opencl_func_t opencl,
                int host_buffer = -1);
};

/// Returns the seconds that an operation takes on a worker. src/plan/machine_measured.cpp sets the function, because
/// it knows the model of the machine.
using CostFunction = double (*)(const char* operation, const Work& work, int worker);
void set_cost_function(CostFunction function);

// Each struct below documents what its tile operation computes, and the buffers of its tasks. If β is 0 and a task
// computes the whole output tile, the task may access the tile as STARPU_W. If a task computes only a triangle, the
// other elements must keep their values, so the access is STARPU_RW, unless copies of the tile leave those elements out
// (see TileGrid::use_only).
//
// A diagonal tile of a matrix may have more rows than columns. The diagonal of the matrix then enters the tile in row
// `first_row`, the first row of a square. "A triangle" below means one triangle of that square, together with all rows
// of the tile below the square (Lower) or above it (Upper).

/// C ← α op(A) op(B) + β C. Buffers: A, B (read), C.
struct GemmArgs {
  Work work;
  Op op_a, op_b;
  Number alpha, beta;
  int first_column = 0;  ///< first column of op(B) to use; the number of columns is that of C
  int first_term = 0;    ///< first row of op(B) to use; the number of rows is that of columns of op(A)
};
starpu_codelet& gemm(char type);

/// A triangle of C ← α op(A) op(B) + β C. Buffers: A, B (read), C.
struct GemmtArgs {
  Work work;
  Uplo uplo;
  int first_row;
  Op op_a, op_b;
  Number alpha, beta;
};
starpu_codelet& gemmt(char type);

/// C ← α A B + β C or α B A + β C, A symmetric or Hermitian. Buffers: A, B (read), C.
struct SymmArgs {
  Work work;
  Side side;
  Uplo uplo;
  Number alpha, beta;
};
starpu_codelet& symm(char type);
starpu_codelet& hemm(char type);

/// D ← the symmetric or Hermitian matrix of which A stores a triangle. A may be taller than wide: the diagonal then
/// begins in row `first_row`. A product with D is faster than symm, above all if it has few columns. Buffers: A (read),
/// D (write).
struct SymmetrizeArgs {
  Work work;
  Uplo uplo;
  int first_row;
  bool hermitian;
};
starpu_codelet& symmetrize(char type);

/// A step of symm or hemm in panels, with the symmetric matrix on the left. Buffer A has n columns of that matrix in
/// full height, of which only the stored triangle is used; buffers B and C have some columns of the other matrices in
/// full height. Let k = [first, first + n) be the rows in which A has its diagonal, r the rows below (Lower) or above
/// (Upper) them, and D the result of `symmetrize` for A(k). Then C(k) ← α D B(k) + α A(r)ᵀ B(r) + β C(k), and C(r) ←
/// α A(r) B(k) + β C(r). hemm has ᴴ instead of ᵀ. Buffers: A, D, B (read), C.
struct SymmPanelArgs {
  Work work;
  Uplo uplo;
  int first;
  Number alpha, beta;
};
starpu_codelet& symm_panel(char type);
starpu_codelet& hemm_panel(char type);

/// The arguments of syrk and syr2k.
struct SyrkArgs {
  Work work;
  Uplo uplo;
  int first_row;
  Op op;
  Number alpha, beta;
};
/// A triangle of C ← α op(A) op(A)ᵀ + β C. herk has ᴴ instead of ᵀ, and real α and β. Buffers: A (read), C.
starpu_codelet& syrk(char type);
starpu_codelet& herk(char type);

/// A triangle of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C. her2k has ᴴ instead of ᵀ, ᾱ in the second term, and a real
/// β. Buffers: A, B (read), C.
starpu_codelet& syr2k(char type);
starpu_codelet& her2k(char type);

/// B ← α op(A) B or α B op(A); trsm uses the inverse of A. Buffers: A (read), B. A blocked trsm also reads the result
/// of `diagonal_blocks` for A. The task returns `sum` to `sum_slots`.
struct TriangularArgs {
  Work work;
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  Number alpha;
  bool blocked;
  void* sum;  ///< the result of `inspect` for B. If null, a blocked task on a GPU inspects B itself, and waits for the
              ///< result
  bool spreads = false;  ///< infinities and NaN may spread over their whole row of B (right) or column (left), so a
                         ///< blocked task need not look for them
};
starpu_codelet& trmm(char type);
starpu_codelet& trsm(char type);
/// The arguments for kernels that apply a triangle, or its inverse, within another operation. Nobody inspects B.
inline TriangularArgs triangular_args(const Work& work, Side side, Uplo uplo, Diag diag, const Number& alpha,
                                      bool blocked, Op op = Op::NoTrans) {
  return {work, side, uplo, op, diag, alpha, blocked, nullptr, true};
}

/// A step of trsm or trmm in panels. A is n columns of the triangle in full height, B is some columns of the other
/// matrix in full height, or some of its rows in full width if the triangle is on the right. Below, these are called
/// rows, too. With the rows k = [first, first + n), in which A has its diagonal, and the rows r below (Lower) or above
/// them (Upper):
/// - trsm computes B(k) ← α op(A(k))⁻¹ B(k), then B(r) ← α B(r) − op(A(r)) B(k). If the step gathers, it computes
///   B(k) ← op(A(k))⁻¹ (α B(k) − op(A(r)) B(r)).
/// - trmm computes B(r) ← B(r) + α op(A(r)) B(k), then B(k) ← α op(A(k)) B(k). If the step gathers, it computes
///   B(k) ← α (op(A(k)) B(k) + op(A(r)) B(r)).
/// Buffers: A (read), B. A blocked trsm also reads the result of `diagonal_blocks` for A(k). The task returns `sum`,
/// the sum for B(k), to `sum_slots`, and writes the sum for the rows of the next step.
///
/// A blocked trsm that gathers changes B(k) before it solves. It is two tasks, so that the first one writes the sum for
/// B(k), and no task waits for a result of its own.
struct TriangularPanelArgs : TriangularArgs {
  enum class Part { All, Product, Diagonal };

  int first;
  int next_first, next_rows;  ///< the rows of the next step; `next_rows` is 0 in the last step
  void* next_sum;             ///< receives the sum for the rows of the next step; may be null
  Part part = Part::All;      ///< Product: the rows of the next step are B(k)

  bool gathers() const { return (side == Side::Left) == (op != Op::NoTrans); }  ///< whether only B(k) changes
};
starpu_codelet& trmm_panel(char type);
starpu_codelet& trsm_panel(char type);

/// D ← the inverses of the diagonal blocks of order 2 `diagonal_block` of a triangular A, side by side, as squares. D
/// is registered with `diagonal_block` rows and two columns for each column of A. With D, trsm on a GPU consists of
/// products (see triangular_blocks.hpp). A may be taller than wide: the diagonal then begins in row `first_row`. Runs
/// only on GPUs. Buffers: A (read), D (write).
struct DiagonalBlocksArgs {
  Work work;
  Uplo uplo;
  Diag diag;
  int first_row = 0;
};
starpu_codelet& diagonal_blocks(char type);

/// A result that the tasks of a factorization compute in addition to the factors. The task `outcome` delivers it.
class OutcomeValue : common::NotCopyable {
 public:
  virtual ~OutcomeValue() = default;
  virtual std::int64_t bits() const noexcept = 0;
};

/// The info of a factorization while its tasks run: 0, or the first place at which a task could not continue, for
/// example the row of a zero pivot.
class InfoValue final : public OutcomeValue {
 public:
  /// Sets the info. Only the first call has an effect, so calls must be in the order of the places.
  void report(Index place) noexcept {
    std::int64_t none = 0;
    first_.compare_exchange_strong(none, place);
  }
  std::int64_t bits() const noexcept override { return first_; }
  /// Sets the info to the smallest place of all calls, which may be in any order.
  void report_in_any_order(Index place) noexcept {
    std::int64_t before = first_;
    while ((before == 0 || place < before) && !first_.compare_exchange_weak(before, place)) {
    }
  }

 private:
  std::atomic<std::int64_t> first_ = 0;
};

/// A triangle of A ← its Cholesky factor: L with A = L Lᴴ (Lower), U with A = Uᴴ U (Upper). If a leading minor is not
/// positive, or NaN, the rest of the factor is undefined. Buffers: A.
struct PotrfArgs {
  Work work;
  Uplo uplo;
  Index first;       ///< the row of the matrix at which A begins
  InfoValue* value;  ///< receives the order of a leading minor that is not positive
};
starpu_codelet& potrf(char type);

// LU factorization with partial pivoting works on panels. A panel is some columns of a matrix in full height, stored as
// a column of tiles. All tiles except the last have the same height, and the diagonal block of a panel lies in one
// tile. The buffers of a task are the tiles that contain its rows, at most `most_tile_rows` per panel, and rows are
// counted from the first row of its first tile. A separate tile, PivotTile, holds the pivots of a panel. Pivot i is the
// row, counted from 1 at row `first` of the panel, that is exchanged with row `first` + i.

inline constexpr int most_tile_rows = 128;

/// Rows [first, m) of A ← L U with P A = L U, L unit lower and U upper trapezoidal. Buffers: `tiles` tiles of A, pivots
/// (write). If `blocked`, also a tile for the inverses of the diagonal blocks of L (write), as in `diagonal_blocks`.
/// Only GPUs compute these inverses.
struct GetrfArgs {
  Work work;
  int first, tiles;
  Index place;  ///< row `first`, counted in the matrix
  bool blocked;
  InfoValue* value;  ///< receives the first i, counted from 1 in the matrix, with U(i, i) = 0
};
starpu_codelet& getrf(char type);

/// Updates a panel B by a factorized panel A: B ← P B on rows [first, m), then B(top) ← L⁻¹ B(top) on as many rows as
/// there are pivots, and B(below) ← B(below) − L(below) B(top) on the remaining rows. Buffers: `tiles` tiles of A and
/// pivots (read), `tiles` tiles of B. If `blocked`, also the tile of the inverses (read), which are used if they exist.
struct PanelUpdateArgs {
  Work work;
  int first, tiles;
  bool blocked;
};
starpu_codelet& panel_update(char type);

/// Factorizes a panel while an earlier panel updates `columns` other panels. Without memory for a second stream, the
/// GPU does one after the other. Runs only on GPUs. Buffers: those of `getrf` for the panel; then the tiles (read), the
/// pivots (read) and, if `update.blocked`, the inverses (read) of the earlier panel; then `update.tiles` tiles of each
/// updated panel.
struct GetrfBesideUpdatesArgs {
  Work work;
  GetrfArgs panel;
  PanelUpdateArgs update;
  int columns;
};
starpu_codelet& getrf_beside_updates(char type);

/// Exchanges rows of B by the pivots of consecutive panels. The first panel begins at row `first`, and each next panel
/// `step` rows later. Buffers: `tiles` tiles of B, then the pivots (read) of the panels in this order.
struct LaswpArgs {
  Work work;
  int first, step, tiles;
  bool backwards;  ///< undoes the exchanges, last one first; `step` is then negative
};
starpu_codelet& laswp(char type);

/// A step of a solve with one factor X of A, which is U or the unit lower L, by one panel of A. The panel has the
/// columns k = [first, first + columns). Its diagonal block has the rows k, and X also has the rows r above k (U) or
/// below k (L). NoTrans: B(k) ← X(k, k)⁻¹ B(k), then B(r) ← B(r) − X(r, k) B(k). Otherwise: B(k) ← op(X(k, k))⁻¹ (B(k)
/// − op(X(r, k)) B(r)). Buffers: `tiles` tiles of A (read), `tiles` tiles of B.
struct PanelSolveArgs {
  Work work;
  int first, tiles;
  Uplo uplo;
  Op op;
};
starpu_codelet& panel_solve(char type);

/// A tile of a matrix A ← L U without pivoting, L lower and U upper trapezoidal, one of them with a unit diagonal.
/// Buffers: A.
struct GetrfNopivArgs {
  Work work;
  Uplo unit;         ///< the factor with the unit diagonal; Upper if A is stored as its transpose
  Index first;       ///< the row of the matrix at which A begins
  InfoValue* value;  ///< receives the first i, counted from 1 in the matrix, with a zero on the other factor's diagonal
};
starpu_codelet& getrf_nopiv(char type);

/// The growth of a factorization while its tasks run, as the bits of a double: the largest magnitude |Re| + |Im| of an
/// element of the factor, relative to that of the matrix. NaN if any element is NaN.
class GrowthValue final : public OutcomeValue {
 public:
  enum Of { Matrix, Factor };
  void add(Of which, double magnitude) noexcept {
    auto& largest = largest_[which];
    double before = largest;
    while (!(magnitude <= before) && !std::isnan(before) && !largest.compare_exchange_weak(before, magnitude)) {
    }
  }
  bool is_of_zeros() const noexcept { return largest_[Matrix] == 0; }
  std::int64_t bits() const noexcept override {
    const double matrix = largest_[Matrix], factor = largest_[Factor];
    return std::bit_cast<std::int64_t>(matrix == 0 && factor == 0 ? 1 : factor / matrix);
  }

 private:
  std::atomic<double> largest_[2] = {0, 0};
};

/// `value` ← the largest element of a tile, or of a trapezoid of it. Buffers: the tile (read), and the variable that
/// `outcome` will write (read), so that `outcome` runs after all of these tasks.
struct GrowthArgs {
  Work work;
  common::Part part;
  GrowthValue::Of of;
  GrowthValue* value;
};
starpu_codelet& growth(char type);

/// The info of a least squares problem. For a matrix of zeros it is 0, because LAPACK then returns the solution zero.
class RankValue final : public OutcomeValue {
 public:
  InfoValue zeros;   ///< the first zero on the diagonal of R
  GrowthValue size;  ///< the largest element of the matrix
  std::int64_t bits() const noexcept override { return size.is_of_zeros() ? 0 : zeros.bits(); }
};

// On a machine with GPUs, some tile operations below have an additional output W, a square tile of the triangle's
// order. GPUs use it as workspace for products, because cuBLAS neither inverts a triangle in place nor multiplies it by
// its adjoint. No other task uses its contents.

/// A triangle of A ← its inverse. With Diag::Unit, the diagonal is neither read nor written. Buffers: A, W. If
/// `blocked`, also the result of `diagonal_blocks` for A (read).
struct TrtriArgs {
  Work work;
  Uplo uplo;
  Diag diag;
  bool blocked;
};
starpu_codelet& trtri(char type);

/// A triangle of A ← Lᴴ L (Lower) or U Uᴴ (Upper), where L or U is that triangle, with a real diagonal. Buffers: A, W.
struct LauumArgs {
  Work work;
  Uplo uplo;
};
starpu_codelet& lauum(char type);

/// Reports zeros on a diagonal that begins in row `row` of A. Buffers: A (read).
struct FindZeroArgs {
  Work work;
  Index row;
  Index first;  ///< the row of the matrix at which the diagonal of A begins
  InfoValue*
      value;  ///< receives the first i, counted from 1 in the matrix, with A(i, i) = 0; tasks may report in any order
};
starpu_codelet& find_zero(char type);

// The tile operations that follow invert a matrix from the panels of its LU factorization. The rows k = [first, first +
// columns) of a panel contain its part of the diagonal.

struct PanelArgs {
  Work work;
  Index first;
};

/// Multiplies a later panel B of U by an inverted panel A of U: B(above k) ← B(above k) + A(above k) B(k), then B(k) ←
/// A(k) B(k), where A(k) is upper triangular. Buffers: A (read), B.
starpu_codelet& panel_multiply(char type);

/// A(above k) ← −A(above k) A(k)⁻¹, then A(k) ← A(k)⁻¹, where A(k) is upper triangular. Buffers: A, W. If `blocked`,
/// also a tile for the inverses of the diagonal blocks of A(k) (write), see `diagonal_blocks`.
struct PanelInvertArgs {
  Work work;
  Index first;
  bool blocked;
};
starpu_codelet& panel_invert(char type);

/// L ← rows [first, m) of A, then the part of A below the diagonal ← 0. The elements above the diagonal of L are
/// meaningless. Buffers: A, L (write).
starpu_codelet& split_panel(char type);

/// Exchanges columns of panels by the pivots of panel A, the last pivot first. Pivot i is the column, counted from 1 at
/// the first column of A, that is exchanged with column i of A. A task exchanges columns within A only if `within`, and
/// columns of A with those of other panels only if it has these panels. Buffers: pivots (read, in host memory), A, then
/// consecutive panels, the first of which begins `distance` columns after A.
struct SwapColumnsArgs {
  Work work;
  Index distance;
  Index panel;  ///< columns of a full panel
  bool within;
};
starpu_codelet& swap_columns(char type);

// QR factorization works on panels of full height, each of which is one tile. A panel with n columns whose diagonal
// begins in row `first` has k = min(m − first, n) reflectors. Each reflector is a column of V, which has ones on the
// diagonal and is stored below the diagonal of the panel. The *block* of these reflectors is a tile with k rows and 2k
// columns: the upper triangular T with H₁ ⋯ Hₖ = I − V T Vᴴ, then the first k rows of V. The ones and zeros of V are
// stored, so that products need no triangles.

struct ReflectorArgs {
  Work work;
  int first;
};

/// Rows [first, m) of A ← R on and above the diagonal, V below it. Buffers: A, the scalar factors tau of the reflectors
/// (k×1; write), their block (write).
starpu_codelet& geqrf(char type);

/// Computes the block of reflectors from the factorized panel A. Buffers: A (read), tau (read), block (write).
starpu_codelet& larft(char type);

/// C ← Q C (Left), or C Q (Right), with Q = H₁ ⋯ Hₖ or its adjoint. Only rows (Left) or columns (Right) of C from
/// `first` on change. Buffers: the panel with V (read), its block (read), C.
struct LarfbArgs {
  Work work;
  int first;
  Side side;
  bool adjoint;
};
starpu_codelet& larfb(char type);

/// Factorizes a panel while an earlier panel updates others. If the GPU has no memory for the second stream, it does
/// one after the other. Buffers: those of `geqrf` for the panel; of the earlier panel, the panel with V and its block
/// (read); then the `columns` others. Only on GPUs.
struct GeqrfBesideUpdatesArgs {
  Work work;
  ReflectorArgs panel;
  LarfbArgs update;
  int columns;
};
starpu_codelet& geqrf_beside_updates(char type);

/// A panel A ← its columns of Q = H₁ ⋯ Hₖ, whose rows above `first` are zero. Buffers: A, block (read).
starpu_codelet& ungqr(char type);

/// Rows [first, m) of B ← 0, if `only_with` is null or has found a matrix of zeros. Buffers: B; if `only_with` is not
/// null, also the variable that `outcome` will write (read).
struct ClearRowsArgs {
  Work work;
  int first;
  const GrowthValue* only_with;
};
starpu_codelet& clear_rows(char type);

/// Writes `value` to a variable, and deletes it: the last task of a factorization. Buffers: the last diagonal tile
/// (read), the variable, an std::int64_t in host memory (write).
struct OutcomeArgs {
  Work work;
  OutcomeValue* value;
};
starpu_codelet& outcome();

/// *sum ← Σ |Re| + |Im| over the elements of C, which is not finite if an element is infinite or NaN. This is the last
/// task on C before a blocked trmm or trsm, which must know the sum when it starts. C has at most INT_MAX elements.
/// Buffers: C (read).
struct InspectArgs {
  Work work;
  void* sum;  ///< a slot of `sum_slots`, in pinned memory
};
starpu_codelet& inspect(char type);

/// The arguments of scale and add.
struct ScaleArgs {
  Work work;
  common::Part part;
  int first_row;
  bool real_diagonal;  ///< treats the imaginary part of C's diagonal as 0, and sets it to 0; only for a triangle
  Number beta;
};
/// C ← β C, or a triangle of it. Buffers: C.
starpu_codelet& scale(char type);
/// C ← D + β C, or a triangle of it. With β = 0, C is not read. Buffers: D (read), C.
starpu_codelet& add(char type);

}  // namespace tessera::codelets
