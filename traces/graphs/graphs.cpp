// SPDX-License-Identifier: BSD-3-Clause
#include "graphs/graphs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <set>

#include "graphs/operations.hpp"
#include "graphs/tiles.hpp"

namespace graphs {

namespace {

/// Functions that submit tasks, in the order in which they will be called.
using Steps = std::vector<std::function<void()>>;

void submit(const Steps& steps) {
  for (const auto& step : steps) step();
}

Lengths equal(const Size& size) { return Lengths(static_cast<std::size_t>(size.tiles), size.tile); }

/// Lengths from a quarter of a tile to a whole tile, with the same total as `equal`.
Lengths unequal(const Size& size) {
  constexpr std::array quarters{4, 1, 2, 3, 1, 4, 2};
  Lengths lengths;
  int left = size.tiles * size.tile;
  for (std::size_t i = 0; left > 0; i++) {
    lengths.push_back(std::min(left, std::max(1, size.tile * quarters[i % quarters.size()] / 4)));
    left -= lengths.back();
  }
  return lengths;
}

double cube(int n) { return static_cast<double>(n) * n * n; }

/// Submits the tasks and waits. Gives the hint for each tile after the last task that uses it.
void submit_tasks(const Size& size) {
  std::vector<std::vector<starpu_data_handle_t>> last_used(tasks.size());
  std::set<starpu_data_handle_t> used_later;
  for (std::size_t i = tasks.size(); i-- > 0;)
    for (int tile = 0; tile < tasks[i]->cl->nbuffers; tile++)
      if (used_later.insert(tasks[i]->handles[tile]).second) last_used[i].push_back(tasks[i]->handles[tile]);
  for (std::size_t i = 0; i < tasks.size(); i++) {
    STARPU_CHECK_RETURN_VALUE(starpu_task_submit(tasks[i]), "starpu_task_submit");
    if (size.wont_use != nullptr) std::ranges::for_each(last_used[i], size.wont_use);
  }
  starpu_task_wait_for_all();
  tasks.clear();
}

struct Product {
  Product(const Lengths& rows, const Lengths& columns, const Lengths& terms)
      : A(rows, terms), B(terms, columns), C(rows, columns) {}
  /// C(i, j) += A(i, l) B(l, j)
  void step(int i, int j, int l) const {
    gemm(2.0 * C.height(i) * C.width(j) * A.width(l), {A(i, l), B(l, j), C(i, j)});
  }
  /// Row by row, one sum after another.
  Steps by_rows() const {
    Steps steps;
    for (int i = 0; i < C.rows(); i++)
      for (int j = 0; j < C.columns(); j++)
        for (int l = 0; l < A.columns(); l++) steps.emplace_back([=, this] { step(i, j, l); });
    return steps;
  }
  Tiles A, B, C;
};

/// The tasks of a Cholesky factorization of the lower triangle.
struct Cholesky {
  explicit Cholesky(const Lengths& lengths) : A(lengths, lengths) {}
  void factor(int k) const { potrf(cube(A.width(k)) / 3, {A(k, k)}); }
  void solve(int i, int k) const { trsm(cube(A.width(k)), {A(k, k), A(i, k)}); }
  void update(int i, int j, int k) const {
    if (i == j) syrk(cube(A.width(k)), {A(i, k), A(i, i)});
    else gemm(2 * cube(A.width(k)), {A(i, k), A(j, k), A(i, j)});
  }
  /// Right-looking: each column updates all columns to its right when it is done.
  Steps right_looking() const {
    Steps steps;
    for (int k = 0; k < A.columns(); k++) {
      steps.emplace_back([=, this] { factor(k); });
      for (int i = k + 1; i < A.rows(); i++) steps.emplace_back([=, this] { solve(i, k); });
      for (int j = k + 1; j < A.columns(); j++)
        for (int i = j; i < A.rows(); i++) steps.emplace_back([=, this] { update(i, j, k); });
    }
    return steps;
  }
  /// Left-looking: each column is updated by all columns to its left when it is due.
  Steps left_looking() const {
    Steps steps;
    for (int j = 0; j < A.columns(); j++) {
      for (int i = j; i < A.rows(); i++)
        for (int k = 0; k < j; k++) steps.emplace_back([=, this] { update(i, j, k); });
      steps.emplace_back([=, this] { factor(j); });
      for (int i = j + 1; i < A.rows(); i++) steps.emplace_back([=, this] { solve(i, j); });
    }
    return steps;
  }
  Tiles A;
};

void product_by_rows(const Size& size) {
  const Product product(equal(size), equal(size), equal(size));
  submit(product.by_rows());
  submit_tasks(size);
}

void product_in_random_order(const Size& size) {
  const Product product(equal(size), equal(size), equal(size));
  auto steps = product.by_rows();
  std::mt19937 random(size.seed);
  for (std::size_t last = steps.size(); last > 1; last--)  // std::shuffle differs between libraries
    std::swap(steps[last - 1], steps[random() % last]);
  submit(steps);
  submit_tasks(size);
}

void product_of_unequal_tiles(const Size& size) {
  const Product product(unequal(size), unequal(size), unequal(size));
  submit(product.by_rows());
  submit_tasks(size);
}

void cholesky_right(const Size& size) {
  const Cholesky cholesky(equal(size));
  submit(cholesky.right_looking());
  submit_tasks(size);
}

void cholesky_left(const Size& size) {
  const Cholesky cholesky(equal(size));
  submit(cholesky.left_looking());
  submit_tasks(size);
}

/// LU without pivoting, right-looking.
void lu(const Size& size) {
  const Tiles A(equal(size), equal(size));
  const double n3 = cube(size.tile);
  for (int k = 0; k < size.tiles; k++) {
    getrf(2 * n3 / 3, {A(k, k)});
    for (int i = k + 1; i < size.tiles; i++) trsm(n3, {A(k, k), A(i, k)}), trsm(n3, {A(k, k), A(k, i)});
    for (int j = k + 1; j < size.tiles; j++)
      for (int i = k + 1; i < size.tiles; i++) gemm(2 * n3, {A(i, k), A(k, j), A(i, j)});
  }
  submit_tasks(size);
}

/// Tiled QR with a flat tree: each column is eliminated from top to bottom.
void qr(const Size& size) {
  const Tiles A(equal(size), equal(size));
  const double n3 = cube(size.tile);
  for (int k = 0; k < size.tiles; k++) {
    geqrt(4 * n3 / 3, {A(k, k)});
    for (int j = k + 1; j < size.tiles; j++) unmqr(2 * n3, {A(k, k), A(k, j)});
    for (int i = k + 1; i < size.tiles; i++) {
      tsqrt(2 * n3, {A(k, k), A(i, k)});
      for (int j = k + 1; j < size.tiles; j++) tsmqr(4 * n3, {A(i, k), A(k, j), A(i, j)});
    }
  }
  submit_tasks(size);
}

/// An unrelated product and factorization, with their tasks alternating.
void two_at_once(const Size& size) {
  const Product product(equal(size), equal(size), equal(size));
  const Cholesky cholesky(equal(size));
  const auto first = product.by_rows(), second = cholesky.right_looking();
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); i++) {
    if (i < first.size()) first[i]();
    if (i < second.size()) second[i]();
  }
  submit_tasks(size);
}

/// One chain of tasks per tile of a row. The tasks of different chains read the same tiles at different times.
void chains(const Size& size) {
  const Tiles own(equal(size), {size.tile}), shared(equal(size), {size.tile, size.tile});
  for (int step = 0; step < 4 * size.tiles; step++)
    for (int chain = 0; chain < size.tiles; chain++) {
      const int read = (chain + step) % size.tiles;
      gemm(2 * cube(size.tile), {shared(read, 0), shared(read, 1), own(chain, 0)});
    }
  submit_tasks(size);
}

}  // namespace

const std::vector<Graph>& all() {
  static const std::vector<Graph> graphs{
      {"gemm-rows", "a product, sum after sum, row after row", product_by_rows},
      {"gemm-random", "the same tasks in random order", product_in_random_order},
      {"gemm-unequal", "a product of tiles of unequal size", product_of_unequal_tiles},
      {"cholesky-right", "a Cholesky factorization, right-looking", cholesky_right},
      {"cholesky-left", "a Cholesky factorization, left-looking", cholesky_left},
      {"lu", "an LU factorization without pivoting, right-looking", lu},
      {"qr", "a QR factorization", qr},
      {"two", "gemm-rows and cholesky-right at once", two_at_once},
      {"chains", "independent chains that read the same tiles", chains}};
  return graphs;
}

}  // namespace graphs
