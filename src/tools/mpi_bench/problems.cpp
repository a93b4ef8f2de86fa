// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_bench/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/of_type.hpp"
#include "mpi_bench/elements.hpp"
#include "mpi_bench/measure.hpp"
#include "shared/exit_code.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::mpi_bench {

namespace {

constexpr Routine table[] = {
    {"gemm", "ABC", "C", 1, 1, 1, 0},
    {"gemmt", "AC", "C", .5, 1, 1, 0},
    {"symm", "ABC", "C", 1, 1, 1, 0},
    {"hemm", "ABC", "C", 1, 1, 1, 0},
    {"syrk", "AC", "C", .5, 1, 1, 0},
    {"herk", "AC", "C", .5, 1, 1, 0},
    {"syr2k", "ABC", "C", 1, 2, 2, 0},
    {"her2k", "ABC", "C", 1, 2, 2, 0},
    {"trmm", "AB", "B", .5, .5, 1, 0},
    {"trsm", "AB", "B", .5, .5, 1, 0},
    {"potrf", "A", "A", 1. / 6, .5, .5, 0},
    {"potrs", "AB", "B", 1, 1, 2, 0},
    {"getrf_nopiv", "A", "A", 1. / 3, .5, .5, 0},
    {"getrs_nopiv", "AB", "B", 1, 1, 2, 0},
    {"getrf", "A", "A", 1. / 3, 0, 0, .5},
    {"getrs", "AB", "B", 1, 0, 0, 1},
    {"gesv", "AB", "AB", 4. / 3, 0, 0, 1.5},
};

/// A call with matrices A, B and C, as far as the routine has them. Elements are of the matrix's letter and position.
template <Scalar T>
class ProblemOf final : public Problem {
 public:
  ProblemOf(const Routine& routine, const Grid& grid, Index n, Index tile, const tile::ProcessControl& control)
      : routine_(routine), grid_(grid), n_(n), tile_(tile) {
    if (routine.name != "gemm") {
      grid.control({.holds_back = control.blocks.holds_back});
      return;
    }
    const auto& blocks = cut_.emplace(choose_cut(control.blocks)).blocks;
    grid.control({blocks.holds_back, blocks.rows, blocks.columns, blocks.chunk, blocks.ahead, control.by_columns});
  }

  void fill() override {
    for (const char letter : routine_.matrices)
      set_elements(matrix(letter), [=, this](Index i, Index j) { return before(letter, i, j); });
    if (is("potrs")) info_ = potrf(Uplo::Lower, A_).wait();
    else if (is("getrs_nopiv")) info_ = getrf_nopiv(A_).wait();
    else if (is("getrs")) pivoted_ = getrf(A_);
    if (solves()) A_.wait();
  }

  void run() override {
    std::optional<Info> info;
    if (is("getrs")) getrs(Op::NoTrans, A_, pivoted_->pivots, B_);
    else if (routine_.has_pivots()) pivoted_ = is("gesv") ? gesv(A_, B_) : getrf(A_);
    else info = submit(routine_.name, A_, B_, C_, alpha_, beta_, Diag::NonUnit);
    for (const char letter : routine_.outputs) matrix(letter).wait();
    if (pivoted_) info_ = pivoted_->info.wait();
    else if (info) info_ = info->wait();
  }

  double residual() override {
    if (info_ != 0) return std::numeric_limits<double>::infinity();
    const auto x = random_vector(n_);
    if (solves() || is("gesv")) return residual_of_solution(x);
    const auto [got, wanted] = routine_.outputs == "A" ? factors(x) : product(x);
    return relative_error<T>(got, wanted, n_);
  }

  double model_bytes() const override {
    if (cut_) return cut_->loads.received;
    const double bytes = static_cast<double>(n_) * static_cast<double>(n_) * sizeof(T), p = grid_.p(), q = grid_.q();
    return routine_.rows * (bytes / p * (1 - 1 / q)) + routine_.columns * (bytes / q * (1 - 1 / p)) +
           routine_.panels * bytes * (1 - 1 / (p * q));
  }
  double flops() const override {
    return flops_per_multiply_add<T> * std::pow(static_cast<double>(n_), 3) * routine_.cubes;
  }
  std::optional<Cut> cut() const override { return cut_; }

 private:
  /// The factors of the products, which are not 1 and not short binary fractions.
  static constexpr T alpha_ = T(static_cast<Real<T>>(0.7)), beta_ = T(static_cast<Real<T>>(-0.4));

  bool is(std::string_view name) const { return routine_.name == name; }
  bool hermitian() const { return routine_.is_for_complex_only(); }
  bool solves() const { return routine_.name.starts_with("potrs") || routine_.name.starts_with("getrs"); }
  bool has(char letter) const { return routine_.matrices.find(letter) != std::string_view::npos; }
  const DistributedMatrix<T>& matrix(char letter) const { return letter == 'A' ? A_ : letter == 'B' ? B_ : C_; }
  DistributedMatrix<T> new_matrix() const { return {grid_, n_, n_, {tile_, tile_}}; }

  /// An element before the call. Matrices of systems without pivoting have a dominant diagonal, so that triangles are
  /// well conditioned. The diagonal of a Hermitian matrix that is updated is real.
  T before(char letter, Index i, Index j) const {
    if (letter == 'B') return random_element<T>(2, i, j);
    if (letter == 'C') {
      const T c = random_element<T>(3, i, j);
      return hermitian() && !is("hemm") && i == j ? T(std::real(c)) : c;
    }
    const bool definite = is("potrf") || is("potrs");
    if (!definite && !is("trsm") && !is("getrf_nopiv") && !is("getrs_nopiv")) return random_element<T>(1, i, j);
    if (i == j) return static_cast<T>(static_cast<Real<T>>(2 * n_));
    return definite && i < j ? conjugate(random_element<T>(1, j, i)) : random_element<T>(1, i, j);
  }

  /// A matrix with its elements before the call, times x.
  Vector times_before(char letter, const Vector& x) const {
    return times(matrix(letter), false, x, [=, this](const T&, Index i, Index j) { return before(letter, i, j); });
  }
  /// Xᵀ x, or Xᴴ x if the routine is Hermitian.
  Vector times_transposed(const DistributedMatrix<T>& X, const Vector& x) const {
    return times(X, true, x, [this](const T& a, Index, Index) { return hermitian() ? a : conjugate(a); });
  }

  using Sides = std::pair<Vector, Vector>;
  /// Both sides of the equation of a product, times x.
  Sides product(const Vector& x) const {
    const auto plus_before = [&](Vector v, const Vector& c) { return sum(Wide(alpha_), std::move(v), Wide(beta_), c); };
    const auto scaled = [](const Vector& v) { return sum(Wide(alpha_), v, 0, v); };
    if (is("gemm"))
      return {times(C_, false, x, whole<T>),
              plus_before(times(A_, false, times(B_, false, x, whole<T>), whole<T>), times_before('C', x))};
    if (is("symm") || is("hemm")) {
      const auto element = [this](const T& a, Index i, Index j) { return hermitian() && i == j ? T(std::real(a)) : a; };
      const auto y = times(B_, false, x, whole<T>);
      return {times(C_, false, x, whole<T>),
              plus_before(times_symmetric(A_, hermitian(), y, element), times_before('C', x))};
    }
    if (is("trmm")) return {times(B_, false, x, whole<T>), scaled(times(A_, false, times_before('B', x), lower<T>))};
    if (is("trsm")) return {times(A_, false, times(B_, false, x, whole<T>), lower<T>), scaled(times_before('B', x))};
    auto sum_of_terms = times(A_, false, times_transposed(has('B') ? B_ : A_, x), whole<T>);
    if (has('B'))
      sum_of_terms = sum(1, std::move(sum_of_terms), 1, times(B_, false, times_transposed(A_, x), whole<T>));
    const auto old = [this](const T&, Index i, Index j) { return before('C', i, j); };
    return {times_symmetric(C_, hermitian(), x, whole<T>),
            plus_before(std::move(sum_of_terms), times_symmetric(C_, hermitian(), x, old))};
  }

  /// The factors of A times x, and A times x, with its rows exchanged.
  Sides factors(const Vector& x) const {
    auto wanted = times_before('A', x);
    if (is("potrf")) return {times(A_, false, times(A_, true, x, lower<T>), lower<T>), wanted};
    if (pivoted_) {
      const auto pivots = pivoted_->pivots.wait();
      for (std::size_t i = 0; i < pivots.size(); i++)
        std::swap(wanted[i], wanted[static_cast<std::size_t>(pivots[i] - 1)]);
    }
    return {times(A_, false, times(A_, false, x, upper<T>), unit_lower<T>), wanted};
  }

  double residual_of_solution(const Vector& x) const {
    double scale = 0;
    if (pivoted_) {  // the error is bounded relative to the sizes of the solutions, which depend on the condition of A
      const auto magnitude = [](const T& b, Index, Index) { return T(std::abs(b)); };
      scale = size_of(times(B_, false, Vector(x.size(), 1), magnitude));
    }
    const auto solution = times(B_, false, x, whole<T>);
    return relative_error<T>(times_before('A', solution), times_before('B', x), n_, scale);
  }

  Cut choose_cut(const tile::WantedBlocks& wanted) const {
    auto processes = detail::MatrixAccess::grid(C_.tiles()).share().processes->model();
    processes.p = grid_.p(), processes.q = grid_.q();
    if (processes.gpus == 0) {  // NUMA nodes stand for GPUs
      const auto devices = devices_of_process();
      processes.gpus = static_cast<int>(devices.nodes.size()), processes.gpu_memory = devices.memory;
    }
    const auto tile = static_cast<double>(std::min(tile_, n_)), bytes = sizeof(T) * tile * tile;
    const tile::TiledProduct product{C_.mt(), C_.nt(), A_.nt(), bytes, bytes, bytes};
    const auto blocks = tile::choose_process_blocks(processes, product, wanted);
    return {blocks, tile::predicted_loads(processes, product, blocks)};
  }

  const Routine& routine_;
  Grid grid_;
  Index n_, tile_;
  // A matrix that the call does not have is another name for A.
  DistributedMatrix<T> A_ = new_matrix(), B_ = has('B') ? new_matrix() : A_, C_ = has('C') ? new_matrix() : A_;
  std::optional<Cut> cut_;
  std::optional<Pivoted> pivoted_;
  Index info_ = 0;
};

}  // namespace

std::span<const Routine> routines() { return table; }

const Routine& routine_named(const std::string& name) {
  const auto* const found = std::ranges::find(table, name, &Routine::name);
  if (found != std::end(table)) return *found;
  std::string all;
  for (const auto& routine : table) all += fmt::format("{}{}", all.empty() ? "" : ", ", routine.name);
  throw tools::BadArgument("--routine", name, "is not one of " + all);
}

std::unique_ptr<Problem> make_problem(const Routine& routine, char type, const Grid& grid, Index n, Index tile,
                                      const tile::ProcessControl& control) {
  return common::with_type(type, [&]<Scalar T>(T) -> std::unique_ptr<Problem> {
    return std::make_unique<ProblemOf<T>>(routine, grid, n, tile, control);
  });
}

}  // namespace tessera::mpi_bench
