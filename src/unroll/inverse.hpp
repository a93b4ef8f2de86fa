// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "common/symmetry.hpp"
#include "diagonal_blocks.hpp"
#include "loader.hpp"
#include "submit.hpp"
#include "tile_owners.hpp"
#include "tiling/plan.hpp"

namespace tessera::unroll {

/// The tasks that replace a triangle of square tiles by its inverse, and by its product with its adjoint. One after the
/// other, they make the inverse of a matrix from its Cholesky factor: A⁻¹ = L⁻ᴴ L⁻¹.
///
/// Both triangles become one, as in `Cholesky`: below, tile (i, j) with i ≥ j is the stored tile (i, j) of L, or (j, i)
/// of U. A product of two tiles of L in one order is a product of the tiles of U in the other order.
///
/// Both are left-looking, row by row: a tile gets all of its terms before the next one. Every tile is overwritten when
/// no later one needs its old value. Only GPUs need a temporary tile for each tile on the diagonal.
template <Scalar T>
class Inverse {
 public:
  /// @param A  as stored; its tiles are square
  Inverse(const detail::Session& session, const detail::Plan& plan, Uplo uplo, Diag diag, const Matrix<T>& A)
      : session_(session), submitter_(session, A), A_(A), uplo_(uplo), diag_(diag),
        blocked_(is_blocked(session, A.tile_m(0))), has_gpus_(session.machine().has_cuda()),
        owners_(owners(session, plan.grid, A, Region::triangle(uplo, A.mt(), A.nt(), A.mb(), A.nb()))) {}

  /// Requests all tiles in the order of their first use, see Cholesky::load.
  void load() const {
    Loader loader(session_);
    for (Index i = 0; i < A_.mt(); i++)
      for (Index k = 0; k <= i; k++) loader.load(handle(i, k), owner(i, k));
  }

  /// Finds the first zero on the diagonal.
  void find_zeros(codelets::InfoValue* value) {
    for (Index k = 0; k < A_.mt(); k++) {
      submitter_.step(k);
      // As an output, so that whatever depends on this tile comes later: at last the info.
      submitter_.submit(codelets::find_zero<T>(), {{handle(k, k), STARPU_RW}},
                        codelets::FindZeroArgs{{order(k), type_letter<T>}, 0, k * A_.mb(), value}, owner(k, k));
    }
  }

  /// L ← W = L⁻¹: for i > k, W(i, k) = −L(i, i)⁻¹ Σ L(i, j) W(j, k) over k ≤ j < i. The term of j = k is L(i, k) L(k,
  /// k)⁻¹, since tiles on the diagonal are inverted last: until then all others are divided by them.
  void invert() {
    std::vector<TemporaryTile> inverses(static_cast<std::size_t>(A_.mt()));
    const auto of = [&](Index k) -> TemporaryTile& { return inverses[static_cast<std::size_t>(k)]; };
    for (Index i = 0; i < A_.mt(); i++) {
      if (blocked_) of(i) = submit_diagonal_blocks(submitter_, A_, i, uplo_, diag_, owner(i, i));
      for (Index k = 0; k < i; k++) {
        divide(i, k, k, opposite(own_side()), T(-1), of(k));
        for (Index j = k + 1; j < i; j++) add_product(i, k, j, T(-1), {i, j}, {j, k}, Op::NoTrans);
        divide(i, k, i, own_side(), T(1), of(i));
      }
    }
    for (Index k = 0; k < A_.mt(); k++) invert_diagonal(k, of(k));
  }

  /// L ← the lower triangle of R = Lᴴ L: R(i, k) = Σ L(j, i)ᴴ L(j, k) over j ≥ i. In U, this is the upper triangle of
  /// U Uᴴ.
  void multiply_by_adjoint() {
    for (Index i = 0; i < A_.mt(); i++) {
      for (Index k = 0; k < i; k++) {
        multiply(i, k);
        for (Index j = i + 1; j < A_.mt(); j++) add_product(i, k, j, T(1), {j, i}, {j, k}, adjoint);
      }
      multiply_diagonal(i);
      for (Index j = i + 1; j < A_.mt(); j++) add_square(i, j);
    }
  }

  /// The task that writes `info`. Call this after `invert`: the last tile of the first column depends on all tiles on
  /// the diagonal.
  void submit_outcome(starpu_data_handle_t info, codelets::InfoValue* value) {
    const Index last = A_.mt() - 1;
    submitter_.submit(codelets::outcome(), {{handle(last, 0), STARPU_R}, {info, STARPU_W}},
                      codelets::OutcomeArgs{{0, type_letter<T>}, value}, owner(last, 0));
  }

 private:
  struct Place {
    Index i, j;
  };

  /// Tile (i, k) ← α times itself, with L(d, d)⁻¹ on one side.
  void divide(Index i, Index k, Index d, Side side, T alpha, const TemporaryTile& inverses) {
    submitter_.step(d);
    const auto args = triangular(i, k, d, side, Op::NoTrans, diag_, alpha);
    const Access diagonal{handle(d, d), STARPU_R}, tile{handle(i, k), STARPU_RW};
    if (blocked_)
      submitter_.submit(codelets::trsm<T>(), {diagonal, tile, {inverses.handle(), STARPU_R}}, args, owner(i, k));
    else submitter_.submit(codelets::trsm<T>(), {diagonal, tile}, args, owner(i, k));
  }

  /// Tile (i, k) ← L(i, i)ᴴ L(i, k)
  void multiply(Index i, Index k) {
    submitter_.step(i);
    submitter_.submit(codelets::trmm<T>(), {{handle(i, i), STARPU_R}, {handle(i, k), STARPU_RW}},
                      triangular(i, k, i, own_side(), adjoint, Diag::NonUnit, T(1)), owner(i, k));
  }

  /// Tile (i, k) ← tile (i, k) + α op(left) right, a sum over the rows of tile row j.
  void add_product(Index i, Index k, Index j, T alpha, Place left, Place right, Op op) {
    submitter_.step(j);
    const Access first{handle(left.i, left.j), STARPU_R}, second{handle(right.i, right.j), STARPU_R};
    const codelets::GemmArgs<T> args{{flops_per_multiply_add<T> * order(i) * order(k) * order(j), type_letter<T>},
                                     lower() ? op : Op::NoTrans,
                                     lower() ? Op::NoTrans : op,
                                     alpha,
                                     T(1)};
    submitter_.submit(codelets::gemm<T>(),
                      {lower() ? first : second, lower() ? second : first, {handle(i, k), STARPU_RW}}, args,
                      owner(i, k));
  }

  /// Tile (i, i) ← tile (i, i) + L(j, i)ᴴ L(j, i)
  void add_square(Index i, Index j) {
    submitter_.step(j);
    const double flops = flops_per_multiply_add<T> / 2 * order(i) * order(i) * order(j);
    const codelets::SyrkArgs<T> args{{flops, type_letter<T>}, uplo_, 0, lower() ? adjoint : Op::NoTrans, T(1), T(1)};
    auto& codelet = [&]() -> starpu_codelet& {
      if constexpr (is_complex<T>) return codelets::herk<T>();
      else return codelets::syrk<T>();
    }();
    submitter_.submit(codelet, {{handle(j, i), STARPU_R}, {handle(i, i), STARPU_RW}}, args, owner(i, i));
  }

  void invert_diagonal(Index k, const TemporaryTile& inverses) {
    const auto workspace = workspace_for(k);
    std::vector<Access> accesses{{handle(k, k), STARPU_RW}};
    if (has_gpus_) accesses.push_back({workspace.handle(), STARPU_W});
    if (blocked_) accesses.push_back({inverses.handle(), STARPU_R});
    submitter_.step(k);
    submitter_.submit(codelets::trtri<T>(), std::span<const Access>(accesses),
                      codelets::TrtriArgs<T>{on_diagonal(k), uplo_, diag_, blocked_}, owner(k, k));
  }

  void multiply_diagonal(Index k) {
    const auto workspace = workspace_for(k);
    std::vector<Access> accesses{{handle(k, k), STARPU_RW}};
    if (has_gpus_) accesses.push_back({workspace.handle(), STARPU_W});
    submitter_.step(k);
    submitter_.submit(codelets::lauum<T>(), std::span<const Access>(accesses),
                      codelets::LauumArgs<T>{on_diagonal(k), uplo_}, owner(k, k));
  }

  /// A tile in which a GPU computes what replaces tile (k, k).
  TemporaryTile workspace_for(Index k) const {
    if (!has_gpus_) return {};
    TemporaryTile workspace(A_.tile_m(k), A_.tile_m(k), sizeof(T));
    workspace.stand_for(detail::MatrixAccess::grid(A_), k, k);
    return workspace;
  }

  /// The arguments of an operation of tile (d, d) on tile (i, k).
  codelets::TriangularArgs<T> triangular(Index i, Index k, Index d, Side side, Op op, Diag diag, T alpha) const {
    return {.work = {flops_per_multiply_add<T> / 2 * order(i) * order(k) * order(d), type_letter<T>},
            .side = side,
            .uplo = uplo_,
            .op = op,
            .diag = diag,
            .alpha = alpha,
            .blocked = blocked_,
            .sum = nullptr,
            .spreads = true};
  }
  codelets::Work on_diagonal(Index k) const {
    return {flops_per_multiply_add<T> / 6 * order(k) * order(k) * order(k), type_letter<T>};
  }

  static constexpr Op adjoint = codelets::symmetry<is_complex<T>>;

  bool lower() const { return uplo_ == Uplo::Lower; }
  /// The side of tile (i, k) on which the tile on the diagonal of its own row applies to it.
  Side own_side() const { return lower() ? Side::Left : Side::Right; }
  static Side opposite(Side side) { return side == Side::Left ? Side::Right : Side::Left; }
  double order(Index k) const { return static_cast<double>(A_.tile_m(k)); }
  starpu_data_handle_t handle(Index i, Index j) const { return lower() ? A_.handle(i, j) : A_.handle(j, i); }
  int owner(Index i, Index j) const { return lower() ? owners_.of(i, j) : owners_.of(j, i); }

  const detail::Session& session_;
  Submitter submitter_;
  const Matrix<T>& A_;
  Uplo uplo_;
  Diag diag_;
  bool blocked_, has_gpus_;
  Owners owners_;
};

}  // namespace tessera::unroll
