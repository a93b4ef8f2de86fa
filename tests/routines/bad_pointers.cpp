// SPDX-License-Identifier: BSD-3-Clause
// The routines on pointers refuse every illegal argument. The error has the argument's position in the BLAS, and no
// operand is accessed. With a layout, which is argument 1, all other positions increase by one.
#include "blas/arguments.hpp"
#include "support/argument.hpp"
#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/runtime.hpp"

namespace tessera::test::bad_pointers_cpp {
namespace {

const auto* const runtime = share_runtime();

constexpr Index beyond_int = Index{1} << 31, huge = Index{1} << 62, smallest = std::numeric_limits<Index>::min();
constexpr Extent size{6, 5, 7};

/// The stored size of the operand whose leading dimension is `ld`.
template <Scalar T>
Size size_of_operand(const Routine<T>& routine, const std::string& ld, const Options& options) {
  if (ld == "lda") return routine.size_a(options, size);
  return ld == "ldb" && routine.has_b() ? routine.size_b(options, size) : routine.size_c(options, size);
}

/// A legal call, in which a test makes one argument illegal, with and without a layout.
template <Scalar T>
class LegalCall {
 public:
  explicit LegalCall(const Routine<T>& routine, const Options& options = {})
      : routine_(routine), call_(random_call(routine, options, size, 0)), with_layout_(routine.arguments) {
    with_layout_.insert(with_layout_.begin(), "layout");
  }

  /// Expects that the call, after `spoil(arguments)`, is refused because of `argument`.
  template <typename Error = ArgumentError, typename Spoil>
  void refused(Spoil spoil, const std::string& argument, const std::string& problem) {
    for (const bool layout : {false, true}) {
      auto call = call_;
      auto arguments = call.arguments();
      spoil(arguments);
      expect_refused<Error>(
          [&] {
            if (layout) routine_.with_layout(Layout::ColMajor, arguments);
            else routine_.on_pointers(arguments);
          },
          routine_.name, layout ? with_layout_ : routine_.arguments, {argument}, problem);
      EXPECT_TRUE(call.A == call_.A && call.B == call_.B && call.C == call_.C) << "touched an operand";
    }
  }

  /// Expects the same in row-major layout, where leading dimensions have other bounds.
  template <typename Spoil>
  void refused_in_row_major(Spoil spoil, const std::string& argument, const std::string& problem) {
    auto call = call_;
    auto arguments = call.arguments();
    arguments.lda = arguments.ldb = arguments.ldc = 100;
    spoil(arguments);
    expect_refused<ArgumentError>([&] { routine_.with_layout(Layout::RowMajor, arguments); }, routine_.name,
                                  with_layout_, {argument}, problem);
    EXPECT_TRUE(call.C == call_.C) << "touched an operand";
  }

 private:
  const Routine<T>& routine_;
  const Call<T> call_;
  std::vector<std::string> with_layout_;
};

class BadPointers : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, BadPointers, each_routine(), its_name);

TEST_P(BadPointers, AreNotThoseOfALegalCall) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      auto call = random_call(routine, options, size, 0);
      EXPECT_NO_THROW(on_pointers(call));  // otherwise the following checks prove little
      EXPECT_NO_THROW(routine.with_layout(Layout::ColMajor, call.arguments()));
    });
  });
}

TEST_P(BadPointers, IsSomethingThatIsNoOption) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    for (const auto& name : routine.arguments)
      if (is_option(name))
        for (const char value : {'X', '?', '\0'})
          call.refused([&](auto& all) { Argument<T>(routine, name, all).set_option(value); }, name,
                       "is " + std::to_string(int{value}) + ", must be");
  });
}

TEST_P(BadPointers, IsAnOpThatTheRoutineDoesNotTake) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    for (const Op op : all_ops)
      if (std::ranges::count(routine.ops, op) == 0)
        call.refused([&](auto& all) { all.options.op_a = op; }, "op",
                     "is " + std::to_string(static_cast<int>(op)) + ", must be");
  });
}

TEST_P(BadPointers, IsNoLayout) {
  run([]<Scalar T>(const Routine<T>& routine) {
    auto call = random_call(routine, {}, size, 0);
    const auto before = call.C;
    expect_refused<ArgumentError>([&] { routine.with_layout(static_cast<Layout>('X'), call.arguments()); },
                                  routine.name, 1, "layout", "is 88, must be");
    EXPECT_TRUE(call.C == before);
  });
}

TEST_P(BadPointers, IsANegativeSize) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    for (const auto& name : routine.arguments)
      if (is_size(name))
        for (const Index value : {Index{-1}, Index{-300}, smallest})
          call.refused([&](auto& all) { Argument<T>(routine, name, all).number() = value; }, name,
                       "is " + std::to_string(value) + ", must be");
  });
}

TEST_P(BadPointers, IsALeadingDimensionThatIsTooSmall) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      LegalCall<T> call(routine, options);
      for (const auto& name : routine.arguments) {
        if (!is_leading_dimension(name)) continue;
        const auto [rows, columns] = size_of_operand(routine, name, options);
        const auto set = [&](Index value) {
          return [&routine, &name, value](auto& all) { Argument<T>(routine, name, all).number() = value; };
        };
        call.refused(set(rows - 1), name,
                     "is " + std::to_string(rows - 1) + ", must be at least " + std::to_string(rows));
        call.refused(set(-rows), name, "is -");
        call.refused_in_row_major(
            set(columns - 1), name,
            "is " + std::to_string(columns - 1) + ", must be at least " + std::to_string(columns));
      }
    });
  });
}

TEST_P(BadPointers, IsALeadingDimensionOfZero) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    for (const auto& name : routine.arguments)
      if (is_leading_dimension(name))
        call.refused(
            [&](auto& all) {
              all.options.op_a = all.options.op_b = Op::NoTrans;
              all.size = {0, 0, 0};
              Argument<T>(routine, name, all).number() = 0;
            },
            name, "is 0, must be at least 1");
  });
}

TEST_P(BadPointers, IsANumberThatIsTooLarge) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    for (const auto& name : routine.arguments)
      if (is_leading_dimension(name))
        call.refused([&](auto& all) { Argument<T>(routine, name, all).number() = beyond_int; }, name,
                     "is 2147483648, must be at most 2147483647");
  });
}

TEST_P(BadPointers, IsNull) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    for (const auto& name : routine.arguments)
      if (is_operand(name)) call.refused([&](auto& all) { Argument<T>(routine, name, all).set_null(); }, name, "null");
    call.refused([&](auto& all) { all.C = nullptr, all.alpha = T{}; }, routine.output(), "null");
  });
}

// The number of columns of an operand overflows. Its leading dimension is legal, so the operand is refused.
TEST_P(BadPointers, IsASizeWhoseBytesOverflow) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    call.refused(
        [&](auto& all) {
          all.size.m = all.size.n = all.size.k = huge;
          all.lda = all.ldb = all.ldc = blas::arguments::largest_int;
        },
        "lda", "is 2147483647, must be at least 4611686018427387904");
    // Without m and n, C is square, and its leading dimension would be refused instead.
    const bool whole = routine.has("m") && routine.has("n");
    if (whole)
      call.refused([&](auto& all) { all.options.side = Side::Left, all.size.n = huge, all.alpha = T{}; },
                   routine.output(), "4611686018427387904 columns");
  });
}

// The order of the checks: options and sizes, then leading dimensions, then pointers.
TEST_P(BadPointers, IsOnlyTheFirstOfSeveral) {
  run([]<Scalar T>(const Routine<T>& routine) {
    LegalCall<T> call(routine);
    auto ordered = routine.arguments;
    std::erase_if(ordered, [](const auto& name) { return name == "alpha" || name == "beta"; });
    std::ranges::stable_partition(ordered, [](const auto& name) { return !is_operand(name); });
    std::ranges::stable_partition(ordered, [](const auto& name) { return is_option(name) || is_size(name); });
    for (std::size_t first = 0; first < ordered.size(); first++)
      call.refused(
          [&](auto& all) {
            for (std::size_t i = first; i < ordered.size(); i++) {
              Argument<T> argument(routine, ordered[i], all);
              if (is_option(ordered[i])) argument.set_option('X');
              else if (is_operand(ordered[i])) argument.set_null();
              else argument.number() = is_size(ordered[i]) ? -1 : 0;
            }
          },
          ordered[first], "");
  });
}

// An output that shares memory with an input: the error has the position of the output.
TEST_P(BadPointers, IsAnOutputThatIsAnInput) {
  run([]<Scalar T>(const Routine<T>& routine) {
    auto S = random_matrix<T>(4, 12, 12), R = random_matrix<T>(5, 12, 12);
    const auto S_before = S, R_before = R;
    const auto refused = [&](const T* A, const T* B, T* C) {
      for (const bool layout : {false, true}) {
        const Arguments<T> all{{}, {4, 4, 4}, T(1), A, 12, B, 12, T(0), C, 12};
        expect_refused<ShapeError>(
            [&] { layout ? routine.with_layout(Layout::RowMajor, all) : routine.on_pointers(all); }, routine.name,
            static_cast<int>(routine.arguments.size()) - 1 + layout, routine.output(), "shares memory with the input");
      }
    };
    refused(S.data(), R.data(), S.data());
    refused(S.data(), R.data(), &S(3, 3));  // they have one element in common
    refused(&S(3, 3), R.data(), S.data());
    if (routine.has_b()) refused(R.data(), S.data(), S.data());
    EXPECT_TRUE(S == S_before && R == R_before);
  });
}

TEST_P(BadPointers, AreNotPartsOfOneArrayThatInterleave) {
  run([]<Scalar T>(const Routine<T>& routine) {
    auto before = integer_call(routine, {}, {4, 4, 4}, 1);
    auto together = HostMatrix<T>(12, 4), expected = together;
    const auto rows = [&](Index first, const HostMatrix<T>& X) {
      for (Index j = 0; j < X.n(); j++)
        for (Index i = 0; i < X.m(); i++) together(first + i, j) = expected(first + i, j) = X(i, j);
    };
    rows(0, before.A), rows(4, before.B), rows(8, before.C);
    routine.on_pointers(
        {{}, {4, 4, 4}, before.alpha, &together(0, 0), 12, &together(4, 0), 12, before.beta, &together(8, 0), 12});
    auto after = before;
    for (Index j = 0; j < 4; j++) std::copy_n(&together(8, j), 4, &after.C(0, j));
    EXPECT_TRUE(result_is_that_of_the_host(before, after));
    for (Index j = 0; j < 4; j++) std::copy_n(&expected(8, j), 4, &together(8, j));
    EXPECT_TRUE(together == expected);
  });
}

}  // namespace
}  // namespace tessera::test::bad_pointers_cpp
