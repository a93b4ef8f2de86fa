// SPDX-License-Identifier: BSD-3-Clause
// Elements that the BLAS must not read or write are not read or written. The other tests have NaN in these places, too;
// here each place has its own test.
#include <cmath>
#include <limits>

#include "support/reference.hpp"
#include "support/row_major.hpp"
#include "support/runtime.hpp"
#include "support/tiling.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 8;
const auto* const runtime = share_runtime(with_tile(tile));

constexpr Extent size{tile + 3, 2 * tile + 1, tile + 2}, no_terms{tile + 3, 2 * tile + 1, 0};
constexpr Tiling tiling{{5, 6, 4}};

template <Scalar T>
std::vector<T> some_betas(const Routine<T>& routine) {
  return routine.has("beta") ? std::vector<T>{T(0), T(1), T(-2)} : std::vector<T>{T(0)};
}

/// Whether the result is right through each of the interfaces.
template <Scalar T>
::testing::AssertionResult is_right_everywhere(const Call<T>& before) {
  auto columns = before, rows = before;
  on_pointers(columns);
  if (auto right = result_is_right(before, columns); !right) return right << " (pointers)";
  in_row_major(rows);
  if (auto right = result_is_right(before, rows); !right) return right << " (row-major)";
  if (auto right = result_is_right(before, on_matrices(before, tiling)); !right) return right << " (matrices)";
  return ::testing::AssertionSuccess();
}

/// Replaces every NaN of A and C by a number.
template <Scalar T>
Call<T> without_hidden_nan(Call<T> call) {
  for (auto* X : {&call.A, &call.C})
    for (Index j = 0; j < X->n(); j++)
      for (Index i = 0; i < X->m(); i++)
        if (auto& x = (*X)(i, j); !(x == x)) x = T(Real<T>(0.25));
  return call;
}

class Unread : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, Unread, each_routine(), its_name);

class UnreadOutput : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, UnreadOutput, each_routine([](const auto& r) { return r.has("beta"); }), its_name);

TEST_P(UnreadOutput, WithBetaZero) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      auto before = without_hidden_nan(random_call(routine, options, size, 1, T(1), T(0)));
      for (Index j = 0; j < before.C.n(); j++)
        for (Index i = 0; i < before.C.m(); i++) before.C(i, j) = marked_nan<T>(5);
      ASSERT_TRUE(is_right_everywhere(before));
    });
  });
}

TEST_P(Unread, InputsWithAlphaZero) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      for (const T beta : some_betas(routine)) {
        const auto before = random_call(routine, options, size, 1, T(0), beta);
        for (const auto* input : {&before.A, &before.B})
          for (Index j = 0; j < input->n(); j++)
            for (Index i = 0; i < input->m(); i++) ASSERT_TRUE(std::isnan(std::real((*input)(i, j))));
        ASSERT_TRUE(is_right_everywhere(before));
      }
    });
  });
}

TEST_P(Unread, InputsWithAlphaZeroMayBeNull) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      for (const T beta : some_betas(routine)) {
        const auto before = random_call(routine, options, size, 1, T(0), beta);
        auto after = before;
        auto arguments = after.arguments();
        arguments.A = arguments.B = nullptr;
        routine.on_pointers(arguments);
        ASSERT_TRUE(result_is_right(before, after));
      }
    });
  });
}

class UnreadEmptySum : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, UnreadEmptySum, each_routine([](const auto& r) { return r.has("k"); }), its_name);

TEST_P(UnreadEmptySum, MayBeNull) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      for (const T beta : some_betas(routine)) {
        const auto before = random_call(routine, options, no_terms, 1, T(1), beta);
        auto after = before;
        auto arguments = after.arguments();
        arguments.A = arguments.B = nullptr;
        routine.on_pointers(arguments);
        ASSERT_TRUE(result_is_right(before, after));
        ASSERT_TRUE(is_right_everywhere(before));
      }
    });
  });
}

class UnreadTriangle : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, UnreadTriangle, each_routine([](const auto& r) { return r.a != Structure::General; }),
                         its_name);

TEST_P(UnreadTriangle, OfTheInput) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      auto before = without_hidden_nan(random_call(routine, options, size, 1));
      for (Index j = 0; j < before.A.n(); j++)
        for (Index i = 0; i < before.A.m(); i++)
          if (!in_triangle(options.uplo, i, j)) before.A(i, j) = marked_nan<T>(6);
      ASSERT_TRUE(is_right_everywhere(before));
    });
  });
}

class UnreadUnitDiagonal : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, UnreadUnitDiagonal, each_routine([](const auto& r) { return r.has("diag"); }), its_name);

TEST_P(UnreadUnitDiagonal, OfATriangularMatrix) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](Options options) {
      options.diag = Diag::Unit;
      auto before = without_hidden_nan(random_call(routine, options, size, 1));
      for (Index i = 0; i < before.A.m(); i++) before.A(i, i) = marked_nan<T>(7);
      ASSERT_TRUE(is_right_everywhere(before));
    });
  });
}

class HermitianDiagonal : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, HermitianDiagonal, each_routine([](const auto& r) { return r.hermitian; }), its_name);

TEST_P(HermitianDiagonal, HasNoImaginaryPartThatIsRead) {
  run([]<Scalar T>(const Routine<T>& routine) {
    if constexpr (is_complex<T>) {
      for_all_options(routine, [&](const Options& options) {
        auto before = without_hidden_nan(random_call(routine, options, size, 1));
        auto& S = routine.a == Structure::Hermitian ? before.A : before.C;
        for (Index i = 0; i < S.m(); i++) S(i, i).imag(std::numeric_limits<Real<T>>::quiet_NaN());
        ASSERT_TRUE(is_right_everywhere(before));
      });
    }
  });
}

class UntouchedTriangle : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, UntouchedTriangle, each_routine([](const auto& r) { return r.c != Structure::General; }),
                         its_name);

TEST_P(UntouchedTriangle, KeepsItsBytes) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      for (const auto& extent : {size, no_terms})
        for (const T alpha : {T(0), T(1)})
          for (const T beta : some_betas(routine)) {
            const auto before = random_call(routine, options, extent, 1, alpha, beta);
            Index others = 0;
            for (Index j = 0; j < before.C.n(); j++)
              for (Index i = 0; i < before.C.m(); i++)
                others += !in_triangle(options.uplo, i, j) && std::isnan(std::real(before.C(i, j)));
            ASSERT_EQ(others, before.C.n() * (before.C.n() - 1) / 2);
            ASSERT_TRUE(is_right_everywhere(before));
          }
    });
  });
}

class HermitianOutput : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, HermitianOutput, each_routine([](const auto& r) { return r.c == Structure::Hermitian; }),
                         its_name);

TEST_P(HermitianOutput, BecomesRealOnItsDiagonalEvenIfOnlyScaled) {
  run([]<Scalar T>(const Routine<T>& routine) {
    if constexpr (is_complex<T>) {
      for_all_options(routine, [&](const Options& options) {
        for (const auto& extent : {size, no_terms})
          for (const T alpha : {T(0), T(2)}) {
            auto before = random_call(routine, options, extent, 1, alpha, T(-2));
            for (Index i = 0; i < before.C.m(); i++) before.C(i, i).imag(Real<T>(0.5));
            auto after = before;
            on_pointers(after);
            for (Index i = 0; i < before.C.m(); i++) ASSERT_EQ(after.C(i, i).imag(), 0) << before;
            ASSERT_TRUE(is_right_everywhere(before));
          }
      });
    }
  });
}

TEST_P(UnreadOutput, WithBetaOneAndNothingToAdd) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      auto before = random_call(routine, options, size, 1, T(0), T(1));
      hide(before.C);  // 1 · NaN would be NaN, but could change its payload
      ASSERT_TRUE(before.does_nothing());
      ASSERT_TRUE(is_right_everywhere(before));
      if (!routine.has("k")) return;
      before = random_call(routine, options, no_terms, 1, T(1), T(1));
      hide(before.C);
      ASSERT_TRUE(before.does_nothing());
      ASSERT_TRUE(is_right_everywhere(before));
    });
  });
}

TEST_P(Unread, EverythingIfTheResultIsEmpty) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      for_all_sizes(routine, {0, 5}, [&](const Extent& extent) {
        auto call = random_call(routine, options, extent, 1);
        if (!call.empty()) return;
        auto arguments = call.arguments();
        arguments.A = arguments.B = arguments.C = nullptr;
        EXPECT_NO_THROW(routine.on_pointers(arguments)) << call;
      });
    });
  });
}

/// A factor that is NaN reaches every element.
TEST_P(UnreadOutput, IsReadIfBetaIsNan) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      for (const T alpha : {T(0), T(1)}) {
        const auto before = random_call(routine, options, size, 1, alpha, T(std::numeric_limits<Real<T>>::quiet_NaN()));
        auto after = before;
        on_pointers(after);
        for (Index j = 0; j < before.C.n(); j++)
          for (Index i = 0; i < before.C.m(); i++)
            if (is_meant(routine.c, options, i, j)) {
              ASSERT_TRUE(std::isnan(std::abs(after.C(i, j)))) << before << ", " << i << ", " << j;
            }
        ASSERT_TRUE(only_output_changed(before, after));
      }
    });
  });
}

/// No product is skipped because a factor is zero: a NaN reaches every element that depends on its row or column.
class ReadInputs : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, ReadInputs, each_routine([](const auto& r) { return !r.solves(); }), its_name);

TEST_P(ReadInputs, IsNoNanThatCounts) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_options(routine, [&](const Options& options) {
      auto before = random_call(routine, options, size, 1);
      const Index row = options.uplo == Uplo::Lower ? 9 : 2, column = 11 - row;  // in the triangle, off its diagonal
      before.A(std::min(row, before.A.m() - 1), std::min(column, before.A.n() - 1)) = marked_nan<T>(8);
      auto after = before;
      on_pointers(after);
      const auto terms = routine.terms(before);
      Index spread = 0, rest = 0;
      for (Index j = 0; j < before.C.n(); j++)
        for (Index i = 0; i < before.C.m(); i++)
          if (is_meant(routine.c, options, i, j)) {
            const bool expected = std::isnan(std::abs(sum_of(terms, i, j).value));
            ASSERT_EQ(std::isnan(std::abs(after.C(i, j))), expected) << before << ", " << i << ", " << j;
            (expected ? spread : rest)++;
          }
      ASSERT_TRUE(spread > 0 && rest > 0) << before;
    });
  });
}

}  // namespace
}  // namespace tessera::test
