// SPDX-License-Identifier: BSD-3-Clause
#include "support/row_major.hpp"

#include "blas/shapes.hpp"

namespace tessera::test {

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

template <Scalar T>
void in_row_major(Call<T>& call) {
  auto stored = row_major(call);
  const auto A = stored.A, B = stored.B;
  run_as(call, [&] { call.routine->with_layout(Layout::RowMajor, stored.arguments()); });
  EXPECT_TRUE(stored.A == A && stored.B == B) << call << ", row-major: changed an input";
  EXPECT_TRUE(stored.C.sentinels_intact()) << call << ", row-major: wrote outside of the output";
  put(call.C, 0, 0, Op::Trans, stored.C);
}

#define INSTANTIATE(letter, T, ...)                \
  template Call<T> row_major(const Call<T>& call); \
  template void in_row_major(Call<T>& call);
FOR_SDCZ(INSTANTIATE, )
#undef INSTANTIATE

}  // namespace tessera::test
