// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "codelets/sum_slots.hpp"
#include "core_columns.hpp"
#include "diagonal_blocks.hpp"
#include "owners.hpp"
#include "submit.hpp"
#include "tiling/plan.hpp"

namespace tessera::unroll {

/// A triangular matrix A, applied in place to B. X denotes B, or with A on the right Bᵀ.
///
/// All variants of side, uplo and op become one: tile rows s of X are numbered in the order in which trsm solves them,
/// and row s depends only on rows t < s. Tile columns j of X are independent of each other.
///
/// Each column of X belongs to one GPU, so X never moves between GPUs. Rows are distributed as well only if there are
/// fewer columns than GPUs. All tasks of a row are submitted together, so each tile of X is finished early and is
/// written back while the others are computed. The last columns may belong to cores instead.
template <Scalar T>
class Sweep {
 public:
  /// @param inverse  true: solves with the tiles on the diagonal (trsm); false: multiplies by them (trmm)
  /// @param plan     for the tiles of B
  Sweep(const detail::Session& session, const detail::Plan& plan, Side side, Uplo uplo, Op op, Diag diag, bool inverse,
        const Matrix<T>& A, const Matrix<T>& B)
      : session_(session), submitter_(session, B), A_(A), B_(B), uplo_(uplo), op_(op), diag_(diag), inverse_(inverse),
        left_(side == Side::Left), forward_(((uplo == Uplo::Lower) != (op != Op::NoTrans)) == left_),
        blocked_(is_blocked(session, A.tile_m(0))), cores_(columns(), plan.columns_for_cores.count, session.machine()) {
    if (session.machine().has_owners()) {
      using detail::MatrixAccess;
      const auto& share = MatrixAccess::grid(B).share();
      owners_ = {plan.grid,
                 rows(),
                 columns(),
                 Part::All,
                 0,
                 left_ ? MatrixAccess::first_column(B) : MatrixAccess::first_row(B),
                 left_ ? detail::OwnerGrid{share.p, share.q} : detail::OwnerGrid{share.q, share.p}};
    }
  }

  Index rows() const { return A_.mt(); }                       ///< tile rows of X
  Index columns() const { return left_ ? B_.nt() : B_.mt(); }  ///< tile columns of X

  /// Tile columns [begin, end), which are swept together.
  struct Group {
    Index begin, end;
  };
  /// One group of all columns, with one exception: if GPUs have only a few columns left when all have the same number,
  /// these form a second group, which is swept last. GPUs without such a column then steal tiles of these few columns.
  /// That saves copies, since a tile needs all tiles before it in its column.
  std::vector<Group> groups() const {
    const Index all = cores_.first(), gpus = owners_.period().q, rest = all % gpus;
    if (session_.machine().placement != Placement::Home || rest == 0 || 2 * rest >= gpus || all < gpus)
      return {{0, columns()}};
    return {{0, all - rest}, {all - rest, columns()}};
  }

  /// The product, in [0, count), that comes at place x of column j. The products belong to several rows or are the
  /// terms of one. If every GPU needs all of A, each GPU has them in a different order.
  Index term(Index j, Index x, Index count) const {
    return owners_.exist() && owners_.grid().p == 1 && cores_.of(j) < 0 ? owners_.term(0, j, x, count) : x;
  }

  /// X(s, j) ← α A(s, t) X(t, j) + β X(s, j)
  void product(Index s, Index t, Index j, T alpha, T beta) {
    const Index i = at(s), k = at(t);
    submitter_.step(k);
    const double terms = static_cast<double>(A_.tile_m(k));
    const codelets::GemmArgs<T> args{{flops_per_multiply_add<T> * elements(s, j) * terms, type_letter<T>},
                                     left_ ? op_ : Op::NoTrans,
                                     left_ ? Op::NoTrans : op_,
                                     alpha,
                                     beta};
    const Access matrix{a(s, t), STARPU_R}, x{X(k, j), STARPU_R}, result{X(i, j), STARPU_RW};
    submitter_.submit(codelets::gemm<T>(), {left_ ? matrix : x, left_ ? x : matrix, result}, args, owner(s, j));
  }

  /// X(s, j) ← α A(s, s) X(s, j), or α A(s, s)⁻¹ X(s, j), for all j of a group
  void diagonal(Index s, T alpha, Group group) {
    auto& codelet = inverse_ ? codelets::trsm<T>() : codelets::trmm<T>();
    const Index i = at(s);
    const Access a{A_.handle(i, i), STARPU_R};
    submitter_.step(i);
    TemporaryTile blocks;
    // With these, a GPU replaces trsm on a tile by products.
    if (blocked_ && inverse_) blocks = submit_diagonal_blocks(submitter_, A_, i, uplo_, diag_, owners_.of(s, s));
    for (Index j = group.begin; j < group.end; j++) {
      const double flops = flops_per_multiply_add<T> / 2 * elements(s, j) * static_cast<double>(A_.tile_m(i));
      const Access x{X(i, j), STARPU_RW};
      const bool blocked = blocked_ && cores_.of(j) < 0;  // the host BLAS needs no such help
      const codelets::TriangularArgs<T> args{{flops, type_letter<T>},
                                             left_ ? Side::Left : Side::Right,
                                             uplo_,
                                             op_,
                                             diag_,
                                             alpha,
                                             blocked,
                                             blocked ? submit_inspection(s, j, x) : nullptr};
      if (blocked && inverse_) submitter_.submit(codelet, {a, x, {blocks.handle(), STARPU_R}}, args, owner(s, j));
      else submitter_.submit(codelet, {a, x}, args, owner(s, j));
    }
  }

 private:
  /// Submits the task that sums X(s, j) right before its diagonal task, so that a GPU knows without waiting whether all
  /// elements are finite.
  /// @param x  the access of the diagonal task. `inspect` has the same, although it only reads: so it belongs to the
  ///           tasks that write the tile, which the policy keeps on one GPU, and its failure is one of the tile.
  /// @return   where the sum will be; null if the diagonal task must inspect the tile itself, as OpenCL devices need
  /// not
  Real<T>* submit_inspection(Index s, Index j, const Access& x) {
    if (session_.machine().is_opencl(owners_.of(s, j))) return nullptr;
    if (elements(s, j) > std::numeric_limits<int>::max() || !submitter_.runs(x.handle)) return nullptr;
    Real<T>* const sum = codelets::sum_slots::take<T>();
    if (sum == nullptr) return nullptr;
    const codelets::InspectArgs<T> args{{elements(s, j), type_letter<T>}, sum};
    submitter_.submit(codelets::inspect<T>(), {x}, args, owners_.of(s, j));
    return sum;
  }

  int owner(Index s, Index j) const { return cores_.of(j) < 0 ? owners_.of(s, j) : cores_.of(j); }
  Index at(Index s) const { return forward_ ? s : rows() - 1 - s; }
  starpu_data_handle_t X(Index i, Index j) const { return left_ ? B_.handle(i, j) : B_.handle(j, i); }
  starpu_data_handle_t a(Index s, Index t) const {
    const bool stored = left_ != (op_ != Op::NoTrans);
    return stored ? A_.handle(at(s), at(t)) : A_.handle(at(t), at(s));
  }
  double elements(Index s, Index j) const {
    const Index i = at(s);
    return left_ ? static_cast<double>(B_.tile_m(i)) * static_cast<double>(B_.tile_n(j))
                 : static_cast<double>(B_.tile_m(j)) * static_cast<double>(B_.tile_n(i));
  }
  const detail::Session& session_;
  Submitter submitter_;
  const Matrix<T>&A_, &B_;
  Uplo uplo_;
  Op op_;
  Diag diag_;
  bool inverse_, left_, forward_, blocked_;
  CoreColumns cores_;
  Owners owners_;  ///< of the tiles of X; columns are counted in the registered matrix, of which B may be a view
};

}  // namespace tessera::unroll
