// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include <tessera/error.hpp>

#include "support/routines.hpp"
#include "support/tiled.hpp"

/// Random programs: several routines on a few matrices, without waits, and the same calls by the host BLAS. All numbers
/// are small integers, so results are exact.
namespace tessera::test {

/// The number of calls of each routine that had something to compute.
using Counts = std::map<std::string, Index>;

template <Scalar T>
void count(const Call<T>& call, Counts& counts) {
  const bool terms = call.alpha != T{} && !(call.routine->has("k") && call.size.k == 0);
  if (!call.empty() && terms) counts[call.routine->name]++;
}

/// Random values for the options that the routine has; others keep their defaults.
template <Scalar T>
Options random_options(const Routine<T>& routine, Random& random) {
  Options options{random.one_of(all_sides), random.one_of(all_uplos), random.one_of(routine.ops),
                  random.one_of(routine.ops)};
  if (routine.has("diag")) options.diag = random.one_of(all_diags);
  return options;
}

/// The largest |re| + |im| of all elements.
template <Scalar T>
long double largest(const HostMatrix<T>& A) {
  long double result = 0;
  for (Index j = 0; j < A.n(); j++)
    for (Index i = 0; i < A.m(); i++) {
      const std::complex<long double> x(widen(A(i, j)));
      result = std::max(result, std::abs(x.real()) + std::abs(x.imag()));
    }
  return result;
}

/// Whether integers up to x, and their sums up to x, are exact in T.
template <Scalar T>
bool is_exact(long double x) {
  return x < std::ldexp(1.0L, std::numeric_limits<Real<T>>::digits - 1);
}

/// Whether every sum in a call is exact in any order of additions, and so is the inverse of a triangular matrix, with
/// which a BLAS may solve.
/// @param after  the call with the result of the host BLAS
template <Scalar T>
bool stays_exact(const Call<T>& before, const Call<T>& after) {
  const auto& routine = *before.routine;
  const long double scaled = std::abs(widen(routine.has("beta") ? before.beta : before.alpha)) * largest(before.C);
  long double sum = scaled;
  for (const auto& [factor, left, right] : routine.terms(routine.solves() ? after : before))
    sum += std::abs(factor) * static_cast<long double>(left.n()) * largest(left.stored) * largest(right.stored);
  if (!is_exact<T>(sum) || !routine.solves()) return is_exact<T>(sum);

  auto inverse = before;
  const Index order = before.A.n();
  inverse.options.side = Side::Left;
  inverse.size = {order, order, 0};
  inverse.alpha = T(1);
  inverse.C = HostMatrix<T>(order, order);
  for (Index j = 0; j < order; j++)
    for (Index i = 0; i < order; i++) inverse.C(i, j) = i == j ? T(1) : T(0);
  on_host(inverse);
  return is_exact<T>(largest(inverse.C) * static_cast<long double>(order) * (largest(before.A) + scaled));
}

/// A dimension and its cut into tiles, shared by all matrices that have it.
struct Dimension {
  Index tile, tiles, last;  // elements of a tile, number of tiles, elements of the last tile
  Index size() const { return (tiles - 1) * tile + last; }
};

/// Tiles [first, first + count) of a dimension.
struct Range {
  Index first, count;
  Index offset(const Dimension& d) const { return std::min(first * d.tile, d.size()); }
  Index size(const Dimension& d) const { return std::min((first + count) * d.tile, d.size()) - offset(d); }
  bool meets(const Range& other) const {
    return std::max(first, other.first) < std::min(first + count, other.first + other.count);
  }
};

/// Matrices of all shapes that two dimensions form, with their tiles and their expected values. Some of them have no
/// memory while the program runs.
template <Scalar T>
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    for (auto& d : dimensions_) {
      d.tile = random_.integer(1, 9);
      d.tiles = random_.integer(1, 5);
      d.last = random_.integer(1, d.tile);
    }
    for (const bool rows : {false, true})
      for (const bool columns : {false, true}) add_matrix({rows, columns}, Kind::Any);
    const std::size_t dimension = random_.coin();
    add_matrix({dimension, dimension}, Kind::Any);
    for (const std::size_t d : {0, 1}) add_matrix({d, d}, Kind::Invertible);
    expected_ = memory_;
    for (std::size_t i = 0; i < memory_.size(); i++) {
      const TileSize tile{dimensions_[shapes_[i].rows].tile, dimensions_[shapes_[i].columns].tile};
      tiled_.push_back(kinds_[i] == Kind::Any ? tiled(memory_[i], tile) : tiled(std::as_const(memory_[i]), tile));
      without_memory_.push_back(random_.integer(0, 2) == 0);
      if (!without_memory_.back()) continue;
      const Matrix<T> filled(memory_[i].m(), memory_[i].n(), tile);
      copy(tiled_.back(), filled);
      tiled_.back() = filled;
    }
  }

  /// Calls one routine on random operands, on tiles and on the host, unless the operands are illegal for it.
  void step(Counts& counts) {
    const auto& routine = random_.one_of(routines<T>());
    const auto options = random_options(routine, random_);
    const std::array<Slot, 3> slots{slot(), slot(), slot()};  // m, n and k, by these indices:
    const Extent which{0, 1, 2};
    const auto a = operand(slots, routine.size_a(options, which), As::Input);
    const auto b = routine.has_b() ? operand(slots, routine.size_b(options, which), As::Input) : a;
    const auto c = operand(slots, routine.size_c(options, which), As::Output);
    if (meet(a, c) || meet(b, c)) return;

    Call<T> call{&routine, options,  {},      factor(routine.real_alpha), factor(routine.real_beta),
                 shown(a), shown(b), shown(c)};
    for (auto [size, i] : {std::pair{&call.size.m, 0}, {&call.size.n, 1}, {&call.size.k, 2}})
      *size = slots[i].range.size(dimensions_[slots[i].dimension]);
    if (!routine.has("beta")) call.beta = T(0);
    if (routine.solves() && !has_units_on_diagonal(call.A)) call.options.diag = Diag::Unit;
    auto result = call;
    on_host(result);
    if (!stays_exact(call, result)) return;

    std::ostringstream log;
    log << call << "; A " << a << ", B " << b << ", C " << c << '\n';
    try {
      routine.on_matrices({call.options, call.alpha, view(a), view(b), call.beta, view(c)});
    } catch (const ArgumentError& error) {
      if (!may_be_refused(routine, a, b, c)) FAIL() << log.str() << error.what();
      return;
    }
    log_ += log.str();
    count(call, counts);
    put(expected_[c.matrix], c.rows.offset(row_dimension(c)), c.columns.offset(column_dimension(c)), c.view, result.C);
  }

  /// Waits in one of several ways, then compares all matrices with their expected values.
  ::testing::AssertionResult finish() {
    for (std::size_t x = 0; x < memory_.size(); x++)
      if (without_memory_[x]) copy(tiled_[x], tiled(memory_[x], {tiled_[x].mb(), tiled_[x].nb()}));
    if (random_.coin()) {
      for (const auto& matrix : tiled_) matrix.wait();
    } else {
      tiled_.clear();
    }
    for (std::size_t x = 0; x < memory_.size(); x++) {
      const auto &A = memory_[x], &expected = expected_[x];
      if (!A.sentinels_intact()) return ::testing::AssertionFailure() << log_ << "wrote outside of #" << x;
      for (Index j = 0; j < A.n(); j++)
        for (Index i = 0; i < A.m(); i++)
          if (A(i, j) != expected(i, j))
            return ::testing::AssertionFailure() << log_ << '#' << x << '(' << i << ", " << j << ") is " << A(i, j)
                                                 << ", should be " << expected(i, j);
    }
    return ::testing::AssertionSuccess();
  }

 private:
  /// Invertible matrices are never outputs. Their diagonals are units, and few other elements are nonzero.
  enum class Kind { Any, Invertible };
  enum class As { Input, Output };
  /// The dimensions of a matrix.
  struct Shape {
    std::size_t rows, columns;
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  /// A size of a call: a range of tiles of a dimension.
  struct Slot {
    std::size_t dimension;
    Range range;
  };
  /// A view of a matrix: a range of its tiles as stored, to which an op is applied.
  struct Operand {
    std::size_t matrix;
    Range rows, columns;
    Op view;
    friend std::ostream& operator<<(std::ostream& out, const Operand& x) {
      return out << '#' << x.matrix << " [" << x.rows.first << "+" << x.rows.count << ", " << x.columns.first << "+"
                 << x.columns.count << "] " << static_cast<char>(x.view);
    }
  };

  void add_matrix(Shape shape, Kind kind) {
    HostMatrix<T> A(dimensions_[shape.rows].size(), dimensions_[shape.columns].size(), random_.integer(0, 3));
    random_.fill_integers(A, kind == Kind::Any ? 2 : 1);
    for (Index j = 0; kind == Kind::Invertible && j < A.n(); j++)
      for (Index i = 0; i < A.m(); i++) {
        if (i == j) A(i, j) = unit();
        else if (random_.integer(0, 7) > 0) A(i, j) = T(0);
      }
    shapes_.push_back(shape);
    kinds_.push_back(kind);
    memory_.push_back(A);
  }

  Slot slot() {
    const std::size_t d = random_.coin();
    if (random_.coin()) return {d, {0, dimensions_[d].tiles}};
    const Index first = random_.integer(0, dimensions_[d].tiles - 1);
    const Index fewest = random_.integer(0, 15) == 0 ? 0 : 1;
    return {d, {first, random_.integer(fewest, dimensions_[d].tiles - first)}};
  }

  /// The tiles of the slot, or the same number of other tiles of the same total size.
  Range place(const Slot& slot) {
    const auto& d = dimensions_[slot.dimension];
    const Range other{random_.integer(0, d.tiles - slot.range.count), slot.range.count};
    return random_.coin() && other.size(d) == slot.range.size(d) ? other : slot.range;
  }

  /// @param which  the slots of its rows and columns
  Operand operand(const std::array<Slot, 3>& slots, Size which, As as) {
    const Op view = random_.coin() ? Op::NoTrans : random_.one_of(all_ops);
    const auto [r, s] = stored(view, which.rows, which.columns);
    const auto &rows = slots[static_cast<std::size_t>(r)], &columns = slots[static_cast<std::size_t>(s)];
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < shapes_.size(); i++)
      if (shapes_[i] == Shape{rows.dimension, columns.dimension} && (as == As::Input || kinds_[i] == Kind::Any))
        candidates.push_back(i);
    return {random_.one_of(candidates), place(rows), place(columns), view};
  }

  static bool meet(const Operand& x, const Operand& y) {
    return x.matrix == y.matrix && x.rows.meets(y.rows) && x.columns.meets(y.columns);
  }

  const Dimension& row_dimension(const Operand& x) const { return dimensions_[shapes_[x.matrix].rows]; }
  const Dimension& column_dimension(const Operand& x) const { return dimensions_[shapes_[x.matrix].columns]; }

  HostMatrix<T> shown(const Operand& x) const {
    const auto &r = row_dimension(x), &s = column_dimension(x);
    return part(expected_[x.matrix], x.rows.offset(r), x.columns.offset(s), x.rows.size(r), x.columns.size(s), x.view);
  }
  Matrix<T> view(const Operand& x) const {
    return view_of(x.view, tiled_[x.matrix].view(x.rows.first, x.rows.first + x.rows.count, x.columns.first,
                                                 x.columns.first + x.columns.count));
  }

  /// Whether views and options together may require an operation that no BLAS routine has; see <tessera/blas3.hpp>.
  static bool may_be_refused(const Routine<T>& routine, const Operand& a, const Operand& b, const Operand& c) {
    const auto transposed = [](const Operand& x) { return x.view != Op::NoTrans; };
    if (routine.a != Structure::General && routine.has_b() && transposed(b) != transposed(c))
      return true;  // for symm and hemm
    if (routine.c != Structure::General && routine.has("op") && transposed(a) != transposed(b))
      return true;  // for syr2k
    if (!is_complex<T>) return false;
    return transposed(a) || transposed(b) || transposed(c);
  }

  static bool has_units_on_diagonal(const HostMatrix<T>& A) {
    for (Index i = 0; i < A.n(); i++)
      if (std::abs(A(i, i)) != 1) return false;  // ±1 and ±i have integer inverses
    return true;
  }

  T unit() {
    const T sign = random_.coin() ? T(1) : T(-1);
    if constexpr (is_complex<T>) return random_.coin() ? sign : sign * T(0, 1);
    else return sign;
  }
  T factor(bool real) {
    const auto number = static_cast<Real<T>>(random_.integer(-2, 2));
    if constexpr (is_complex<T>) return real || random_.coin() ? T(number) : T(0, 1);
    else return number;
  }

  Random random_;
  std::array<Dimension, 2> dimensions_{};
  std::vector<Shape> shapes_;
  std::vector<Kind> kinds_;
  std::vector<HostMatrix<T>> memory_, expected_;
  std::vector<bool> without_memory_;
  std::string log_;
  std::vector<Matrix<T>> tiled_;  // last, so that it is destroyed before the memory
};

}  // namespace tessera::test
