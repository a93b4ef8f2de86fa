// SPDX-License-Identifier: BSD-3-Clause
#include "problems.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/of_type.hpp"
#include "devices.hpp"
#include "shared/bad_argument.hpp"
#include "simulated.hpp"
#include "tile/tile_grid.hpp"
#include "workload/parallel.hpp"

namespace tessera::mpi_bench {

namespace {

/// A number in [-1, 1] determined by a seed and a position (SplitMix64).
double random_value(std::uint64_t seed, Index i, Index j) {
  std::uint64_t x =
      seed * 0x9e3779b97f4a7c15ULL + (static_cast<std::uint64_t>(i) << 32) + static_cast<std::uint64_t>(j);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

template <Scalar T>
T random_element(std::uint64_t seed, Index i, Index j) {
  if constexpr (is_complex<T>)
    return T(static_cast<Real<T>>(random_value(seed, i, j)), static_cast<Real<T>>(random_value(seed + 100, i, j)));
  else return static_cast<T>(random_value(seed, i, j));
}

using Wide = std::complex<double>;
using Vector = std::vector<Wide>;

Vector random_vector(Index n) {
  Vector x(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; i++) x[static_cast<std::size_t>(i)] = random_value(9, i, 0);
  return x;
}

/// The rows of the whole matrix that a process owns.
template <Scalar T>
std::vector<Index> own_rows(const DistributedMatrix<T>& A) {
  std::vector<Index> rows(static_cast<std::size_t>(A.local_m()));
  for (std::size_t i = 0; i < rows.size(); i++) rows[i] = A.global_row(static_cast<Index>(i));
  return rows;
}

/// Sets all elements of this process to value(i, j). Devices drop their copies, so every call loads them.
template <Scalar T, typename Value>
void set_elements(const DistributedMatrix<T>& A, Value value) {
  A.wait();
  if (simulated) return;
  const auto rows = own_rows(A);
  bench::parallel_for(A.local_n(), 64, [&](Index begin, Index end) {
    for (Index local = begin; local < end; local++) {
      T* column = A.local() + local * A.ld();
      const Index j = A.global_column(local);
      for (const Index i : rows) *column++ = value(i, j);
    }
  });
}

/// Calls visit(local element, i, j) for all elements of this process.
template <Scalar T, typename Visit>
void for_each_element(const DistributedMatrix<T>& A, Visit visit) {
  const auto rows = own_rows(A);
  for (Index local = 0; local < A.local_n(); local++) {
    const T* column = A.local() + local * A.ld();
    const Index j = A.global_column(local);
    for (const Index i : rows) visit(*column++, i, j);
  }
}

Vector sum_of_processes(const Grid& grid, Vector x) {
  MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(2 * x.size()), MPI_DOUBLE, MPI_SUM, grid.comm());
  return x;
}

/// op(A) x, where `element` maps a stored element of A to the one that the product uses.
template <Scalar T, typename Element>
Vector times(const DistributedMatrix<T>& A, bool adjoint, const Vector& x, Element element) {
  Vector y(static_cast<std::size_t>(adjoint ? A.n() : A.m()));
  for_each_element(A, [&](const T& a, Index i, Index j) {
    const Wide value = Wide(element(a, i, j));
    if (adjoint) y[static_cast<std::size_t>(j)] += std::conj(value) * x[static_cast<std::size_t>(i)];
    else y[static_cast<std::size_t>(i)] += value * x[static_cast<std::size_t>(j)];
  });
  return sum_of_processes(A.grid(), std::move(y));
}

template <Scalar T>
double relative_error(const Vector& got, const Vector& wanted, Index terms) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); i++) {
    const double difference = std::abs(got[i] - wanted[i]);
    if (!(difference <= error)) error = difference;  // keeps NaN
    size = std::max(size, std::abs(wanted[i]));
  }
  return error / (std::numeric_limits<Real<T>>::epsilon() * static_cast<double>(terms) * std::max(size, 1.0));
}

template <Scalar T>
class ProblemOf : public Problem {
 protected:
  ProblemOf(const Grid& grid, Index n, Index tile) : grid_(grid), n_(n), tile_{tile, tile} {}

  DistributedMatrix<T> matrix() const { return {grid_, n_, n_, tile_}; }
  /// Random elements with a dominant diagonal, so that triangles are well conditioned and, if `hermitian`, the matrix
  /// is positive definite.
  T dominant(Index i, Index j, bool hermitian) const {
    if (i == j) return static_cast<T>(static_cast<Real<T>>(2 * n_));
    if (!hermitian || i > j) return random_element<T>(1, i, j);
    if constexpr (is_complex<T>) return std::conj(random_element<T>(1, j, i));
    else return random_element<T>(1, j, i);
  }
  static T whole(const T& a, Index /*i*/, Index /*j*/) { return a; }
  static T lower(const T& a, Index i, Index j) { return i >= j ? a : T{}; }
  /// Bytes of an n×n matrix.
  double bytes() const { return static_cast<double>(n_) * static_cast<double>(n_) * sizeof(T); }
  double along_rows() const { return bytes() / grid_.p() * (1 - 1.0 / grid_.q()); }
  double along_columns() const { return bytes() / grid_.q() * (1 - 1.0 / grid_.p()); }
  double cube() const { return flops_per_multiply_add<T> * std::pow(static_cast<double>(n_), 3); }

  Grid grid_;
  Index n_;
  TileSize tile_;
};

/// C ← 0.7 A B − 0.4 C
template <Scalar T>
class Gemm final : public ProblemOf<T> {
 public:
  Gemm(const Grid& grid, Index n, Index tile, const detail::ProcessControl& control)
      : ProblemOf<T>(grid, n, tile), cut_(chosen(control.blocks)) {
    const auto& blocks = cut_.blocks;
    grid.control({blocks.holds_back, blocks.rows, blocks.columns, blocks.chunk, blocks.ahead, control.by_columns});
  }
  void fill() override {
    for (auto [matrix, seed] : {std::pair{&A_, 1U}, {&B_, 2U}, {&C_, 3U}})
      set_elements(*matrix, [seed](Index i, Index j) { return random_element<T>(seed, i, j); });
  }
  void run() override {
    gemm(Op::NoTrans, Op::NoTrans, T(Real<T>(0.7)), A_, B_, T(Real<T>(-0.4)), C_);
    C_.wait();
  }
  double residual() override {
    const auto x = random_vector(this->n_);
    auto wanted = times(A_, false, times(B_, false, x, this->whole), this->whole);
    const auto before = times(C_, false, x, [](const T&, Index i, Index j) { return random_element<T>(3, i, j); });
    for (std::size_t i = 0; i < wanted.size(); i++)
      wanted[i] = Wide(T(Real<T>(0.7))) * wanted[i] + Wide(T(Real<T>(-0.4))) * before[i];
    return relative_error<T>(times(C_, false, x, this->whole), wanted, this->n_);
  }
  double model_bytes() const override { return cut_.loads.received; }
  double flops() const override { return this->cube(); }
  std::optional<Problem::Cut> cut() const override { return cut_; }

 private:
  Problem::Cut chosen(const detail::WantedBlocks& wanted) const {
    auto processes = detail::MatrixAccess::grid(C_.tiles()).share().processes->model();
    processes.p = this->grid_.p(), processes.q = this->grid_.q();
    if (processes.gpus == 0) {  // NUMA nodes stand for GPUs
      const auto devices = devices_of_process();
      processes.gpus = static_cast<int>(devices.nodes.size()), processes.gpu_memory = devices.memory;
    }
    const Index tile = std::min(this->tile_.rows, this->n_);
    const double bytes = sizeof(T) * static_cast<double>(tile) * static_cast<double>(tile);
    const detail::TiledProduct product{C_.mt(), C_.nt(), A_.nt(), bytes, bytes, bytes};
    const auto blocks = detail::choose_process_blocks(processes, product, wanted);
    return {blocks, detail::predicted_loads(processes, product, blocks)};
  }

  DistributedMatrix<T> A_ = this->matrix(), B_ = this->matrix(), C_ = this->matrix();
  Problem::Cut cut_;  // after C_
};

/// B ← 0.7 A⁻¹ B with a lower triangular A
template <Scalar T>
class Trsm final : public ProblemOf<T> {
 public:
  Trsm(const Grid& grid, Index n, Index tile) : ProblemOf<T>(grid, n, tile) {}
  void fill() override {
    set_elements(A_, [this](Index i, Index j) { return this->dominant(i, j, false); });
    set_elements(B_, [](Index i, Index j) { return random_element<T>(2, i, j); });
  }
  void run() override {
    trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(Real<T>(0.7)), A_, B_);
    B_.wait();
  }
  double residual() override {
    const auto x = random_vector(this->n_);
    auto wanted = times(B_, false, x, [](const T&, Index i, Index j) { return random_element<T>(2, i, j); });
    for (auto& y : wanted) y *= Wide(T(Real<T>(0.7)));
    return relative_error<T>(times(A_, false, times(B_, false, x, this->whole), this->lower), wanted, this->n_);
  }
  double model_bytes() const override { return this->along_rows() / 2 + this->along_columns(); }
  double flops() const override { return this->cube() / 2; }

 private:
  DistributedMatrix<T> A_ = this->matrix(), B_ = this->matrix();
};

/// The lower triangle of A ← its Cholesky factor
template <Scalar T>
class Potrf final : public ProblemOf<T> {
 public:
  Potrf(const Grid& grid, Index n, Index tile) : ProblemOf<T>(grid, n, tile) {}
  void fill() override {
    set_elements(A_, [this](Index i, Index j) { return this->dominant(i, j, true); });
  }
  void run() override {
    const Info info = potrf(Uplo::Lower, A_);
    A_.wait();
    info_ = info.wait();
  }
  double residual() override {
    if (info_ != 0) return std::numeric_limits<double>::infinity();
    const auto x = random_vector(this->n_);
    const auto wanted = times(A_, false, x, [&](const T&, Index i, Index j) { return this->dominant(i, j, true); });
    return relative_error<T>(times(A_, false, times(A_, true, x, this->lower), this->lower), wanted, this->n_);
  }
  /// An upper estimate: a tile that a process needs both in its row and in its column arrives only once.
  double model_bytes() const override { return (this->along_rows() + this->along_columns()) / 2; }
  double flops() const override { return this->cube() / 6; }

 private:
  DistributedMatrix<T> A_ = this->matrix();
  Index info_ = 0;
};

template <Scalar T>
std::unique_ptr<Problem> problem_of(const std::string& routine, const Grid& grid, Index n, Index tile,
                                    const detail::ProcessControl& control) {
  if (routine == "gemm") return std::make_unique<Gemm<T>>(grid, n, tile, control);
  if (routine == "trsm") return std::make_unique<Trsm<T>>(grid, n, tile);
  if (routine == "potrf") return std::make_unique<Potrf<T>>(grid, n, tile);
  throw tools::BadArgument("--routine", routine, "is not one of gemm, trsm, potrf");
}

}  // namespace

std::unique_ptr<Problem> make_problem(const std::string& routine, char type, const Grid& grid, Index n, Index tile,
                                      const detail::ProcessControl& control) {
  if (std::string("sdcz").find(type) == std::string::npos)
    throw tools::BadArgument("--type", std::string(1, type), "is not one of s, d, c, z");
  return with_type(type, [&]<Scalar T>(T) { return problem_of<T>(routine, grid, n, tile, control); });
}

}  // namespace tessera::mpi_bench
