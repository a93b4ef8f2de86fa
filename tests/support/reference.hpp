// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include <tessera/runtime.hpp>

#include "support/operands.hpp"
#include "support/routines.hpp"
#include "support/sum.hpp"

/// Checks the effect of a call: each element of the output against a sum in long double, and all other bytes unchanged.
namespace tessera::test {

/// Element (i, j) of the output as the routine reads it: the diagonal of a Hermitian matrix is real.
template <Scalar T>
Wide<T> output_element(const Call<T>& call, Index i, Index j) {
  const auto c = widen(call.C(i, j));
  return call.routine->c == Structure::Hermitian && i == j ? Wide<T>(std::real(c)) : c;
}

struct Deviation {
  long double error, bound;
  bool within() const { return error <= bound; }  // false for NaN
};

/// The error of element (i, j) of the output; for trsm, the residual.
/// @param terms  the terms of the call before it is made; for trsm, after it
template <Scalar T>
Deviation deviation(const std::vector<Term<T>>& terms, const Call<T>& before, const Call<T>& after, Index i, Index j);

template <Scalar T>
std::vector<Term<T>> terms_of(const Call<T>& before, const Call<T>& after);

/// Whether element (i, j) is within the error bound of its exact value.
template <Scalar T>
::testing::AssertionResult element_is_right(const std::vector<Term<T>>& terms, const Call<T>& before,
                                            const Call<T>& after, Index i, Index j);

/// Whether only the computed part of the output has been written.
template <Scalar T>
::testing::AssertionResult only_output_changed(const Call<T>& before, const Call<T>& after);

/// Whether the output is within its error bound, and nothing else has been written.
template <Scalar T>
::testing::AssertionResult result_is_right(const Call<T>& before, const Call<T>& after);

/// For exact results: whether the output equals `expected` (0 equals −0), and nothing else has been written.
template <Scalar T>
::testing::AssertionResult result_is(const HostMatrix<T>& expected, const Call<T>& before, const Call<T>& after);

/// For integers: whether the output equals that of the host BLAS. For complex trsm on GPUs: whether it is within the
/// error bound, because cuBLAS rounds although all terms are exact.
template <Scalar T>
::testing::AssertionResult result_is_that_of_the_host(const Call<T>& before, const Call<T>& after);

/// Computes a call on copies of its operands elsewhere. Nothing but the result may change.
/// @tparam Copy  of a HostMatrix<T>
template <template <Scalar> typename Copy, Scalar T>
void expect_right_on_copies(const Routine<T>& routine, const Options& options, const Extent& size, std::uint64_t seed) {
  const auto before = integer_call(routine, options, size, seed);
  auto after = before;
  const Copy<T> A(before.A), B(before.B), C(before.C);
  auto all = after.arguments();
  all.A = A.data(), all.B = B.data(), all.C = C.data();
  run_as(before, [&] { routine.on_pointers(all); });
  A.bring_back(after.A), B.bring_back(after.B), C.bring_back(after.C);
  EXPECT_TRUE(result_is_that_of_the_host(before, after));
  EXPECT_TRUE(after.A == before.A);
  EXPECT_TRUE(after.B == before.B);
}

}  // namespace tessera::test
