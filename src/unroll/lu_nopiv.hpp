// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "diagonal_blocks.hpp"
#include "loader.hpp"
#include "submit.hpp"
#include "tile_owners.hpp"
#include "tiling/plan.hpp"

namespace tessera::unroll {

/// The tasks that factorize a matrix of square tiles without pivoting, A = L U.
///
/// The order is that of Cholesky, with a row of U for each column of L: left-looking, and the next tile on the diagonal
/// comes as soon as the tile above it and that on its left are complete.
template <Scalar T>
class LuNopiv {
 public:
  /// The growth of a factorization, where it is wanted.
  struct Measured {
    codelets::GrowthValue* value = nullptr;
    starpu_data_handle_t handle = nullptr;  ///< of an std::int64_t that exists
  };

  /// @param unit  the factor with ones on its diagonal, of A as stored
  /// @param info  gets the info
  LuNopiv(const detail::Session& session, const detail::Plan& plan, Uplo unit, const Matrix<T>& A,
          codelets::InfoValue* info, Measured growth)
      : session_(session), submitter_(session, A), A_(A), unit_(unit), info_(info), growth_(growth),
        owners_(owners(session, plan.grid, A, Part::All)) {}

  /// Requests all tiles in the order of their first use, see Cholesky::load.
  void load() const {
    Loader loader(session_);
    for_each_tile([&](Index i, Index j) { loader.load(A_.handle(i, j), owners_.of(i, j)); });
  }

  void submit() {
    for_each_tile([&](Index i, Index j) { compute(i, j); });
  }

  /// The tasks that write `info`, and the growth if it is wanted. Call this last.
  /// @return  whether this process runs a task that factorizes a tile: otherwise there is nothing to tell
  bool submit_outcome(starpu_data_handle_t info) {
    if (growth_.value != nullptr) submit_outcome(growth_.handle, growth_.value);
    return submit_outcome(info, info_);
  }

 private:
  /// Calls visit(i, j) for each tile in the order in which they are computed.
  template <typename Visit>
  void for_each_tile(Visit visit) const {
    visit(0, 0);
    for (Index k = 0; k < steps(); k++) {
      const bool has_next = k + 1 < steps();
      if (has_next) visit(k, k + 1), visit(k + 1, k), visit(k + 1, k + 1);
      for (Index i = has_next ? k + 2 : k + 1; i < std::max(A_.mt(), A_.nt()); i++) {
        if (i < A_.mt()) visit(i, k);
        if (i < A_.nt()) visit(k, i);
      }
    }
  }

  /// Updates tile (i, j), and makes it a part of the factors.
  void compute(Index i, Index j) {
    const Index k = std::min(i, j);
    if (growth_.value != nullptr) measure(codelets::GrowthValue::Matrix, i, j, Part::All);
    for (Index t = 0; t < k; t++) {
      submitter_.step(t);
      const codelets::GemmArgs<T> args{
          {flops(i, j, A_.tile_n(t)), type_letter<T>}, Op::NoTrans, Op::NoTrans, T(-1), T(1)};
      submitter_.submit(codelets::gemm<T>(),
                        {{A_.handle(i, t), STARPU_R}, {A_.handle(t, j), STARPU_R}, {A_.handle(i, j), STARPU_RW}}, args,
                        owners_.of(i, j));
    }
    submitter_.step(k);
    if (i == j) factorize(k);
    else solve(i, j);
    const Uplo other = unit_ == Uplo::Lower ? Uplo::Upper : Uplo::Lower;
    if (growth_.value != nullptr && (i == j || (other == Uplo::Upper) == (i < j)))
      measure(codelets::GrowthValue::Factor, i, j, i == j ? codelets::part_of(other) : Part::All);
  }

  /// Factorizes tile (k, k), and inverts its diagonal blocks where trsm uses them.
  void factorize(Index k) {
    const auto rows = static_cast<double>(A_.tile_m(k)), columns = static_cast<double>(A_.tile_n(k)),
               order = std::min(rows, columns);
    const double products = rows * columns * order - (rows + columns) * order * order / 2 + order * order * order / 3;
    const int owner = owners_.of(k, k);
    submitter_.submit(
        codelets::getrf_nopiv<T>(), {{A_.handle(k, k), STARPU_RW}},
        codelets::GetrfNopivArgs{{flops_per_multiply_add<T> * products, type_letter<T>}, unit_, k * A_.mb(), info_},
        owner);
    auto& [lower, upper] = inverses(k);
    lower = {}, upper = {};
    if (!blocked(k)) return;
    if (k + 1 < A_.nt()) lower = submit_diagonal_blocks(submitter_, A_, k, Uplo::Lower, diag(Uplo::Lower), owner);
    if (k + 1 < A_.mt()) upper = submit_diagonal_blocks(submitter_, A_, k, Uplo::Upper, diag(Uplo::Upper), owner);
  }

  /// Tile (i, j) ← L(i, i)⁻¹ A(i, j) above the diagonal, or A(i, j) U(j, j)⁻¹ below it.
  void solve(Index i, Index j) {
    const bool above = i < j;
    const Index k = std::min(i, j);
    const Uplo uplo = above ? Uplo::Lower : Uplo::Upper;
    const codelets::TriangularArgs<T> args{
        .work = {flops(i, j, above ? A_.tile_m(i) : A_.tile_n(j)) / 2, type_letter<T>},
        .side = above ? Side::Left : Side::Right,
        .uplo = uplo,
        .op = Op::NoTrans,
        .diag = diag(uplo),
        .alpha = T(1),
        .blocked = blocked(k),
        .sum = nullptr,
        .spreads = true};
    const Access diagonal{A_.handle(k, k), STARPU_R}, tile{A_.handle(i, j), STARPU_RW};
    const auto& blocks = above ? inverses(k).lower : inverses(k).upper;
    if (blocked(k))
      submitter_.submit(codelets::trsm<T>(), {diagonal, tile, {blocks.handle(), STARPU_R}}, args, owners_.of(i, j));
    else submitter_.submit(codelets::trsm<T>(), {diagonal, tile}, args, owners_.of(i, j));
  }

  /// The access to the tile is that of the tasks which write it: the policy keeps them on one GPU.
  void measure(codelets::GrowthValue::Of of, Index i, Index j, Part part) {
    const double elements = static_cast<double>(A_.tile_m(i)) * static_cast<double>(A_.tile_n(j));
    const codelets::GrowthArgs args{{elements, type_letter<T>}, part, of, growth_.value};
    submitter_.submit(codelets::growth<T>(), {{A_.handle(i, j), STARPU_RW}, {growth_.handle, STARPU_R}}, args,
                      owners_.of(i, j));
  }

  bool submit_outcome(starpu_data_handle_t result, codelets::OutcomeValue* value) {
    Index last = steps() - 1;
    while (last >= 0 && !submitter_.runs(A_.handle(last, last))) last--;
    if (last < 0) return false;
    submitter_.submit(codelets::outcome(), {{A_.handle(last, last), STARPU_R}, {result, STARPU_W}},
                      codelets::OutcomeArgs{{0, type_letter<T>}, value}, owners_.of(last, last));
    return true;
  }

  /// Of a product with `terms` terms for each element of tile (i, j).
  double flops(Index i, Index j, Index terms) const {
    return flops_per_multiply_add<T> * static_cast<double>(A_.tile_m(i)) * static_cast<double>(A_.tile_n(j)) *
           static_cast<double>(terms);
  }
  Index steps() const { return std::min(A_.mt(), A_.nt()); }
  Diag diag(Uplo factor) const { return factor == unit_ ? Diag::Unit : Diag::NonUnit; }
  /// The last tile on the diagonal of a rectangular matrix may not be square: diagonal blocks are those of squares.
  bool blocked(Index k) const { return A_.tile_m(k) == A_.tile_n(k) && is_blocked(session_, A_.tile_m(k)); }

  struct Inverses {
    TemporaryTile lower, upper;
  };
  /// Of the diagonal blocks of tile (k, k). Only those of two neighbours are needed at a time.
  Inverses& inverses(Index k) { return inverses_[k % 2]; }

  const detail::Session& session_;
  Submitter submitter_;
  const Matrix<T>& A_;
  Uplo unit_;
  codelets::InfoValue* info_;
  Measured growth_;
  Owners owners_;
  Inverses inverses_[2];
};

}  // namespace tessera::unroll
