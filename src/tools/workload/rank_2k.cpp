// SPDX-License-Identifier: BSD-3-Clause
#include "workload/rank_update.hpp"

namespace tessera::bench {

namespace {

/// A triangle of C ← α op(A) op(B)ᵀ + α op(B) op(A)ᵀ + β C, or with ᴴ and ᾱ in the second term
class Rank2k final : public RankUpdate<Rank2k> {
 public:
  using RankUpdate::RankUpdate;

  static constexpr int inputs = 2;

  template <Scalar T, typename Size>
  void call(const auto& library, const Call<T, Size>& c) const {
    if constexpr (is_complex<T>)
      if (hermitian())
        return library.her2k(c.uplo, c.op_a, c.n, c.k, c.alpha, c.A, c.lda, c.B, c.ldb, c.beta.real(), c.C, c.ldc);
    library.syr2k(c.uplo, c.op_a, c.n, c.k, c.alpha, c.A, c.lda, c.B, c.ldb, c.beta, c.C, c.ldc);
  }

  template <Scalar T>
  Equation<T> equation(const Call<T>& c) const {
    const Operand<T> A{.op = c.op_a, .data = c.A, .ld = c.lda}, B{.op = c.op_a, .data = c.B, .ld = c.ldb};
    const T second = hermitian() ? conjugated(c.alpha) : c.alpha;
    return update(c, {{c.alpha, A, B.transposed(hermitian())}, {second, B, A.transposed(hermitian())}});
  }
};

}  // namespace

std::unique_ptr<Routine> shapes::rank_2k(Entry entry) { return std::make_unique<Rank2k>(std::move(entry)); }

}  // namespace tessera::bench
