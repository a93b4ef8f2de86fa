// SPDX-License-Identifier: BSD-3-Clause
// Random programs of a few products on a few matrices, against the host's BLAS. On integers, so results are exact.
#include <cstdlib>
#include <iostream>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>

#include "support/runtime.hpp"
#include "support/tiled.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime(with_tile(9));

/// TESSERA_TEST_SEED and TESSERA_TEST_CASES: where to begin, and how many programs of each type.
Index variable(const char* name, Index missing) {
  const char* text = std::getenv(name);
  return text == nullptr ? missing : std::atoll(text);
}

/// A cut of one dimension, shared by all matrices that have it.
struct Dimension {
  Index tile, tiles, last;  // elements, count, elements of the last tile
  Index size() const { return tiles == 0 ? 0 : (tiles - 1) * tile + last; }
};

/// What a view shows: tiles [first, first + count) of a dimension.
struct Range {
  Index first, count;
  Index offset(const Dimension& d) const { return std::min(first * d.tile, d.size()); }
  Index size(const Dimension& d) const { return std::min((first + count) * d.tile, d.size()) - offset(d); }
};

template <Scalar T>
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    for (auto& d : dimensions_) {
      d.tile = random_.integer(1, 9);
      d.tiles = random_.integer(1, 4);
      d.last = random_.integer(1, d.tile);
    }
    for (int count = 0; count < 4; count++) {
      const std::size_t rows = dimension(), columns = dimension();
      HostMatrix<T> A(dimensions_[rows].size(), dimensions_[columns].size(), random_.integer(0, 3));
      random_.fill_integers(A, 2);
      largest_.push_back(2 * (is_complex<T> ? 2 : 1));
      shapes_.push_back({rows, columns});
      matrices_.push_back(A);
    }
    expected_ = matrices_;
    for (std::size_t i = 0; i < matrices_.size(); i++)
      tiled_.push_back(tiled(matrices_[i], {dimensions_[shapes_[i].rows].tile, dimensions_[shapes_[i].columns].tile}));
  }

  /// One product of random operands, on tiles and on the host; false if these cannot be multiplied.
  bool step() {
    const std::size_t c = matrix(), a = matrix(), b = matrix();
    if (a == c || b == c) return false;
    const Op view_c = op(), view_a = op(), view_b = op(), op_a = op(), op_b = op();
    const bool turned_a = (view_a != Op::NoTrans) != (op_a != Op::NoTrans),
               turned_b = (view_b != Op::NoTrans) != (op_b != Op::NoTrans), turned_c = view_c != Op::NoTrans;
    const auto seen = [&](std::size_t x, bool turned) {
      return turned ? Shape{shapes_[x].columns, shapes_[x].rows} : shapes_[x];
    };
    const Shape A = seen(a, turned_a), B = seen(b, turned_b), C = seen(c, turned_c);
    if (A.rows != C.rows || A.columns != B.rows || B.columns != C.columns) return false;
    const Range m = range(C.rows), n = range(C.columns), k = range(A.columns);
    const T alpha = factor(), beta = factor();
    const double terms = static_cast<double>(k.size(dimensions_[A.columns]));
    const double grown = 3 * terms * largest_[a] * largest_[b] + 3 * largest_[c];
    if (grown > 0x1p23) return false;  // would not be exact in float
    largest_[c] = grown;

    const auto range_of = [](const Matrix<T>& X, bool turned, Range rows, Range columns) {
      if (turned) std::swap(rows, columns);
      return X.view(rows.first, rows.first + rows.count, columns.first, columns.first + columns.count);
    };
    const auto part_of = [&](std::size_t x, bool turned, Range rows, Range columns, Op view) {
      if (turned) std::swap(rows, columns);
      const auto &r = dimensions_[shapes_[x].rows], &s = dimensions_[shapes_[x].columns];
      return part(expected_[x], rows.offset(r), columns.offset(s), rows.size(r), columns.size(s), view);
    };
    try {
      gemm<T>(op_a, op_b, alpha, seen_through(view_a, range_of(tiled_[a], turned_a, m, k)),
              seen_through(view_b, range_of(tiled_[b], turned_b, k, n)), beta,
              seen_through(view_c, range_of(tiled_[c], turned_c, m, n)));
    } catch (const ArgumentError& error) {
      if (std::string(error.what()).find("conjugated without") != std::string::npos && is_complex<T>) return false;
      throw;
    }
    const auto left = part_of(a, turned_a, m, k, view_a), right = part_of(b, turned_b, k, n, view_b);
    auto result = part_of(c, turned_c, m, n, view_c);
    host_product<T>({op_a, op_b, alpha, left, right, beta}, result);
    put(expected_[c], (turned_c ? n : m).offset(dimensions_[shapes_[c].rows]),
        (turned_c ? m : n).offset(dimensions_[shapes_[c].columns]), view_c, result);
    return true;
  }

  /// Waits, in one of the ways that there are.
  ::testing::AssertionResult finish() {
    if (random_.coin()) {
      for (const auto& matrix : tiled_) matrix.wait();
    } else {
      tiled_.clear();
    }
    for (std::size_t i = 0; i < matrices_.size(); i++)
      if (!matrices_[i].equals(expected_[i])) return ::testing::AssertionFailure() << "matrix " << i << " is wrong";
    return ::testing::AssertionSuccess();
  }

 private:
  struct Shape {
    std::size_t rows, columns;  // which dimensions
  };
  std::size_t dimension() { return static_cast<std::size_t>(random_.integer(0, 1)); }
  std::size_t matrix() { return static_cast<std::size_t>(random_.integer(0, std::ssize(matrices_) - 1)); }
  Op op() { return random_.one_of(all_ops); }
  T factor() {
    const auto real = static_cast<Real<T>>(random_.integer(-2, 2));
    if constexpr (is_complex<T>) return random_.coin() ? T(real) : T(0, 1);
    else return real;
  }
  Range range(std::size_t d) {
    if (random_.coin()) return {0, dimensions_[d].tiles};
    const Index first = random_.integer(0, dimensions_[d].tiles);
    return {first, random_.integer(0, dimensions_[d].tiles - first)};
  }

  Random random_;
  std::array<Dimension, 2> dimensions_{};
  std::vector<Shape> shapes_;
  std::vector<double> largest_;  // no element of matrix i is larger
  std::vector<HostMatrix<T>> matrices_, expected_;
  std::vector<Matrix<T>> tiled_;  // goes first
};

template <Scalar T>
class RandomChains : public ::testing::Test {};
TYPED_TEST_SUITE(RandomChains, ScalarTypes);

TYPED_TEST(RandomChains, OfMatricesAreExact) {
  const Index first = variable("TESSERA_TEST_SEED", 1), cases = variable("TESSERA_TEST_CASES", 75);
  std::cout << "seeds " << first << " to " << first + cases - 1 << '\n';
  Index products = 0;
  for (Index seed = first; seed < first + cases; seed++) {
    Program<TypeParam> program(static_cast<std::uint64_t>(seed));
    for (int attempt = 0; attempt < 60; attempt++) products += program.step();
    ASSERT_TRUE(program.finish()) << "seed " << seed;
  }
  EXPECT_GT(products, cases);
}

TYPED_TEST(RandomChains, OfPointersAreExact) {
  using T = TypeParam;
  const Index first = variable("TESSERA_TEST_SEED", 1), cases = variable("TESSERA_TEST_CASES", 75);
  std::cout << "seeds " << first << " to " << first + cases - 1 << '\n';
  for (Index seed = first; seed < first + cases; seed++) {
    Random random(static_cast<std::uint64_t>(seed));
    const Op op_a = random.one_of(all_ops), op_b = random.one_of(all_ops);
    const Index m = random.integer(0, 40), n = random.integer(0, 40), k = random.integer(0, 40);
    const auto shaped = [&](Op op, Index rows, Index columns) {
      HostMatrix<T> A(op == Op::NoTrans ? rows : columns, op == Op::NoTrans ? columns : rows, random.integer(0, 5));
      random.fill_integers(A);
      return A;
    };
    const auto A = shaped(op_a, m, k), B = shaped(op_b, k, n);
    auto C = shaped(Op::NoTrans, m, n), expected = C;
    const T alpha = T(static_cast<Real<T>>(random.integer(-2, 2))),
            beta = T(static_cast<Real<T>>(random.integer(-2, 2)));
    gemm<T>(op_a, op_b, m, n, k, alpha, A.data(), A.ld(), B.data(), B.ld(), beta, C.data(), C.ld());
    host_product<T>({op_a, op_b, alpha, A, B, beta}, expected);
    ASSERT_TRUE(C.equals(expected)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tessera::test
