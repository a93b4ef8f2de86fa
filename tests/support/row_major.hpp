// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include "support/call.hpp"
#include "support/tiled.hpp"

namespace tessera::test {

/// Makes the call on row-major copies of the operands, with other leading dimensions.
template <Scalar T>
void in_row_major(Call<T>& call) {
  const auto rows_of = [](const HostMatrix<T>& X, Index padding) {
    HostMatrix<T> rows(X.n(), X.m(), padding);
    put(rows, 0, 0, Op::Trans, X);
    return rows;
  };
  auto turned = call;
  turned.A = rows_of(call.A, 2);
  turned.B = rows_of(call.B, 1);
  turned.C = rows_of(call.C, 3);
  const auto A = turned.A, B = turned.B;
  run_as(call, [&] { call.routine->with_layout(Layout::RowMajor, turned.arguments()); });
  EXPECT_TRUE(turned.A == A && turned.B == B) << call << ", row-major: changed an input";
  EXPECT_TRUE(turned.C.sentinels_intact()) << call << ", row-major: wrote outside of the output";
  put(call.C, 0, 0, Op::Trans, turned.C);
}

}  // namespace tessera::test
