// SPDX-License-Identifier: BSD-3-Clause
#include "common/symmetry.hpp"
#include "plan/plans.hpp"
#include "workload/typed_routine.hpp"

namespace tessera::bench {

namespace {

/// A triangle of C ← α op(A) op(A)ᵀ + β C, or of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C. Hermitian updates use ᴴ
/// instead of ᵀ, and ᾱ in the second term.
class RankUpdate final : public TypedRoutine<RankUpdate> {
 public:
  using TypedRoutine::TypedRoutine;

  algorithms::Plan plan(const detail::Machine& machine, const Problem& p) const {
    const auto what = two() ? plan::SumOf::Rank2k : plan::SumOf::RankK;
    return plan::plan_triangle(machine, p.type, what, p.op_a, codelets::other_factor(false, p.op_a), p.n, p.k);
  }

  /// Takes the diagonal of a Hermitian C₀ as real, and requires that the diagonal of C is real. A call that changes
  /// nothing is an exception: the BLAS returns at once and leaves C untouched.
  template <Scalar T>
  Equation<T> equation(const Call<T>& c) const {
    const Operand<T> A{.op = c.op_a, .data = c.A, .ld = c.lda}, B{.op = c.op_a, .data = c.B, .ld = c.ldb};
    std::vector<Term<T>> terms{{c.alpha, A, (two() ? B : A).transposed(hermitian())}};
    if (two()) terms.push_back({hermitian() ? conjugated(c.alpha) : c.alpha, B, A.transposed(hermitian())});
    const Index k = c.terms(c.k);
    auto before = c.before();
    if (hermitian() && (k > 0 || c.beta != T(1))) before.diagonal = Diagonal::Real;
    return {c.n, c.n, k, std::move(terms), c.beta, before, c.result(), c.C, c.uplo};
  }

 private:
  bool two() const { return properties().shape == blas::Shape::rank_2k; }
};

}  // namespace

std::unique_ptr<Routine> shapes::rank_k(blas::Routine which) { return std::make_unique<RankUpdate>(which); }
std::unique_ptr<Routine> shapes::rank_2k(blas::Routine which) { return std::make_unique<RankUpdate>(which); }

}  // namespace tessera::bench
