// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/blas3.hpp>
#include <tessera/lapack.hpp>

#include "support/tiled.hpp"

/// Random programs of products, factorizations and solves on a few matrices, without waits. All numbers are integers,
/// halves or quarters that factorizations and solves compute exactly, so the results are known without an oracle.
namespace tessera::test {

/// A matrix whose factors are known. Off the diagonal, only odd rows of L and even rows of U have nonzero elements, all
/// in columns of the other parity. The elements of the inverses are therefore no larger.
template <Scalar T>
struct FactoredMatrix {
  enum class Kind { Cholesky, Lu, LuNopiv };
  static constexpr std::array kinds{Kind::Cholesky, Kind::Lu, Kind::LuNopiv};

  Kind kind;
  Uplo uplo = Uplo::Lower;    ///< where potrf reads the matrix and leaves its factor
  HostMatrix<T> A, factors;   ///< the matrix, and the result of its factorization
  std::vector<Index> pivots;  ///< for Kind::Lu, counted from 1

  FactoredMatrix(Kind which, Index n, Random& random) : kind(which), A(n, n), factors(n, n) {
    HostMatrix<T> L(n, n), U(n, n);
    const auto unit = [&] {
      const auto sign = static_cast<Real<T>>(random.coin() ? 1 : -1);
      if constexpr (is_complex<T>) return random.coin() ? T(sign) : T(0, sign);
      else return sign;
    };
    const bool symmetric = kind == Kind::Cholesky;
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++) {
        const bool some = random.coin();
        L(i, j) = i == j ? T(1) : i > j && i % 2 == 1 && j % 2 == 0 && some ? unit() : T(0);
        U(i, j) = i == j ? unit() : i < j && i % 2 == 0 && j % 2 == 1 && some ? unit() : T(0);
      }
    if (symmetric) {
      uplo = random.coin() ? Uplo::Lower : Uplo::Upper;
      U = part(L, Op::ConjTrans);
    } else {  // elements of L below 1 make the pivots unique
      for (Index j = 0; j < n; j++)
        for (Index i = 0; i < n; i++) L(i, j) *= static_cast<Real<T>>(i == j ? 1 : 0.5), U(i, j) *= Real<T>(2);
    }
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++) {
        A(i, j) = T(0);
        for (Index k = 0; k <= std::min(i, j); k++) A(i, j) += L(i, k) * U(k, j);
      }
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++) {
        const bool lower = i > j || (i == j && symmetric);
        const bool kept = symmetric && (uplo == Uplo::Lower ? i < j : i > j);
        factors(i, j) = kept ? A(i, j) : symmetric ? (uplo == Uplo::Lower ? L : U)(i, j) : lower ? L(i, j) : U(i, j);
      }
    if (kind != Kind::Lu) return;
    for (Index i = 0; i < n; i++) pivots.push_back(random.integer(i, n - 1) + 1);
    for (Index i = n - 1; i >= 0; i--)
      for (Index j = 0; j < n; j++) std::swap(A(i, j), A(pivots[static_cast<std::size_t>(i)] - 1, j));
  }
};

template <Scalar T>
class RandomSolves {
 public:
  explicit RandomSolves(std::uint64_t seed)
      : random_(seed), tile_(random_.integer(2, 9)),
        n_((random_.integer(1, 4) - 1) * tile_ + random_.integer(1, tile_)), columns_(random_.integer(1, 2 * tile_)),
        border_(random_.coin() ? tile_ : 0) {
    known_.reserve(2 * FactoredMatrix<T>::kinds.size());
    for (int copies = 0; copies < 2; copies++)
      for (const auto kind : FactoredMatrix<T>::kinds) known_.emplace_back(kind, n_, random_);
    HostMatrix<T> X(n_, columns_);
    random_.fill_integers(X, 2);
    HostMatrix<T> unit(n_, n_);
    for (Index j = 0; j < n_; j++)
      for (Index i = 0; i < n_; i++) unit(i, j) = T(i == j ? 1 : 0);
    const auto register_all = [&](const HostMatrix<T>& values) {
      return read_only_.emplace_back(values).matrix(tile_);
    };
    read_only_.reserve(known_.size() + 2);
    for (const auto& known : known_) sources_.push_back(register_all(known.A));
    unit_ = register_all(unit), x_ = register_all(X), start_ = X;
    for (auto& slot : slots_) slot.emplace(n_, n_, border_, tile_);
    for (auto& side : sides_) side.emplace(n_, columns_, border_, tile_);
    for (auto& side : sides_) begin(*side);
  }

  /// Submits one call.
  /// @param counts  calls of each routine
  void step(std::map<std::string, Index>& counts) {
    auto& slot = one_of(slots_);
    auto& side = one_of(sides_);
    switch (random_.integer(0, 5)) {
    case 0: return begin(side);
    case 1:
    case 2:
      if (slot.known && !slot.factored) return factorize(slot, counts);
      return bring(static_cast<std::size_t>(random_.integer(0, std::ssize(known_) - 1)), slot);
    case 3: return multiply(side);
    default: return solve(side, counts);
    }
  }

  /// Waits, then compares all matrices with their expected values.
  ::testing::AssertionResult finish() {
    for (auto& slot : slots_) {
      const auto pivots = slot->pivots ? slot->pivots->wait() : std::vector<Index>();
      if (slot->info && slot->info->wait() != 0) return ::testing::AssertionFailure() << log_ << "info is not 0";
      if (pivots != (slot->pivots ? known_[*slot->known].pivots : std::vector<Index>()))
        return ::testing::AssertionFailure() << log_ << "wrong pivots";
      if (!slot->is_right()) return ::testing::AssertionFailure() << log_ << "wrong matrix";
    }
    for (auto& side : sides_)
      if (!side->is_right()) return ::testing::AssertionFailure() << log_ << "wrong right-hand sides";
    return ::testing::AssertionSuccess();
  }

 private:
  using Kind = typename FactoredMatrix<T>::Kind;
  using List = std::vector<std::pair<std::size_t, HostMatrix<T>>>;

  /// An input with its memory.
  struct Input {
    HostMatrix<T> values;
    explicit Input(const HostMatrix<T>& given) : values(given) {}
    Matrix<T> matrix(Index tile) const { return tiled(values, {tile, tile}); }
  };

  /// A matrix that routines write: a view of a larger matrix if it has a border of tiles.
  struct Output {
    HostMatrix<T> memory, expected;
    Index border;
    std::optional<Matrix<T>> matrix;

    Output(Index m, Index n, Index before, Index tile)
        : memory(before + m, before + n, 1), expected(m, n), border(before) {
      for (Index j = 0; j < memory.n(); j++)
        for (Index i = 0; i < memory.m(); i++) memory(i, j) = T(0);
      for (Index j = 0; j < n; j++)
        for (Index i = 0; i < m; i++) expected(i, j) = T(0);
      const auto all = tiled(memory, {tile, tile});
      const Index first = before > 0 ? 1 : 0;
      matrix = all.view(first, all.mt(), first, all.nt());
    }
    bool is_right() {
      matrix->wait();
      HostMatrix<T> whole(memory.m(), memory.n(), 1);
      for (Index j = 0; j < whole.n(); j++)
        for (Index i = 0; i < whole.m(); i++) whole(i, j) = T(0);
      put(whole, border, border, Op::NoTrans, expected);
      return memory.equals(whole);
    }
  };

  /// A matrix to factorize.
  struct Slot : Output {
    using Output::Output;
    std::optional<std::size_t> known;  ///< the matrix stored in it
    bool factored = false;
    std::optional<Pivots> pivots;
    std::optional<Info> info;
  };

  /// Right-hand sides. Each product with a known matrix can be undone by a solve.
  struct RightSides : Output {
    using Output::Output;
    List before;  ///< the matrices multiplied with, and the contents before each product
  };

  auto& one_of(auto& list) { return *list[static_cast<std::size_t>(random_.integer(0, std::ssize(list) - 1))]; }

  void note(const std::string& text) { log_ += text + "\n"; }

  /// C ← X
  void begin(RightSides& side) {
    gemm(Op::NoTrans, Op::NoTrans, T(1), *unit_, *x_, T(0), *side.matrix);
    side.expected = start_, side.before.clear();
    note("start");
  }

  /// Copies a known matrix to a slot where it can be factorized.
  void bring(std::size_t known, Slot& slot) {
    gemm(Op::NoTrans, random_.one_of(all_ops), T(1), sources_[known], *unit_, T(0), *slot.matrix);
    slot.expected = known_[known].A;
    slot.known = known, slot.factored = false;
    slot.pivots.reset(), slot.info.reset();
    note("bring " + std::to_string(known));
  }

  void factorize(Slot& slot, std::map<std::string, Index>& counts) {
    const auto& known = known_[*slot.known];
    switch (known.kind) {
    case Kind::Cholesky:
      slot.info = potrf(known.uplo, *slot.matrix);
      counts["potrf"]++;
      break;
    case Kind::Lu: {
      auto [pivots, info] = getrf(*slot.matrix);
      slot.pivots = std::move(pivots), slot.info = std::move(info);
      counts["getrf"]++;
      break;
    }
    case Kind::LuNopiv:
      slot.info = getrf_nopiv(*slot.matrix);
      counts["getrf_nopiv"]++;
      break;
    }
    slot.expected = known.factors, slot.factored = true;
    note("factorize " + std::to_string(*slot.known));
  }

  /// C ← A B, where B is another right-hand side, unless the numbers become too large to be exact.
  void multiply(RightSides& side) {
    const auto& other = one_of(sides_);
    const auto index = static_cast<std::size_t>(random_.integer(0, std::ssize(known_) - 1));
    const auto& known = known_[index];
    if (&other == &side || static_cast<int>(other.before.size()) >= most_products) return;
    if (known.kind == Kind::Cholesky && random_.coin())
      hermitian_product(known.uplo, sources_[index], *other.matrix, *side.matrix);
    else gemm(Op::NoTrans, Op::NoTrans, T(1), sources_[index], *other.matrix, T(0), *side.matrix);
    auto before = other.before;
    before.emplace_back(index, other.expected);
    side.before = std::move(before);
    for (Index j = 0; j < columns_; j++)
      for (Index i = 0; i < n_; i++) {
        side.expected(i, j) = T(0);
        for (Index k = 0; k < n_; k++) side.expected(i, j) += known.A(i, k) * other.expected(k, j);
      }
    note("multiply by " + std::to_string(index));
  }

  static void hermitian_product(Uplo uplo, const Matrix<T>& A, const Matrix<T>& B, const Matrix<T>& C) {
    if constexpr (is_complex<T>) hemm(Side::Left, uplo, T(1), A, B, T(0), C);
    else symm(Side::Left, uplo, T(1), A, B, T(0), C);
  }

  /// Undoes the last product, with a factorization if the factors are not available.
  void solve(RightSides& side, std::map<std::string, Index>& counts) {
    if (side.before.empty()) return multiply(side);
    const auto [index, before] = side.before.back();
    for (auto& slot : slots_) {
      if (!slot->factored || slot->known != index) continue;
      switch (known_[index].kind) {
      case Kind::Cholesky:
        potrs(known_[index].uplo, *slot->matrix, *side.matrix);
        counts["potrs"]++;
        break;
      case Kind::Lu:
        getrs(Op::NoTrans, *slot->matrix, *slot->pivots, *side.matrix);
        counts["getrs"]++;
        break;
      case Kind::LuNopiv:
        getrs_nopiv(Op::NoTrans, *slot->matrix, *side.matrix);
        counts["getrs_nopiv"]++;
        break;
      }
      side.expected = before, side.before.pop_back();
      return note("solve with " + std::to_string(index));
    }
    auto& slot = one_of(slots_);
    bring(index, slot);
    factorize(slot, counts);
    solve(side, counts);
  }

  /// A product multiplies the largest element by up to 2000, and float has 24 bits.
  static constexpr int most_products = std::is_same_v<Real<T>, float> ? 1 : 3;

  Random random_;
  Index tile_, n_, columns_, border_;
  std::vector<FactoredMatrix<T>> known_;
  std::vector<Input> read_only_;
  HostMatrix<T> start_;
  std::string log_;
  // The last members, so that they are destroyed before the memory.
  std::vector<Matrix<T>> sources_;
  std::optional<Matrix<T>> unit_, x_;
  std::array<std::optional<Slot>, 3> slots_;
  std::array<std::optional<RightSides>, 4> sides_;
};

}  // namespace tessera::test
