// SPDX-License-Identifier: BSD-3-Clause
// The routines on Matrix<T> refuse illegal options and operands that are not conformable. The error has the position in
// the argument list of <tessera/blas3.hpp>, and no operand is accessed. Tests of refused views are in matrices.cpp.
#include "support/argument.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/tiling.hpp"

namespace tessera::test::bad_calls_cpp {
namespace {

constexpr Index b = 4;
constexpr Extent size{10, 18, 14}, cut{b, b, b};

/// An operand of a call, by its name in the routine's argument list.
template <Scalar T>
struct Operand {
  std::string name;
  const HostMatrix<T>& stored;
  Matrix<T> TileArguments<T>::*member;
  Size dimensions;  ///< the dimensions of its rows and columns: 1 for m, 2 for n, 3 for k

  bool has(Index dimension) const { return dimensions.rows == dimension || dimensions.columns == dimension; }
};

/// A legal call on matrices, in which a test makes one argument illegal.
template <Scalar T>
class LegalCall {
 public:
  explicit LegalCall(const Routine<T>& routine, const Options& options = {})
      : routine_(routine), before_(random_call(routine, options, size, 1)), tiles_(before_, {cut}) {
    const Extent numbered{1, 2, 3};
    operands_.push_back({"A", before_.A, &TileArguments<T>::A, routine.size_a(options, numbered)});
    if (routine.has_b()) operands_.push_back({"B", before_.B, &TileArguments<T>::B, routine.size_b(options, numbered)});
    operands_.push_back({routine.output(), before_.C, &TileArguments<T>::C, routine.size_c(options, numbered)});
  }

  const std::vector<Operand<T>>& operands() const { return operands_; }

  /// Calls `body(operand, rows, sharing)` for each dimension, rows or columns, of an operand that another operand
  /// shares, or that occurs twice because the operand is square. `sharing` are the names of all operands with this
  /// dimension.
  template <typename Body>
  void for_all_shared_dimensions(Body body) const {
    for (const auto& operand : operands_)
      for (const bool rows : {false, true}) {
        const auto& [down, across] = operand.dimensions;
        const auto sharing = operands_with(rows ? down : across);
        if (sharing.size() > 1 || down == across) body(operand, rows, sharing);
      }
  }

  /// The names of the operands that have this dimension.
  std::vector<std::string> operands_with(Index dimension) const {
    std::vector<std::string> names;
    for (const auto& operand : operands_)
      if (operand.has(dimension)) names.push_back(operand.name);
    return names;
  }

  /// Expects that the call, after `spoil(arguments)`, is refused because of one of the arguments `blamed`.
  template <typename Error, typename Spoil>
  void refused(Spoil spoil, const std::vector<std::string>& blamed, const std::string& problem) {
    auto arguments = tiles_.arguments();
    spoil(arguments);
    expect_refused<Error>([&] { routine_.on_matrices(arguments); }, routine_.name, arguments_on_matrices(routine_),
                          blamed, problem);
    wait();
    const auto now = tiles_.written_back();
    EXPECT_TRUE(now.A == before_.A && now.B == before_.B && now.C == before_.C) << "touched an operand";
  }

  void accepted() {
    EXPECT_NO_THROW(tiles_.submit());
    EXPECT_TRUE(result_is_right(before_, tiles_.written_back()));
  }

 private:
  const Routine<T>& routine_;
  const Call<T> before_;
  TiledCall<T> tiles_;
  std::vector<Operand<T>> operands_;
};

class BadCalls : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, BadCalls, each_routine(), its_name);

TEST_P(BadCalls, AreNotLegalOnes) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) { LegalCall<T>(routine, options).accepted(); });
  });
}

TEST_P(BadCalls, HaveSomethingThatIsNoOption) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    const auto refused = [&](const char* name, auto spoil) {
      if (routine.has(name))
        call.template refused<ArgumentError>([&](auto& all) { spoil(all.options); }, {name}, "is 120, must be");
    };
    refused("side", [](Options& o) { o.side = static_cast<Side>('x'); });
    refused("uplo", [](Options& o) { o.uplo = static_cast<Uplo>('x'); });
    refused("op", [](Options& o) { o.op_a = static_cast<Op>('x'); });
    refused("op_a", [](Options& o) { o.op_a = static_cast<Op>('x'); });
    refused("op_b", [](Options& o) { o.op_b = static_cast<Op>('x'); });
    refused("diag", [](Options& o) { o.diag = static_cast<Diag>('x'); });
  });
}

TEST_P(BadCalls, HaveAnOpThatTheRoutineDoesNotTake) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    int refused = 0;
    for (const Op op : all_ops)
      if (std::ranges::count(routine.ops, op) == 0) {
        call.template refused<ArgumentError>([&](auto& all) { all.options.op_a = op; }, {"op"},
                                             "is " + std::to_string(static_cast<int>(op)) + ", must be");
        refused++;
      }
    EXPECT_EQ(refused, routine.has("op") && !routine.has("side") && is_complex<T> ? 1 : 0);
  });
}

TEST_P(BadCalls, HaveMatricesThatAreNotConformable) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      LegalCall<T> call(routine, options);
      call.for_all_shared_dimensions([&](const auto& operand, bool rows, const auto& sharing) {
        for (const Index more : {b, -b}) {
          auto other =
              random_matrix<T>(7, operand.stored.m() + (rows ? more : 0), operand.stored.n() + (rows ? 0 : more));
          call.template refused<ShapeError>(
              [&](auto& all) {
                all.*operand.member = tiled(other, {b, b});
              },
              sharing, "must have");
        }
      });
    });
  });
}

TEST_P(BadCalls, HaveTilesThatDoNotFit) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      LegalCall<T> call(routine, options);
      call.for_all_shared_dimensions([&](const auto& operand, bool rows, const auto& sharing) {
        for (const Index tile : {b + 1, b - 1, 2 * b}) {
          auto other = operand.stored;
          call.template refused<ShapeError>(
              [&](auto& all) {
                all.*operand.member = tiled(other, {rows ? tile : b, rows ? b : tile});
              },
              sharing, "into tiles of");
        }
      });
    });
  });
}

TEST_P(BadCalls, HaveAReadOnlyOutput) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    for (const T alpha : {T(0), T(1)})
      call.template refused<ArgumentError>(
          [&](auto& all) {
            all.alpha = alpha;
            all.C = tiled(std::as_const(call.operands().back().stored), {b, b});
          },
          {routine.output()}, "read-only");
  });
}

TEST_P(BadCalls, HaveAnOutputThatIsAnInput) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    auto S = random_matrix<T>(4, 5 * b, 5 * b), R = random_matrix<T>(5, 5 * b, 5 * b);
    const auto before = S;
    const auto s = tiled(S, {b, b}), r = tiled(R, {b, b});
    const auto refused = [&](const Matrix<T>& A, const Matrix<T>& B, const Matrix<T>& C) {
      call.template refused<ShapeError>([&](auto& all) { all.A = A, all.B = B, all.C = C; }, {routine.output()},
                                        "shares memory with the input");
    };
    const auto corner = [&](const Matrix<T>& X, Index first) { return X.view(first, first + 3, first, first + 3); };
    refused(s, r, s);
    refused(corner(s, 0), corner(r, 0), corner(s, 2));  // they have one tile in common
    if (routine.has_b()) refused(r, s, s);
    if (routine.has_b()) refused(corner(r, 0), corner(s, 0), corner(s, 2));
    EXPECT_TRUE(S == before);
  });
}

TEST_P(BadCalls, HaveAnOutputOverTheMemoryOfAnInput) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    auto S = random_matrix<T>(4, 5 * b, 5 * b), R = random_matrix<T>(5, 2 * b, 2 * b);
    const auto before = S;
    const auto block = [&](Index first) { return Matrix<T>(&S(first, first), 2 * b, 2 * b, S.ld(), {b, b}); };
    const auto first = block(0), overlapping = block(2 * b - 1), apart = block(2 * b), other = tiled(R, {b, b});
    const auto refused = [&](const Matrix<T>& A, const Matrix<T>& B, const std::string& input) {
      call.template refused<ShapeError>([&](auto& all) { all.A = A, all.B = B, all.C = overlapping; },
                                        {routine.output()}, "shares memory with the input " + input);
    };
    refused(first, other, "A");
    if (routine.has_b()) refused(other, first, "B");
    EXPECT_TRUE(S == before);
    EXPECT_NO_THROW(routine.on_matrices({{}, T(1), first, other, T(0), apart}));
    apart.wait();
  });
}

TEST_P(BadCalls, AreNotOnesOnRowBlocksOfOneArray) {
  run([]<Scalar T>(const Routine<T>& routine) {
    const auto before = integer_call(routine, {}, {2 * b, 2 * b, 2 * b}, 1);
    HostMatrix<T> S(4 * b, 2 * b);  // A above C: their columns interleave
    put(S, 0, 0, Op::NoTrans, before.A);
    put(S, 2 * b, 0, Op::NoTrans, before.C);
    {
      TiledCall<T> tiles(before, {cut});
      auto arguments = tiles.arguments();
      arguments.A = {S.data(), 2 * b, 2 * b, S.ld(), {b, b}};
      arguments.C = {&S(2 * b, 0), 2 * b, 2 * b, S.ld(), {b, b}};
      routine.on_matrices(arguments);
    }
    EXPECT_TRUE(S.sentinels_intact());
    auto after = before;
    put(after.A, 0, 0, Op::NoTrans, part(S, 0, 0, 2 * b, 2 * b));
    put(after.C, 0, 0, Op::NoTrans, part(S, 2 * b, 0, 2 * b, 2 * b));
    EXPECT_TRUE(result_is_that_of_the_host(before, after));
  });
}

}  // namespace
}  // namespace tessera::test::bad_calls_cpp
