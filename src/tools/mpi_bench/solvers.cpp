// SPDX-License-Identifier: BSD-3-Clause
#include "solvers.hpp"

#include "blas/shapes.hpp"
#include "problem_of.hpp"

namespace tessera::mpi_bench {

namespace {

/// The lower triangle of A ← its Cholesky factor, or A ← L U without pivoting
template <Scalar T>
class Unpivoted final : public ProblemOf<T> {
 public:
  Unpivoted(bool definite, const Grid& grid, Index n, Index tile) : ProblemOf<T>(grid, n, tile), definite_(definite) {}
  void fill() override {
    set_elements(A_, [this](Index i, Index j) { return this->dominant(i, j, definite_); });
  }
  void run() override {
    const Info info = definite_ ? potrf(Uplo::Lower, A_) : getrf_nopiv(A_);
    A_.wait();
    info_ = info.wait();
  }
  double residual() override {
    if (info_ != 0) return std::numeric_limits<double>::infinity();
    const auto x = random_vector(this->n_);
    const auto wanted =
        times(A_, false, x, [&](const T&, Index i, Index j) { return this->dominant(i, j, definite_); });
    const auto got = definite_ ? times(A_, false, times(A_, true, x, this->lower), this->lower)
                               : times(A_, false, times(A_, false, x, this->upper), this->unit_lower);
    return relative_error<T>(got, wanted, this->n_);
  }
  /// For Cholesky an upper estimate: a tile that a process needs both in its row and in its column arrives only once.
  double model_bytes() const override { return (this->along_rows() + this->along_columns()) / 2; }
  double flops() const override { return this->cube() / (definite_ ? 6 : 3); }

 private:
  bool definite_;
  DistributedMatrix<T> A_ = this->matrix();
  Index info_ = 0;
};

/// B ← A⁻¹ B with the factors of A, which are not measured
template <Scalar T>
class SolveWithFactors final : public ProblemOf<T> {
 public:
  SolveWithFactors(const std::string& routine, const Grid& grid, Index n, Index tile)
      : ProblemOf<T>(grid, n, tile), routine_(routine) {}
  void fill() override {
    set_elements(A_, [this](Index i, Index j) { return element(i, j); });
    this->fill_random(B_, 2);
    info_ = (is_cholesky() ? potrf(Uplo::Lower, A_) : getrf_nopiv(A_)).wait();
    A_.wait();
  }
  void run() override {
    if (is_cholesky()) potrs(Uplo::Lower, A_, B_);
    else getrs_nopiv(Op::NoTrans, A_, B_);
    B_.wait();
  }
  double residual() override {
    if (info_ != 0) return std::numeric_limits<double>::infinity();
    const auto x = random_vector(this->n_);
    const auto wanted = this->times_random(B_, 2, x);
    const auto got = times(A_, false, times(B_, false, x, this->whole),
                           [this](const T&, Index i, Index j) { return element(i, j); });
    return relative_error<T>(got, wanted, this->n_);
  }
  double model_bytes() const override { return this->along_rows() + 2 * this->along_columns(); }
  double flops() const override { return this->cube(); }

 private:
  bool is_cholesky() const { return routine_ == "potrs"; }
  T element(Index i, Index j) const { return this->dominant(i, j, is_cholesky()); }

  std::string routine_;
  DistributedMatrix<T> A_ = this->matrix(), B_ = this->matrix();
  Index info_ = 0;
};

/// A = P⁻¹ L U, and B ← A⁻¹ B; of getrs, only the latter is measured
template <Scalar T>
class Lu final : public ProblemOf<T> {
 public:
  Lu(const std::string& routine, const Grid& grid, Index n, Index tile)
      : ProblemOf<T>(grid, n, tile), factorizes_(routine != "getrs") {
    if (routine != "getrf") B_ = this->matrix();
  }
  void fill() override {
    this->fill_random(A_, 1);
    if (B_) this->fill_random(*B_, 2);
    if (factorizes_) return;
    pivoted_ = getrf(A_);
    A_.wait();
  }
  void run() override {
    if (!factorizes_) getrs(Op::NoTrans, A_, pivoted_->pivots, *B_);
    else if (B_) pivoted_ = gesv(A_, *B_);
    else pivoted_ = getrf(A_);
    A_.wait();
    if (B_) B_->wait();
    info_ = pivoted_->info.wait();
  }
  double residual() override {
    if (info_ != 0) return std::numeric_limits<double>::infinity();
    const auto x = random_vector(this->n_);
    if (B_) {
      // The error is bounded relative to the sizes of the solutions, which depend on the condition of A.
      const auto sizes =
          times(*B_, false, Vector(x.size(), 1), [](const T& b, Index, Index) { return T(std::abs(b)); });
      const auto solution = times(*B_, false, x, this->whole);
      return relative_error<T>(this->times_random(A_, 1, solution), this->times_random(*B_, 2, x), this->n_,
                               size_of(sizes));
    }
    auto wanted = this->times_random(A_, 1, x);
    const auto pivots = pivoted_->pivots.wait();
    for (std::size_t i = 0; i < pivots.size(); i++)
      std::swap(wanted[i], wanted[static_cast<std::size_t>(pivots[i] - 1)]);
    return relative_error<T>(times(A_, false, times(A_, false, x, this->upper), this->unit_lower), wanted, this->n_);
  }
  /// Each process gets all panels of L, except those that it owns.
  double model_bytes() const override {
    const double processes = this->grid_.p() * this->grid_.q(), factor = this->bytes() * (1 - 1 / processes);
    return (factorizes_ ? factor / 2 : 0) + (B_ ? factor : 0);
  }
  double flops() const override { return this->cube() * ((factorizes_ ? 1. / 3 : 0) + (B_ ? 1 : 0)); }

 private:
  bool factorizes_;
  DistributedMatrix<T> A_ = this->matrix();
  std::optional<DistributedMatrix<T>> B_;
  std::optional<Pivoted> pivoted_;
  Index info_ = 0;
};

}  // namespace

template <Scalar T>
std::unique_ptr<Problem> make_solver(const std::string& routine, const Grid& grid, Index n, Index tile) {
  if (routine == "potrf" || routine == "getrf_nopiv")
    return std::make_unique<Unpivoted<T>>(routine == "potrf", grid, n, tile);
  if (routine == "potrs" || routine == "getrs_nopiv")
    return std::make_unique<SolveWithFactors<T>>(routine, grid, n, tile);
  if (routine == "getrf" || routine == "getrs" || routine == "gesv")
    return std::make_unique<Lu<T>>(routine, grid, n, tile);
  return nullptr;
}

#define INSTANTIATE_MAKE_SOLVER(letter, T, ...) \
  template std::unique_ptr<Problem> make_solver<T>(const std::string&, const Grid&, Index, Index);
FOR_SDCZ(INSTANTIATE_MAKE_SOLVER, )

}  // namespace tessera::mpi_bench
