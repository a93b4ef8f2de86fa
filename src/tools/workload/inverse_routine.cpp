// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <tessera/lapack.hpp>

#include "devices/cpu/host_lapack.hpp"
#include "plan/plans.hpp"
#include "workload/check.hpp"
#include "workload/factorization.hpp"
#include "workload/other_libraries.hpp"

namespace tessera::bench {

namespace {

constexpr const char* inversions[] = {"trtri", "lauum", "potri", "getri"};

using device::cpu::lauum, tessera::lauum;
using device::cpu::potri, device::cpu::trtri, tessera::getri, tessera::potri, tessera::trtri;
template <Scalar T>
Index getri(int n, T* A, int lda, const int* pivots) {
  return with_workspace<T>(
      [&](T* work, int elements) { return device::cpu::getri(n, A, lda, pivots, work, elements); });
}

/// trtri, lauum and potri overwrite a triangle of C. getri overwrites C, which holds L and U with random pivots. The
/// factors are generated as well-conditioned triangles.
class Inverse final : public Factorization {
 public:
  explicit Inverse(Inversion which)
      : Factorization(inversions[static_cast<std::size_t>(which)], false), which_(which) {}

  Takes takes() const override {
    return {.uplo = in_triangle(), .diag = which_ == Inversion::Trtri, .k = false, .beta = false};
  }
  bool has_cusolver(const Problem& /*p*/) const override { return in_triangle(); }
  bool can_be_simulated() const override { return in_triangle(); }

  using Routine::plan_of;
  algorithms::Plan plan_of(const Problem& p, const machine::Machine& machine) const override {
    return in_triangle() ? plan::plan_cholesky(machine, p.type, p.n, true)
                         : plan::plan_getrf(machine, p.type, p.n, p.n);
  }
  bool is_planned_whole() const override { return false; }

  void run_tessera(const Problem& p, const Operands& o) const override { run<Index>(p, o); }
  void run_openblas(const Problem& p, const Operands& o) const override { run<int>(p, o); }
  void run_cusolver(CuSolver& solver, const Problem& p, const Operands& o) const override {
    solver.invert(p.type, which_, p.uplo, p.diag, p.n, o.C, shapes(p).C.ld);
  }

  /// Inverses: X A t = t for a random vector t, where A is the product of the generated factors. lauum: C t = Lᴴ L t.
  /// The error of an entry is relative to the same product of absolute values, which also bounds the rounding errors.
  Verdict check(const Problem& p, const Operands& o) const override {
    const PauseWorkers pause;
    return common::with_type(p.type, [&]<Scalar T>(T) {
      auto* const C = static_cast<const T*>(o.C);
      const auto t = random_vector<T>(p.n, p.seed);
      const bool adds = which_ == Inversion::Lauum;
      const auto product = multiply_by_factors<T>(p, t);
      const auto result = apply<T>(result_of(p, C), p.n, adds ? t : product);
      const auto &expected = adds ? product : t, &scale = adds ? product : result;
      const Index matrices = which_ == Inversion::Trtri || adds ? 2 : 3;
      Verdict verdict{0, error_bound<T>(matrices * p.n)};
      for (std::size_t i = 0; i < t.x.size(); i++)
        verdict.add(static_cast<double>(magnitude(result.x[i] - expected.x[i]) / scale.s[i]));
      if (!rest_is_intact(p, C)) verdict.error = std::numeric_limits<double>::infinity();
      return verdict;
    });
  }

 private:
  bool in_triangle() const { return which_ != Inversion::Getri; }
  /// The diagonal of a factor is real, except for trtri, which takes any triangle.
  bool real_diagonal() const { return which_ == Inversion::Lauum || which_ == Inversion::Potri; }

  Shape matrix(const Problem& p) const override {
    return {.rows = p.n, .columns = p.n, .well_conditioned = true, .real_diagonal = real_diagonal()};
  }
  double multiply_adds(const Problem& p) const override {
    const double cubes = which_ == Inversion::Getri ? 4 : which_ == Inversion::Potri ? 2 : 1;  // in units of n³/6
    return cubes * std::pow(static_cast<double>(p.n), 3) / 6;
  }
  double used_elements(const Problem& p) const override {
    const auto n = static_cast<double>(p.n);
    return in_triangle() ? n * (n + 1) / 2 : n * n;
  }

  template <typename Size>
  void run(const Problem& p, const Operands& o) const {
    if (!in_triangle() && std::ssize(pivots_) != p.n) pivots_ = random_pivots(p);
    const auto n = static_cast<Size>(p.n);
    Factorization::run<Size>(p, o, "the matrix is singular",
                             [&]<Scalar T>(Size /*nrhs*/, T* A, Size lda, T* /*B*/, Size /*ldb*/) -> Index {
                               switch (which_) {
                               case Inversion::Trtri: return trtri(p.uplo, p.diag, n, A, lda);
                               case Inversion::Lauum: return lauum(p.uplo, n, A, lda), 0;
                               case Inversion::Potri: return potri(p.uplo, n, A, lda);
                               case Inversion::Getri: return getri(n, A, lda, pivots_.data());
                               }
                               return 0;
                             });
  }
  static std::vector<int> random_pivots(const Problem& p) {
    std::vector<int> pivots;
    for (Index i = 0; i < p.n; i++) {
      const auto rows = static_cast<double>(p.n - i);
      pivots.push_back(
          static_cast<int>(std::min(p.n, i + 1 + static_cast<Index>((generated(p.seed, 1, i) + 0.5) * rows))));
    }
    return pivots;
  }

  /// The generated C.
  template <Scalar T>
  Operand<T> before(const Problem& p) const {
    return {.ld = shapes(p).C.ld, .seed = p.seed, .well_conditioned = p.n};
  }
  template <Scalar T>
  Operand<T> factor(const Problem& p, Uplo uplo, Diag diag) const {
    auto L = before<T>(p);
    L.form = Form::Triangular, L.uplo = uplo;
    L.diagonal = diag == Diag::Unit ? Diagonal::Ones : real_diagonal() ? Diagonal::Real : Diagonal::Stored;
    return L;
  }
  template <Scalar T>
  Operand<T> result_of(const Problem& p, const T* C) const {
    Operand<T> X{.data = C, .ld = shapes(p).C.ld};
    if (!in_triangle()) return X;
    X.uplo = p.uplo;
    if (which_ == Inversion::Trtri) {
      X.form = Form::Triangular;
      if (p.diag == Diag::Unit) X.diagonal = Diagonal::Ones;
    } else X.form = is_complex<T> ? Form::Hermitian : Form::Symmetric;
    return X;
  }

  /// A t, where A is the product of its factors. For lauum, Lᴴ L t or U Uᴴ t.
  template <Scalar T>
  BoundedVector<T> multiply_by_factors(const Problem& p, const BoundedVector<T>& t) const {
    if (which_ == Inversion::Getri) {
      auto y = apply<T>(factor<T>(p, Uplo::Lower, Diag::Unit), p.n,
                        apply<T>(factor<T>(p, Uplo::Upper, Diag::NonUnit), p.n, t));
      for (Index i = p.n - 1; i >= 0; i--) {
        const auto row = static_cast<std::size_t>(i), other = static_cast<std::size_t>(pivots_[row] - 1);
        std::swap(y.x[row], y.x[other]), std::swap(y.s[row], y.s[other]);
      }
      return y;
    }
    const auto L = factor<T>(p, p.uplo, which_ == Inversion::Trtri ? p.diag : Diag::NonUnit);
    if (which_ == Inversion::Trtri) return apply<T>(L, p.n, t);
    const bool adjoint_first = (p.uplo == Uplo::Lower) == (which_ == Inversion::Potri);
    const auto adjoint = L.transposed(true);
    return adjoint_first ? apply<T>(L, p.n, apply<T>(adjoint, p.n, t)) : apply<T>(adjoint, p.n, apply<T>(L, p.n, t));
  }

  /// Whether the other triangle, the padding and a unit diagonal are unchanged.
  template <Scalar T>
  bool rest_is_intact(const Problem& p, const T* C) const {
    const auto old = before<T>(p);
    const bool unit = which_ == Inversion::Trtri && p.diag == Diag::Unit;
    for (Index j = 0; j < p.n; j++) {
      const Index first = in_triangle() && p.uplo == Uplo::Lower ? j : 0,
                  last = in_triangle() && p.uplo == Uplo::Upper ? j + 1 : p.n;
      for (Index i = 0; i < old.ld; i++)
        if ((i < first || i >= last || (unit && i == j)) && C[i + j * old.ld] != old.stored(i, j)) return false;
    }
    return true;
  }

  Inversion which_;
  mutable std::vector<int> pivots_;
};

}  // namespace

std::unique_ptr<Routine> inverse(Inversion which) { return std::make_unique<Inverse>(which); }

}  // namespace tessera::bench
