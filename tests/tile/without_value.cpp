// SPDX-License-Identifier: BSD-3-Clause
// Tiles whose value the program has discarded, as StarPU allows for temporaries. In CMakeLists.txt, the same tests run
// with a second memory, from which tiles have to be copied back.
#include <starpu.h>

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include <tessera/blas3.hpp>
#include <tessera/matrix.hpp>
#include <tessera/runtime.hpp>

namespace tessera::test::without_value_cpp {
namespace {

using ::testing::Each;

constexpr Index n = 32;
constexpr TileSize tile{16, 16};

/// A way to discard the value of a tile after the tasks submitted so far.
using GiveUp = void (*)(starpu_data_handle_t);

class TilesWithoutValue : public ::testing::TestWithParam<GiveUp> {
 protected:
  using Memory = std::vector<double>;

  static Matrix<double> tiled(Memory& memory) { return {memory.data(), n, n, n, tile}; }
  static void square(const Matrix<double>& A, const Matrix<double>& B) {
    gemm(Op::NoTrans, Op::NoTrans, 1.0, A, A, 0.0, B);
  }
  static void give_up(const Matrix<double>& A) {
    for (Index j = 0; j < A.nt(); j++)
      for (Index i = 0; i < A.mt(); i++) GetParam()(A.handle(i, j));
  }

  const Runtime runtime_;
  Memory ones_ = Memory(n * n, 1), temporary_ = Memory(n * n, 0), result_ = Memory(n * n, 0);
};

TEST_P(TilesWithoutValue, AreNotWrittenBack) {
  {
    const auto A = tiled(ones_), T = tiled(temporary_), C = tiled(result_);
    square(A, T);
    square(T, C);
    give_up(T);
    C.wait();
    EXPECT_THAT(result_, Each(n * n * n));
    T.wait();
  }
  EXPECT_THAT(result_, Each(n * n * n));
}

TEST_P(TilesWithoutValue, NeedNotBeWaitedFor) {
  const auto A = tiled(ones_), T = tiled(temporary_);
  square(A, T);
  give_up(T);
}

TEST_P(TilesWithoutValue, MayBeSomeOfAMatrix) {
  const auto A = tiled(ones_), T = tiled(temporary_);
  square(A, T);
  give_up(T.view(0, 1, 0, 2));
  T.wait();
  EXPECT_DOUBLE_EQ(temporary_.back(), n);
}

TEST_P(TilesWithoutValue, CanBeWrittenAgain) {
  const auto A = tiled(ones_), T = tiled(temporary_), C = tiled(result_);
  square(A, T);
  give_up(T);
  T.start_write_back();
  square(A, C);
  square(C, T);
  T.wait();
  EXPECT_THAT(temporary_, Each(n * n * n));
}

// A value is written back and discarded afterwards.
TEST_P(TilesWithoutValue, MayHaveHadAValue) {
  const auto T = tiled(temporary_);
  for (int i = 0; i < 20; i++) {
    std::ranges::fill(ones_, i);
    {
      const auto B = tiled(ones_);
      square(B, T);
      T.start_write_back();
      give_up(T);
      T.wait();
    }
    EXPECT_THAT(temporary_, Each(n * i * i));
  }
}

INSTANTIATE_TEST_SUITE_P(, TilesWithoutValue,
                         ::testing::Values(starpu_data_invalidate_submit, starpu_data_deinitialize_submit),
                         [](const auto& way) { return way.index == 0 ? "Invalidated" : "Deinitialized"; });

}  // namespace
}  // namespace tessera::test::without_value_cpp
