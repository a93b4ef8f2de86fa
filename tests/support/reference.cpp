// SPDX-License-Identifier: BSD-3-Clause
#include "support/reference.hpp"

#include "blas/shapes.hpp"

namespace tessera::test {

template <Scalar T>
Deviation deviation(const std::vector<Term<T>>& terms, const Call<T>& before, const Call<T>& after, Index i, Index j) {
  const auto alpha = widen(before.alpha), beta = widen(before.beta);
  auto sum = before.alpha == T{} ? Sum<T>() : sum_of(terms, i, j);
  if (before.routine->solves() && before.alpha != T{})
    return {std::abs(sum.value - alpha * output_element(before, i, j)), residual_bound<T>(sum.terms, sum.magnitude)};
  const Index count = sum.terms;
  if (before.beta != T{}) sum.add(beta, output_element(before, i, j));
  return {std::abs(widen(after.C(i, j)) - sum.value), error_bound<T>(count, sum.magnitude)};
}

template <Scalar T>
std::vector<Term<T>> terms_of(const Call<T>& before, const Call<T>& after) {
  return before.routine->terms(before.routine->solves() ? after : before);
}

template <Scalar T>
::testing::AssertionResult element_is_right(const std::vector<Term<T>>& terms, const Call<T>& before,
                                            const Call<T>& after, Index i, Index j) {
  const auto failure = [&] {
    return ::testing::AssertionFailure() << before << ": element (" << i << ", " << j << ") ";
  };
  const auto [error, bound] = deviation(terms, before, after, i, j);
  if (!Deviation{error, bound}.within())
    return failure() << "is " << after.C(i, j) << ", error " << error << " over the bound " << bound;
  if (before.routine->c == Structure::Hermitian && i == j && std::imag(after.C(i, j)) != 0)
    return failure() << "is " << after.C(i, j) << ", which is not real";
  return ::testing::AssertionSuccess();
}

template <Scalar T>
::testing::AssertionResult only_output_changed(const Call<T>& before, const Call<T>& after) {
  const auto failure = [&] { return ::testing::AssertionFailure() << before << ": "; };
  if (!(after.A == before.A)) return failure() << "changed A";
  if (!(after.B == before.B)) return failure() << "changed B";
  auto rest = after.C;
  for (Index j = 0; j < rest.n(); j++)
    for (Index i = 0; i < rest.m(); i++)
      if (is_meant(before.routine->c, before.options, i, j)) rest(i, j) = before.C(i, j);
  if (!(rest == before.C)) return failure() << "wrote where there is no output";
  if (before.does_nothing() && !(after.C == before.C)) return failure() << "changed C, with nothing to add to it";
  return ::testing::AssertionSuccess();
}

template <Scalar T>
::testing::AssertionResult result_is_right(const Call<T>& before, const Call<T>& after) {
  if (auto right = only_output_changed(before, after); !right || before.does_nothing()) return right;
  const auto terms = terms_of(before, after);
  for (Index j = 0; j < after.C.n(); j++)
    for (Index i = 0; i < after.C.m(); i++)
      if (is_meant(before.routine->c, before.options, i, j))
        if (auto right = element_is_right(terms, before, after, i, j); !right) return right;
  return ::testing::AssertionSuccess();
}

template <Scalar T>
::testing::AssertionResult result_is(const HostMatrix<T>& expected, const Call<T>& before, const Call<T>& after) {
  if (auto right = only_output_changed(before, after); !right || before.does_nothing()) return right;
  for (Index j = 0; j < after.C.n(); j++)
    for (Index i = 0; i < after.C.m(); i++)
      if (is_meant(before.routine->c, before.options, i, j) && !(after.C(i, j) == expected(i, j)))
        return ::testing::AssertionFailure() << before << ": element (" << i << ", " << j << ") is " << after.C(i, j)
                                             << ", should be " << expected(i, j);
  return ::testing::AssertionSuccess();
}

template <Scalar T>
::testing::AssertionResult result_is_that_of_the_host(const Call<T>& before, const Call<T>& after) {
  if (is_complex<T> && before.routine->solves() && gpu_count() > 0) return result_is_right(before, after);
  auto expected = before;
  on_host(expected);
  return result_is(expected.C, before, after);
}

#define INSTANTIATE(letter, T, ...)                                                                              \
  template Deviation deviation(const std::vector<Term<T>>& terms, const Call<T>& before, const Call<T>& after,   \
                               Index i, Index j);                                                                \
  template std::vector<Term<T>> terms_of(const Call<T>& before, const Call<T>& after);                           \
  template ::testing::AssertionResult element_is_right(const std::vector<Term<T>>& terms, const Call<T>& before, \
                                                       const Call<T>& after, Index i, Index j);                  \
  template ::testing::AssertionResult only_output_changed(const Call<T>& before, const Call<T>& after);          \
  template ::testing::AssertionResult result_is_right(const Call<T>& before, const Call<T>& after);              \
  template ::testing::AssertionResult result_is(const HostMatrix<T>& expected, const Call<T>& before,            \
                                                const Call<T>& after);                                           \
  template ::testing::AssertionResult result_is_that_of_the_host(const Call<T>& before, const Call<T>& after);
FOR_SDCZ(INSTANTIATE, )
#undef INSTANTIATE

}  // namespace tessera::test
