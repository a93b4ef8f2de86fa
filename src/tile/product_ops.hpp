// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "codelets/codelet.hpp"
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
template <Scalar T, typename Sink>
class ProductOps {
 public:
  ProductOps(const detail::Session& session, Sink& sink) : ProductOps(session.machine(), sink) {}
  ProductOps(const detail::Machine& machine, Sink& sink) : machine_(machine), sink_(sink) {}

  /// C ← α X Y + β C
  /// @pre  if C is an adjoint, α and β are real, and all of C is computed
  void gemm(T alpha, const Tile& X, const Tile& Y, T beta, const Tile& C) {
    const bool transposed = C.op != Op::NoTrans;
    const Tile A = transposed ? adjoint<T>(Y) : X, B = transposed ? adjoint<T>(X) : Y;
    const Access a = A.read(), b = B.read(), c = output(C, beta);
    sink_.step(X.column());
    if (C.is_whole())
      sink_.submit(codelets::gemm<T>(), {a, b, c},
                   codelets::GemmArgs<T>{term(X, C), A.op, B.op, alpha, beta, Y.first_column, Y.first_row}, C.owner,
                   C.wanted_next);
    else
      sink_.submit(codelets::gemmt<T>(), {a, b, c},
                   codelets::GemmtArgs<T>{term(X, C), uplo_of(C.part), C.diagonal, A.op, B.op, alpha, beta}, C.owner,
                   C.wanted_next);
  }

  /// C ← α S X + β C (Left), or α X S + β C (Right), where S is a diagonal tile of a symmetric or Hermitian matrix.
  template <bool hermitian>
  void symm(Side side, Uplo stored, T alpha, const Tile& S, const Tile& X, T beta, const Tile& C) {
    auto& codelet = [&]() -> starpu_codelet& {
      if constexpr (hermitian) return codelets::hemm<T>();
      else return codelets::symm<T>();
    }();
    sink_.step(S.j);
    sink_.submit(codelet, {S.read(), X.read(), output(C, beta)},
                 codelets::SymmArgs<T>{term(S, C), side, stored, alpha, beta}, C.owner, C.wanted_next);
  }

  /// C ← α X Xᵀ + β C, or with ᴴ instead of ᵀ and real factors. C is on the diagonal.
  template <bool hermitian>
  void rank_k(T alpha, const Tile& X, T beta, const Tile& C) {
    auto& codelet = [&]() -> starpu_codelet& {
      if constexpr (hermitian) return codelets::herk<T>();
      else return codelets::syrk<T>();
    }();
    sink_.step(X.column());
    sink_.submit(codelet, {X.read(), output(C, beta)},
                 codelets::SyrkArgs<T>{term(X, C), uplo_of(C.part), C.diagonal, X.op, alpha, beta}, C.owner,
                 C.wanted_next);
  }

  /// C ← α X Yᵀ + α Y Xᵀ + β C, or with ᴴ instead of ᵀ, ᾱ in the second term, and a real β. C is on the diagonal.
  template <bool hermitian>
  void rank_2k(T alpha, const Tile& X, const Tile& Y, T beta, const Tile& C) {
    auto& codelet = [&]() -> starpu_codelet& {
      if constexpr (hermitian) return codelets::her2k<T>();
      else return codelets::syr2k<T>();
    }();
    auto both = term(X, C);
    both.flops *= 2;
    sink_.step(X.column());
    sink_.submit(codelet, {X.read(), Y.read(), output(C, beta)},
                 codelets::Syr2kArgs<T>{both, uplo_of(C.part), C.diagonal, X.op, alpha, beta}, C.owner, C.wanted_next);
  }

  /// The step of symm or hemm that applies one panel of A on the left to one panel of X, both of full height: see
  /// codelets::symm_panel.
  /// @param first  the row of A at which its diagonal begins
  template <bool hermitian>
  void symm_panel(Uplo stored, T alpha, const Tile& A, Index first, const Tile& X, T beta, const Tile& C) {
    auto& codelet = [&]() -> starpu_codelet& {
      if constexpr (hermitian) return codelets::hemm_panel<T>();
      else return codelets::symm_panel<T>();
    }();
    const auto own = static_cast<double>(A.columns),
               others = static_cast<double>(stored == Uplo::Lower ? A.rows - first : first + A.columns) - own;
    const double flops = flops_per_multiply_add<T> * own * static_cast<double>(C.columns) * (own + 2 * others);
    sink_.step(A.j);
    sink_.submit(codelet, {A.read(), X.read(), output(C, beta)},
                 codelets::SymmPanelArgs<T>{work(flops), stored, static_cast<int>(first), alpha, beta}, C.owner);
  }

  /// A tile for a partial sum of C, if C has not arrived or holds another sum; empty if another process computes C.
  std::optional<typename Sink::Temporary> partial_sum(const Tile& C) { return sink_.partial_sum(C, sizeof(T)); }
  /// C ← D + β C, where D is a partial sum.
  /// @param real_diagonal  whether to ignore the imaginary parts of the diagonal of C; only for a triangle
  void add(const typename Sink::Temporary& D, bool real_diagonal, T beta, const Tile& C) {
    sink_.submit(codelets::add<T>(), {{D.handle(), STARPU_R}, {C.handle, STARPU_RW}},
                 codelets::AddArgs<T>{work(C.elements()), C.part, C.diagonal, real_diagonal && !C.is_whole(), beta},
                 C.owner);
  }
  /// C ← A, as stored
  void copy(const Tile& A, const Tile& C) {
    sink_.submit(codelets::add<T>(), {A.read(), {C.handle, STARPU_W}},
                 codelets::AddArgs<T>{work(C.elements()), C.part, C.diagonal, false, T{}}, C.owner);
  }
  /// C ← β C
  /// @param real_diagonal  whether to set the imaginary parts of the diagonal to 0
  void scale(T beta, bool real_diagonal, const Tile& C) {
    sink_.submit(codelets::scale<T>(), {output(C, beta)},
                 codelets::ScaleArgs<T>{work(C.elements()), C.part, C.diagonal, real_diagonal && !C.is_whole(), beta},
                 C.owner);
  }

 protected:
  static codelets::Work work(double flops) { return {flops, type_letter<T>}; }

  const detail::Machine& machine_;
  Sink& sink_;

 private:
  /// The work of adding a product with X to C.
  static codelets::Work term(const Tile& X, const Tile& C) {
    const double elements =
        C.is_whole() ? C.elements() : codelets::trapezoid_elements(uplo_of(C.part), C.rows, C.columns, C.diagonal);
    return work(flops_per_multiply_add<T> * elements * static_cast<double>(X.n()));
  }
  static Access output(const Tile& C, T beta) {
    const bool is_read = beta != T{} || (C.keeps_rest && !C.is_whole());
    return {C.handle, is_read ? STARPU_RW : STARPU_W};
  }
};

}  // namespace tessera::tile
