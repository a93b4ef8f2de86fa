// SPDX-License-Identifier: BSD-3-Clause
#include "products.hpp"

#include "blas/shapes.hpp"
#include "devices.hpp"
#include "problem_of.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::mpi_bench {

namespace {

/// C ← 0.7 A B − 0.4 C
template <Scalar T>
class Gemm final : public ProblemOf<T> {
 public:
  Gemm(const Grid& grid, Index n, Index tile, const detail::ProcessControl& control)
      : ProblemOf<T>(grid, n, tile), cut_(chosen(control.blocks)) {
    const auto& blocks = cut_.blocks;
    grid.control({blocks.holds_back, blocks.rows, blocks.columns, blocks.chunk, blocks.ahead, control.by_columns});
  }
  void fill() override { this->fill_random(A_, 1), this->fill_random(B_, 2), this->fill_random(C_, 3); }
  void run() override {
    gemm(Op::NoTrans, Op::NoTrans, this->number(this->alpha_), A_, B_, this->number(this->beta_), C_);
    C_.wait();
  }
  double residual() override {
    const auto x = random_vector(this->n_);
    const auto wanted =
        sum(Wide(this->number(this->alpha_)), times(A_, false, times(B_, false, x, this->whole), this->whole),
            Wide(this->number(this->beta_)), this->times_random(C_, 3, x));
    return relative_error<T>(times(C_, false, x, this->whole), wanted, this->n_);
  }
  double model_bytes() const override { return cut_.loads.received; }
  double flops() const override { return this->cube(); }
  std::optional<Problem::Cut> cut() const override { return cut_; }

 private:
  Problem::Cut chosen(const tile::WantedBlocks& wanted) const {
    auto processes = detail::MatrixAccess::grid(C_.tiles()).share().processes->model();
    processes.p = this->grid_.p(), processes.q = this->grid_.q();
    if (processes.gpus == 0) {  // NUMA nodes stand for GPUs
      const auto devices = devices_of_process();
      processes.gpus = static_cast<int>(devices.nodes.size()), processes.gpu_memory = devices.memory;
    }
    const Index tile = std::min(this->tile_.rows, this->n_);
    const double bytes = sizeof(T) * static_cast<double>(tile) * static_cast<double>(tile);
    const tile::TiledProduct product{C_.mt(), C_.nt(), A_.nt(), bytes, bytes, bytes};
    const auto blocks = tile::choose_process_blocks(processes, product, wanted);
    return {blocks, tile::predicted_loads(processes, product, blocks)};
  }

  DistributedMatrix<T> A_ = this->matrix(), B_ = this->matrix(), C_ = this->matrix();
  Problem::Cut cut_;  // after C_
};

/// One triangle of C ← 0.7 A Aᵀ − 0.4 C or 0.7 (A Bᵀ + B Aᵀ) − 0.4 C, or with ᴴ
template <Scalar T>
class RankUpdate final : public ProblemOf<T> {
 public:
  RankUpdate(const std::string& routine, const Grid& grid, Index n, Index tile)
      : ProblemOf<T>(grid, n, tile), routine_(routine), hermitian_(routine.starts_with("he")),
        twice_(routine.ends_with("2k")), A_(this->matrix()), C_(this->matrix()) {
    if (twice_) B_ = this->matrix();
  }
  void fill() override {
    this->fill_random(A_, 1);
    if (B_) this->fill_random(*B_, 2);
    set_elements(C_, [this](Index i, Index j) { return before(i, j); });
  }
  void run() override {
    const T alpha = this->number(this->alpha_), beta = this->number(this->beta_);
    if (routine_ == "syrk") syrk(Uplo::Lower, Op::NoTrans, alpha, A_, beta, C_);
    if (routine_ == "gemmt") gemmt(Uplo::Lower, Op::NoTrans, Op::Trans, alpha, A_, A_, beta, C_);
    if (routine_ == "syr2k") syr2k(Uplo::Lower, Op::NoTrans, alpha, A_, *B_, beta, C_);
    if constexpr (is_complex<T>) {
      if (routine_ == "herk") herk(Uplo::Lower, Op::NoTrans, alpha.real(), A_, beta.real(), C_);
      if (routine_ == "her2k") her2k(Uplo::Lower, Op::NoTrans, alpha, A_, *B_, beta.real(), C_);
    }
    C_.wait();
  }
  double residual() override {
    const auto x = random_vector(this->n_);
    const Wide alpha(this->number(this->alpha_)), beta(this->number(this->beta_));
    auto product = times(A_, false, transposed(B_ ? *B_ : A_, x), this->whole);
    if (B_) product = sum(1, std::move(product), 1, times(*B_, false, transposed(A_, x), this->whole));
    const auto wanted =
        sum(alpha, std::move(product), beta,
            times_symmetric(C_, hermitian_, x, [this](const T&, Index i, Index j) { return before(i, j); }));
    return relative_error<T>(times_symmetric(C_, hermitian_, x, this->whole), wanted, this->n_);
  }
  double model_bytes() const override { return (twice_ ? 2 : 1) * (this->along_rows() + this->along_columns()); }
  double flops() const override { return this->cube() / (twice_ ? 1 : 2); }

 private:
  /// An element of C before the call.
  T before(Index i, Index j) const {
    const T c = random_element<T>(3, i, j);
    return hermitian_ && i == j ? T(std::real(c)) : c;
  }
  /// Xᵀ v or Xᴴ v
  Vector transposed(const DistributedMatrix<T>& X, const Vector& v) const {
    return times(X, true, v, [this](const T& a, Index, Index) {
      if constexpr (is_complex<T>) return hermitian_ ? a : std::conj(a);
      else return a;
    });
  }

  std::string routine_;
  bool hermitian_, twice_;
  DistributedMatrix<T> A_, C_;
  std::optional<DistributedMatrix<T>> B_;
};

/// C ← 0.7 A B − 0.4 C with a symmetric or Hermitian A
template <Scalar T>
class SymmetricProduct final : public ProblemOf<T> {
 public:
  SymmetricProduct(bool hermitian, const Grid& grid, Index n, Index tile)
      : ProblemOf<T>(grid, n, tile), hermitian_(hermitian) {}
  void fill() override { this->fill_random(A_, 1), this->fill_random(B_, 2), this->fill_random(C_, 3); }
  void run() override {
    const T alpha = this->number(this->alpha_), beta = this->number(this->beta_);
    if (!hermitian_) symm(Side::Left, Uplo::Lower, alpha, A_, B_, beta, C_);
    if constexpr (is_complex<T>)
      if (hermitian_) hemm(Side::Left, Uplo::Lower, alpha, A_, B_, beta, C_);
    C_.wait();
  }
  double residual() override {
    const auto x = random_vector(this->n_);
    const auto element = [this](const T& a, Index i, Index j) { return hermitian_ && i == j ? T(std::real(a)) : a; };
    const auto wanted = sum(Wide(this->number(this->alpha_)),
                            times_symmetric(A_, hermitian_, times(B_, false, x, this->whole), element),
                            Wide(this->number(this->beta_)), this->times_random(C_, 3, x));
    return relative_error<T>(times(C_, false, x, this->whole), wanted, this->n_);
  }
  double model_bytes() const override { return this->along_rows() + this->along_columns(); }
  double flops() const override { return this->cube(); }

 private:
  bool hermitian_;
  DistributedMatrix<T> A_ = this->matrix(), B_ = this->matrix(), C_ = this->matrix();
};

/// B ← 0.7 A B (trmm) or B ← 0.7 A⁻¹ B (trsm) with a lower triangular A
template <Scalar T>
class Triangular final : public ProblemOf<T> {
 public:
  Triangular(bool solves, const Grid& grid, Index n, Index tile) : ProblemOf<T>(grid, n, tile), solves_(solves) {}
  void fill() override {
    if (solves_) set_elements(A_, [this](Index i, Index j) { return this->dominant(i, j, false); });
    else this->fill_random(A_, 1);
    this->fill_random(B_, 2);
  }
  void run() override {
    constexpr auto routine = [](bool solves, auto... x) { solves ? trsm(x...) : trmm(x...); };
    routine(solves_, Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, this->number(this->alpha_), A_, B_);
    B_.wait();
  }
  double residual() override {
    const auto x = random_vector(this->n_);
    const auto before = this->times_random(B_, 2, x), after = times(B_, false, x, this->whole);
    const auto scaled = [this](const Vector& v) { return sum(Wide(this->number(this->alpha_)), v, 0, v); };
    if (solves_) return relative_error<T>(times(A_, false, after, this->lower), scaled(before), this->n_);
    return relative_error<T>(after, scaled(times(A_, false, before, this->lower)), this->n_);
  }
  double model_bytes() const override { return this->along_rows() / 2 + this->along_columns(); }
  double flops() const override { return this->cube() / 2; }

 private:
  bool solves_;
  DistributedMatrix<T> A_ = this->matrix(), B_ = this->matrix();
};

}  // namespace

template <Scalar T>
std::unique_ptr<Problem> make_product(const std::string& routine, const Grid& grid, Index n, Index tile,
                                      const detail::ProcessControl& control) {
  if (routine == "gemm") return std::make_unique<Gemm<T>>(grid, n, tile, control);
  if (routine == "symm" || routine == "hemm")
    return std::make_unique<SymmetricProduct<T>>(routine == "hemm", grid, n, tile);
  if (routine == "trmm" || routine == "trsm") return std::make_unique<Triangular<T>>(routine == "trsm", grid, n, tile);
  for (const char* update : {"gemmt", "syrk", "herk", "syr2k", "her2k"})
    if (routine == update) return std::make_unique<RankUpdate<T>>(routine, grid, n, tile);
  return nullptr;
}

#define INSTANTIATE_MAKE_PRODUCT(letter, T, ...)                                                   \
  template std::unique_ptr<Problem> make_product<T>(const std::string&, const Grid&, Index, Index, \
                                                    const detail::ProcessControl&);
FOR_SDCZ(INSTANTIATE_MAKE_PRODUCT, )

}  // namespace tessera::mpi_bench
