// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "common/symmetry.hpp"
#include "diagonal_blocks.hpp"
#include "loader.hpp"
#include "submit.hpp"
#include "tile_owners.hpp"
#include "tiling/plan.hpp"

namespace tessera::unroll {

/// The tasks that factorize a Hermitian matrix of square tiles, A = L Lᴴ.
///
/// Both triangles become one: below, tile (i, j) with i ≥ j is the stored tile (i, j) of a lower triangle, or (j, i) of
/// an upper one, in which U = Lᴴ is computed.
///
/// The factorization is left-looking. A tile gets all of its updates, and then its part of the factor, before the next
/// tile: it arrives just before its first update, and is written back while others are computed. The order of
/// submission, which is that of priority, goes down one tile column after another, with one exception: the next tile on
/// the diagonal comes as soon as the tile on its left is complete. Its factorization is slow, since it hardly fills a
/// GPU, and all of the next column waits for it.
template <Scalar T>
class Cholesky {
 public:
  /// @param A      as stored; its tiles are square
  /// @param value  gets the info
  Cholesky(const detail::Session& session, const detail::Plan& plan, Uplo uplo, const Matrix<T>& A,
           codelets::InfoValue* value)
      : session_(session), submitter_(session, A), A_(A), uplo_(uplo), value_(value),
        blocked_(is_blocked(session, A.tile_m(0))),
        owners_(owners(session, plan.grid, A, Region::triangle(uplo, A.mt(), A.nt(), A.mb(), A.nb()))) {}

  /// Requests all tiles in the order of their first use. Without that the links would wait for the first panels: StarPU
  /// shows the policy only tasks whose inputs exist.
  /// @pre  the GPUs have room for all tiles, and no task writes one yet
  void load() const {
    Loader loader(session_);
    const auto load = [&](Index i, Index j) { loader.load(handle(i, j), owner(i, j)); };
    load(0, 0);
    for (Index k = 0; k + 1 < A_.mt(); k++) {
      load(k + 1, k);
      load(k + 1, k + 1);
      for (Index i = k + 2; i < A_.mt(); i++) load(i, k);
    }
  }

  void submit() {
    const Index count = A_.mt();
    auto inverses = factorize(0);
    for (Index k = 0; k + 1 < count; k++) {
      complete(k + 1, k, inverses);
      auto next = factorize(k + 1);
      for (Index i = k + 2; i < count; i++) complete(i, k, inverses);
      inverses = std::move(next);
    }
  }

  /// The task that writes `info`. Call this last.
  /// @return  whether this process runs a task that factorizes a tile: otherwise there is nothing to tell
  bool submit_outcome(starpu_data_handle_t info) {
    Index last = A_.mt() - 1;
    while (last >= 0 && !submitter_.runs(A_.handle(last, last))) last--;
    if (last < 0) return false;
    submitter_.submit(codelets::outcome(), {{A_.handle(last, last), STARPU_R}, {info, STARPU_W}},
                      codelets::OutcomeArgs{{0, type_letter<T>}, value_}, owner(last, last));
    return true;
  }

 private:
  /// Updates and factorizes tile (k, k).
  /// @return  the inverses of its diagonal blocks, if trsm uses them
  TemporaryTile factorize(Index k) {
    const Access tile{handle(k, k), STARPU_RW};
    const auto order = static_cast<double>(A_.tile_m(k));
    for (Index j = 0; j < k; j++) {
      submitter_.step(j);
      const double flops = flops_per_multiply_add<T> / 2 * order * order * static_cast<double>(A_.tile_m(j));
      const codelets::SyrkArgs<T> args{{flops, type_letter<T>}, uplo_, 0, lower() ? Op::NoTrans : adjoint, T(-1), T(1)};
      auto& codelet = [&]() -> starpu_codelet& {
        if constexpr (is_complex<T>) return codelets::herk<T>();
        else return codelets::syrk<T>();
      }();
      submitter_.submit(codelet, {{handle(k, j), STARPU_R}, tile}, args, owner(k, k));
    }
    submitter_.step(k);
    const double flops = flops_per_multiply_add<T> / 6 * order * order * order;
    submitter_.submit(codelets::potrf<T>(), {tile},
                      codelets::PotrfArgs<T>{{flops, type_letter<T>}, uplo_, k * A_.mb(), value_}, owner(k, k));
    if (!blocked_ || k + 1 == A_.mt()) return {};
    return submit_diagonal_blocks(submitter_, A_, k, uplo_, Diag::NonUnit, owner(k, k));
  }

  /// Updates tile (i, k), i > k, and makes it a part of the factor.
  /// @param inverses  of the diagonal blocks of tile (k, k)
  void complete(Index i, Index k, const TemporaryTile& inverses) {
    const Access tile{handle(i, k), STARPU_RW};
    const double elements = static_cast<double>(A_.tile_m(i)) * static_cast<double>(A_.tile_m(k));
    for (Index j = 0; j < k; j++) {
      submitter_.step(j);
      const double flops = flops_per_multiply_add<T> * elements * static_cast<double>(A_.tile_m(j));
      const codelets::GemmArgs<T> args{
          {flops, type_letter<T>}, lower() ? Op::NoTrans : adjoint, lower() ? adjoint : Op::NoTrans, T(-1), T(1)};
      const Access own{handle(i, j), STARPU_R}, of_diagonal{handle(k, j), STARPU_R};
      submitter_.submit(codelets::gemm<T>(), {lower() ? own : of_diagonal, lower() ? of_diagonal : own, tile}, args,
                        owner(i, k));
    }
    submitter_.step(k);
    const double flops = flops_per_multiply_add<T> / 2 * elements * static_cast<double>(A_.tile_m(k));
    const codelets::TriangularArgs<T> args{.work = {flops, type_letter<T>},
                                           .side = lower() ? Side::Right : Side::Left,
                                           .uplo = uplo_,
                                           .op = adjoint,
                                           .diag = Diag::NonUnit,
                                           .alpha = T(1),
                                           .blocked = blocked_,
                                           .sum = nullptr,
                                           .spreads = true};
    const Access diagonal{handle(k, k), STARPU_R};
    if (blocked_)
      submitter_.submit(codelets::trsm<T>(), {diagonal, tile, {inverses.handle(), STARPU_R}}, args, owner(i, k));
    else submitter_.submit(codelets::trsm<T>(), {diagonal, tile}, args, owner(i, k));
  }

  static constexpr Op adjoint = codelets::symmetry<is_complex<T>>;

  bool lower() const { return uplo_ == Uplo::Lower; }
  starpu_data_handle_t handle(Index i, Index j) const { return lower() ? A_.handle(i, j) : A_.handle(j, i); }
  int owner(Index i, Index j) const { return lower() ? owners_.of(i, j) : owners_.of(j, i); }

  const detail::Session& session_;
  Submitter submitter_;
  const Matrix<T>& A_;
  Uplo uplo_;
  codelets::InfoValue* value_;
  bool blocked_;
  Owners owners_;
};

}  // namespace tessera::unroll
