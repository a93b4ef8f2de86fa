// SPDX-License-Identifier: BSD-3-Clause
// Products too large for a triple loop. On integers the whole result is checked through C t with random t = ±1,
// exactly; on other numbers, elements here and there, against the error bound.
#include <starpu.h>

#include <tessera/blas.hpp>
#include <tessera/runtime.hpp>

#include "gpu.hpp"
#include "support/random_vector.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime();

template <Scalar T>
class Large : public ::testing::Test {};
TYPED_TEST_SUITE(Large, ScalarTypes);

struct Case {
  Op op_a, op_b;
  Index m, n, k;
};

/// Larger where there is a GPU to compute them.
std::vector<Case> cases() {
  if (gpu_count() == 0) return {{Op::NoTrans, Op::Trans, 500, 450, 300}, {Op::ConjTrans, Op::NoTrans, 301, 70, 900}};
  return {{Op::NoTrans, Op::NoTrans, 3000, 2900, 2800},
          {Op::Trans, Op::NoTrans, 2049, 1000, 3000},
          {Op::NoTrans, Op::ConjTrans, 700, 3000, 2100},
          {Op::ConjTrans, Op::Trans, 2000, 2000, 1025}};
}

TYPED_TEST(Large, IntegersAreExact) {
  using T = TypeParam;
  for (const auto& [op_a, op_b, m, n, k] : cases()) {
    const auto A = integer_operand<T>(1, op_a, m, k, 3), B = integer_operand<T>(2, op_b, k, n);
    const auto before = integer_matrix<T>(3, m, n, 5);
    auto C = before;
    const T alpha = is_complex<T> ? factors<T>()[4] : T(2), beta = T(-1);
    gemm<T>(op_a, op_b, m, n, k, alpha, A.data(), A.ld(), B.data(), B.ld(), beta, C.data(), C.ld());
    expect_exact<T>({op_a, op_b, alpha, A, B, beta}, before, C);
  }
}

TYPED_TEST(Large, OtherNumbersAreWithinTheErrorBound) {
  using T = TypeParam;
  for (const auto& [op_a, op_b, m, n, k] : cases()) {
    const auto A = random_operand<T>(1, op_a, m, k, 3), B = random_operand<T>(2, op_b, k, n);
    const auto before = random_matrix<T>(3, m, n, 5);
    auto C = before;
    const Product<T> p{op_a, op_b, factors<T>().back(), A, B, T(Real<T>(-0.5))};
    gemm<T>(op_a, op_b, m, n, k, p.alpha, A.data(), A.ld(), B.data(), B.ld(), p.beta, C.data(), C.ld());
    Random random(98);
    for (int sample = 0; sample < 500; sample++)
      ASSERT_TRUE(element_is_right(p, before, C, random.integer(0, m - 1), random.integer(0, n - 1)));
  }
}

TYPED_TEST(Large, PinnedMemoryMakesNoDifference) {
  using T = TypeParam;
  if (gpu_count() == 0) GTEST_SKIP() << "no GPU to pin memory for";
  constexpr Index size = 2000;
  auto A = integer_matrix<T>(1, size, size), B = integer_matrix<T>(2, size, size);
  const auto before = integer_matrix<T>(3, size, size);
  auto pageable = before, pinned = before;
  const auto run = [&](HostMatrix<T>& C) {
    gemm<T>(Op::NoTrans, Op::NoTrans, size, size, size, T(1), A.data(), A.ld(), B.data(), B.ld(), T(1), C.data(),
            C.ld());
  };
  run(pageable);
  {
    const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(size * size);
    const gpu::PinnedMemory pin_a(A.data(), bytes), pin_b(B.data(), bytes), pin_c(pinned.data(), bytes);
    run(pinned);
  }
  expect_exact<T>({Op::NoTrans, Op::NoTrans, T(1), A, B, T(1)}, before, pinned);
  EXPECT_TRUE(pinned == pageable);
}

}  // namespace
}  // namespace tessera::test
