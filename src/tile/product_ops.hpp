// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "codelets/codelet.hpp"
#include "common/of_type.hpp"
#include "runtime/session.hpp"
#include "tile.hpp"

namespace tessera::tile {

/// The operations of products: adding a term to a tile of the result, and combining partial sums. They compute only the
/// part of C that `C.part` names. With β = 0, C is not read.
///
/// If C is the adjoint of a stored tile, the operation is rewritten as an equivalent one on the stored tile.
/// @tparam Sink  a Submitter, a Loader or plan::Rehearse, with the functions submit(codelet, accesses, args, owner,
///               wanted_next), step(k) and runs(tile), and with temporary(tile, m, n, element size) and
///               partial_sum(tile, element size), which return a Temporary
template <typename Sink>
class ProductOps {
 public:
  /// @param type  letter of the elements: s, d, c or z
  ProductOps(const machine::Machine& machine, Sink& sink, char type)
      : machine_(machine), sink_(sink), type_(type), element_size_(common::size_of(type)),
        per_multiply_add_(common::flops_of_multiply_add(type)) {}

  char type() const noexcept { return type_; }
  Op adjoint_op() const noexcept { return tile::adjoint_op(type_); }
  Tile adjoint(const Tile& X) const { return tile::adjoint(type_, X); }

  /// C ← α X Y + β C
  /// @pre  if C is an adjoint, α and β are real, and all of C is computed
  void gemm(const common::Number& alpha, const Tile& X, const Tile& Y, const common::Number& beta, const Tile& C) {
    const bool transposed = C.op != Op::NoTrans;
    const Tile A = transposed ? adjoint(Y) : X, B = transposed ? adjoint(X) : Y;
    const Access a = A.read(), b = B.read(), c = output(C, beta);
    sink_.step(X.column());
    if (C.is_whole())
      sink_.submit(codelets::gemm(type_), {a, b, c},
                   codelets::GemmArgs{term(X, C), A.op, B.op, alpha, beta, Y.first_column, Y.first_row}, C.owner,
                   C.wanted_next);
    else
      sink_.submit(codelets::gemmt(type_), {a, b, c},
                   codelets::GemmtArgs{term(X, C), uplo_of(C.part), C.diagonal, A.op, B.op, alpha, beta}, C.owner,
                   C.wanted_next);
  }

  /// C ← α S X + β C (Left), or α X S + β C (Right), where S is a diagonal tile of a symmetric or Hermitian matrix.
  void symm(bool hermitian, Side side, Uplo stored, const common::Number& alpha, const Tile& S, const Tile& X,
            const common::Number& beta, const Tile& C) {
    auto& codelet = hermitian ? codelets::hemm(type_) : codelets::symm(type_);
    sink_.step(S.j);
    sink_.submit(codelet, {S.read(), X.read(), output(C, beta)},
                 codelets::SymmArgs{term(S, C), side, stored, alpha, beta}, C.owner, C.wanted_next);
  }

  /// C ← α X Xᵀ + β C, or with ᴴ instead of ᵀ and real factors. C is on the diagonal.
  void rank_k(bool hermitian, const common::Number& alpha, const Tile& X, const common::Number& beta, const Tile& C) {
    auto& codelet = hermitian ? codelets::herk(type_) : codelets::syrk(type_);
    sink_.step(X.column());
    sink_.submit(codelet, {X.read(), output(C, beta)},
                 codelets::SyrkArgs{term(X, C), uplo_of(C.part), C.diagonal, X.op, alpha, beta}, C.owner,
                 C.wanted_next);
  }

  /// C ← α X Yᵀ + α Y Xᵀ + β C, or with ᴴ instead of ᵀ, ᾱ in the second term, and a real β. C is on the diagonal.
  void rank_2k(bool hermitian, const common::Number& alpha, const Tile& X, const Tile& Y, const common::Number& beta,
               const Tile& C) {
    auto& codelet = hermitian ? codelets::her2k(type_) : codelets::syr2k(type_);
    auto both = term(X, C);
    both.flops *= 2;
    sink_.step(X.column());
    sink_.submit(codelet, {X.read(), Y.read(), output(C, beta)},
                 codelets::SyrkArgs{both, uplo_of(C.part), C.diagonal, X.op, alpha, beta}, C.owner, C.wanted_next);
  }

  /// The symmetric or Hermitian matrix on the diagonal of a panel of full height, of which the panel stores a triangle.
  /// @param first  the row of A at which its diagonal begins
  /// @param owner  the GPU that uses the result
  typename Sink::Temporary symmetrized(bool hermitian, Uplo stored, const Tile& A, Index first, int owner) {
    sink_.step(A.j);
    auto square = sink_.temporary(A, A.columns, A.columns, element_size_);
    const auto order = static_cast<double>(A.columns);
    sink_.submit(codelets::symmetrize(type_), {A.read(), {square.handle(), STARPU_W}},
                 codelets::SymmetrizeArgs{work(order * order), stored, static_cast<int>(first), hermitian}, owner);
    return square;
  }
  /// One step of symm or hemm: applies one panel of A on the left to one panel of X, both of full height. See
  /// codelets::symm_panel.
  /// @param D      the result of `symmetrized` for A
  /// @param first  the row of A at which its diagonal begins
  void symm_panel(bool hermitian, Uplo stored, const common::Number& alpha, const Tile& A,
                  const typename Sink::Temporary& D, Index first, const Tile& X, const common::Number& beta,
                  const Tile& C) {
    auto& codelet = hermitian ? codelets::hemm_panel(type_) : codelets::symm_panel(type_);
    const auto own = static_cast<double>(A.columns),
               others = static_cast<double>(stored == Uplo::Lower ? A.rows - first : first + A.columns) - own;
    const double flops = per_multiply_add_ * own * static_cast<double>(C.columns) * (own + 2 * others);
    sink_.step(A.j);
    sink_.submit(codelet, {A.read(), {D.handle(), STARPU_R}, X.read(), output(C, beta)},
                 codelets::SymmPanelArgs{work(flops), stored, static_cast<int>(first), alpha, beta}, C.owner);
  }

  /// A temporary tile for a partial sum of C, used if C has not arrived or holds another sum. Empty if another process
  /// computes C.
  std::optional<typename Sink::Temporary> partial_sum(const Tile& C) { return sink_.partial_sum(C, element_size_); }
  /// C ← D + β C, where D is a partial sum.
  /// @param real_diagonal  whether to ignore the imaginary parts of the diagonal of C; only for a triangle
  void add(const typename Sink::Temporary& D, bool real_diagonal, const common::Number& beta, const Tile& C) {
    sink_.submit(codelets::add(type_), {{D.handle(), STARPU_R}, {C.handle, STARPU_RW}},
                 codelets::ScaleArgs{work(C.elements()), C.part, C.diagonal, real_diagonal && !C.is_whole(), beta},
                 C.owner);
  }
  /// C ← A, as stored
  void copy(const Tile& A, const Tile& C) {
    sink_.submit(codelets::add(type_), {A.read(), {C.handle, STARPU_W}},
                 codelets::ScaleArgs{work(C.elements()), C.part, C.diagonal, false, 0}, C.owner);
  }
  /// C ← β C
  /// @param real_diagonal  whether to set the imaginary parts of the diagonal to 0
  void scale(const common::Number& beta, bool real_diagonal, const Tile& C) {
    sink_.submit(codelets::scale(type_), {output(C, beta)},
                 codelets::ScaleArgs{work(C.elements()), C.part, C.diagonal, real_diagonal && !C.is_whole(), beta},
                 C.owner);
  }

 protected:
  device::Work work(double flops) const { return {flops, type_}; }

  const machine::Machine& machine_;
  Sink& sink_;
  const char type_;
  const std::size_t element_size_;
  const double per_multiply_add_;

 private:
  /// The work of adding a product with X to C.
  device::Work term(const Tile& X, const Tile& C) const {
    const double elements =
        C.is_whole() ? C.elements() : common::trapezoid_elements(uplo_of(C.part), C.rows, C.columns, C.diagonal);
    return work(per_multiply_add_ * elements * static_cast<double>(X.n()));
  }
  static Access output(const Tile& C, const common::Number& beta) {
    const bool is_read = beta != 0 || (C.keeps_rest && !C.is_whole());
    return {C.handle, is_read ? STARPU_RW : STARPU_W};
  }
};

}  // namespace tessera::tile
