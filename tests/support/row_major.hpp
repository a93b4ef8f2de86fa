// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include "support/call.hpp"
#include "support/tiled.hpp"

namespace tessera::test {

/// The call with row-major copies of its operands, which have other leading dimensions.
template <Scalar T>
Call<T> row_major(const Call<T>& call) {
  const auto copy = [](const HostMatrix<T>& X, Index padding) {
    HostMatrix<T> stored(X.n(), X.m(), padding);
    put(stored, 0, 0, Op::Trans, X);
    return stored;
  };
  return {call.routine, call.options,    call.size,       call.alpha,
          call.beta,    copy(call.A, 2), copy(call.B, 1), copy(call.C, 3)};
}

/// Makes the call on row-major copies of the operands.
template <Scalar T>
void in_row_major(Call<T>& call) {
  auto stored = row_major(call);
  const auto A = stored.A, B = stored.B;
  run_as(call, [&] { call.routine->with_layout(Layout::RowMajor, stored.arguments()); });
  EXPECT_TRUE(stored.A == A && stored.B == B) << call << ", row-major: changed an input";
  EXPECT_TRUE(stored.C.sentinels_intact()) << call << ", row-major: wrote outside of the output";
  put(call.C, 0, 0, Op::Trans, stored.C);
}

}  // namespace tessera::test
