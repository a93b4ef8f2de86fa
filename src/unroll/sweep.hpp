// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "owners.hpp"
#include "submit.hpp"

namespace tessera::unroll {

/// A triangular matrix and what it is applied to, in place, as both are stored. Every variant of side, uplo and op
/// looks the same from here: tile row s of X, counted in the order in which trsm solves them, depends on the rows t <
/// s. From the right, a row of X is a column of B. What is called column here, j, is what X has of independent ones.
///
/// Each column is dealt to one GPU, so that X never travels between them; only if there are too few, rows are dealt
/// out, too. All tasks of a row come together and each tile of X is finished early, on its way home while the others
/// follow.
template <Scalar T>
class Sweep {
 public:
  /// @param inverse  whether the diagonal is solved with, or multiplied
  Sweep(const detail::Session& session, Side side, Uplo uplo, Op op, Diag diag, bool inverse, const Matrix<T>& A,
        const Matrix<T>& B)
      : session_(session), submitter_(session, B), A_(A), B_(B), uplo_(uplo), op_(op), diag_(diag), inverse_(inverse),
        left_(side == Side::Left), forward_(((uplo == Uplo::Lower) != (op != Op::NoTrans)) == left_),
        blocked_(session.gpu_count() > 0 && A.tile_m(0) > codelets::diagonal_block),
        prefetched_(static_cast<std::size_t>(session.gpu_count())) {
    if (session.has_owners()) {
      const int gpus = session.gpu_count(), across = static_cast<int>(std::clamp<Index>(columns(), 1, gpus));
      using detail::MatrixAccess;
      owners_ = {{gpus / across, across},
                 rows(),
                 columns(),
                 Part::All,
                 0,
                 left_ ? MatrixAccess::first_column(B) : MatrixAccess::first_row(B)};
    }
    if (owners_.exist() && session.gpu_memory() > 0 && rows() > 0 && columns() > 0) {
      const double share = static_cast<double>(rows() * columns()) / owners_.grid().q * elements(0, 0);
      const double tile = static_cast<double>(A.tile_m(0)) * static_cast<double>(A.tile_m(0));
      kept_ = static_cast<Index>(std::max(0.0, (session.gpu_memory() / sizeof(T) - share) / tile));
    }
    if (blocked_) workspace_ = TemporaryTile(codelets::diagonal_block, left_ ? B.tile_n(0) : B.tile_m(0), sizeof(T));
  }

  Index rows() const { return A_.mt(); }
  Index columns() const { return left_ ? B_.nt() : B_.mt(); }

  /// Columns that are swept together.
  struct Group {
    Index begin, end;
  };
  /// All of them; but if only few are left when each GPU has had the same number, these come last: what the others then
  /// steal are tiles of few columns, each of which needs all of its column.
  std::vector<Group> groups() const {
    const Index all = columns(), gpus = owners_.grid().q, rest = all % gpus;
    if (session_.placement() != Placement::Home || rest == 0 || 2 * rest >= gpus || all < gpus) return {{0, all}};
    return {{0, all - rest}, {all - rest, all}};
  }

  /// The x-th of the s terms of X(s, j): trsm takes the oldest rows first, as their solutions are there; trmm the
  /// youngest, which may be overwritten when all have read them.
  Index term(Index s, Index j, Index x) const { return ((inverse_ ? x : s - 1 - x) + skew(s, j)) % s; }

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
    submitter_.submit(codelets::gemm<T>(), {left_ ? matrix : x, left_ ? x : matrix, result}, args, owners_.of(s, j));
  }

  /// X(s, j) ← α A(s, s) X(s, j) for all j of a group, or with the inverse of A(s, s)
  void diagonal(Index s, T alpha, Group group) {
    auto& codelet = inverse_ ? codelets::trsm<T>() : codelets::trmm<T>();
    const Index i = at(s);
    const Access a{A_.handle(i, i), STARPU_R};
    submitter_.step(i);
    TemporaryTile blocks;
    if (blocked_) blocks = submit_blocks(s);
    for (Index j = group.begin; j < group.end; j++) {
      const double flops = flops_per_multiply_add<T> / 2 * elements(s, j) * static_cast<double>(A_.tile_m(i));
      const codelets::TriangularArgs<T> args{
          {flops, type_letter<T>}, left_ ? Side::Left : Side::Right, uplo_, op_, diag_, alpha, blocked_};
      const Access x{X(i, j), STARPU_RW};
      if (blocked_)
        submitter_.submit(codelet, {a, x, {blocks.handle(), STARPU_R}, {workspace_.handle(), STARPU_SCRATCH}}, args,
                          owners_.of(s, j));
      else submitter_.submit(codelet, {a, x}, args, owners_.of(s, j));
    }
  }

  /// Starts bringing row s of X to its owners, if that is the only call that knows it: in a chain, what is there now
  /// may not be what the sweep will find. StarPU begins when the first task on a tile is ready, and in a sweep most
  /// tiles wait for others first.
  void prefetch_result(Index s, Group group) {
    for (Index j = group.begin; j < group.end; j++) bring(X(at(s), j), sizeof(T) * elements(s, j), owners_.of(s, j));
  }

  /// The same with row s of A, each tile to the GPU that wants it first.
  void prefetch_matrix(Index s) {
    const auto rows = static_cast<double>(A_.tile_m(at(s)));
    bring(A_.handle(at(s), at(s)), sizeof(T) * rows * rows, owners_.of(s, s));
    for (Index t = 0; t < s; t++) {
      Index first = 0;
      for (Index j = 1; j < owners_.grid().q; j++)
        if (turn(s, t, j) < turn(s, t, first)) first = j;
      bring(a(s, t), sizeof(T) * rows * static_cast<double>(A_.tile_m(at(t))), owners_.of(s, first));
    }
  }

 private:
  /// Prefetches a tile, as long as these are less than half of the GPU's memory: later ones would drive out earlier
  /// ones.
  void bring(starpu_data_handle_t tile, double bytes, int gpu) {
    if (!owners_.exist() || !detail::MatrixAccess::grid(B_).is_private()) return;
    const auto index = static_cast<std::size_t>(gpu);
    const auto node = starpu_worker_get_memory_node(static_cast<unsigned>(session_.gpu_workers()[index].front()));
    const auto memory = starpu_memory_get_total(node);  // -1: not known
    if (memory >= 0 && prefetched_[index] + bytes > static_cast<double>(memory) / 2) return;
    prefetched_[index] += bytes;
    starpu_data_prefetch_on_node(tile, node, 1);
  }

  /// The blocks on the diagonal of A(s, s), with which a GPU replaces trmm and trsm by products.
  TemporaryTile submit_blocks(Index s) {
    const Index i = at(s), order = A_.tile_m(i);
    TemporaryTile blocks(codelets::diagonal_block, order, sizeof(T));
    blocks.stand_for(detail::MatrixAccess::grid(A_), i, i);
    const double flops =
        flops_per_multiply_add<T> * static_cast<double>(order) * codelets::diagonal_block * codelets::diagonal_block;
    const codelets::DiagonalBlocksArgs<T> args{{flops, type_letter<T>}, uplo_, diag_, inverse_};
    submitter_.submit(codelets::diagonal_blocks<T>(), {{A_.handle(i, i), STARPU_R}, {blocks.handle(), STARPU_W}}, args,
                      owners_.of(s, s));
    return blocks;
  }

  /// Where every GPU needs all of A, each begins a sum somewhere else, so that they want a tile of A at different times
  /// and all but the first find it on a peer.
  Index skew(Index s, Index j) const { return owners_.grid().p == 1 ? owners_.skew(s, j, s, kept_) : 0; }
  /// How many terms of X(s, j) come before that with row t.
  Index turn(Index s, Index t, Index j) const {
    const Index unskewed = (t - skew(s, j) + s) % s;
    return inverse_ ? unskewed : s - 1 - unskewed;
  }
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
  Index kept_ = detail::unlimited;  ///< tiles of A that a GPU has room for, beside its columns of X
  std::vector<double> prefetched_;  ///< bytes, by GPU
  Owners owners_;                   ///< of X; the columns are those of the registered matrix
  TemporaryTile workspace_;
};

}  // namespace tessera::unroll
