// SPDX-License-Identifier: BSD-3-Clause
#include "workload/rank_update.hpp"

namespace tessera::bench {

namespace {

/// A triangle of C ← α op(A) op(A)ᵀ + β C, or with ᴴ
class RankK final : public RankUpdate<RankK> {
 public:
  using RankUpdate::RankUpdate;

  static constexpr int inputs = 1;

  template <Scalar T, typename Size>
  void call(const auto& library, const Call<T, Size>& c) const {
    if constexpr (is_complex<T>)
      if (hermitian())
        return library.herk(c.uplo, c.op_a, c.n, c.k, c.alpha.real(), c.A, c.lda, c.beta.real(), c.C, c.ldc);
    library.syrk(c.uplo, c.op_a, c.n, c.k, c.alpha, c.A, c.lda, c.beta, c.C, c.ldc);
  }

  template <Scalar T>
  Equation<T> equation(const Call<T>& c) const {
    const Operand<T> A{.op = c.op_a, .data = c.A, .ld = c.lda};
    return update(c, {{c.alpha, A, A.transposed(hermitian())}});
  }
};

}  // namespace

std::unique_ptr<Routine> shapes::rank_k(Entry entry) { return std::make_unique<RankK>(std::move(entry)); }

}  // namespace tessera::bench
