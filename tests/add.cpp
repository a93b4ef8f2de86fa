// SPDX-License-Identifier: BSD-3-Clause
// C <- D + beta C: on GPUs a part of every large product, on CPU workers only what StarPU is asked for by hand.
#include "codelets/codelet.hpp"
#include "session.hpp"
#include "support/tiled.hpp"
#include "unroll/submit.hpp"

namespace tessera::test {
namespace {

template <Scalar T>
class Add : public ::testing::Test {};
TYPED_TEST_SUITE(Add, ScalarTypes);

TYPED_TEST(Add, IsExactOnIntegers) {
  using T = TypeParam;
  constexpr Index m = 7, n = 5;
  const auto D = integer_matrix<T>(1, m, n);
  auto C = integer_matrix<T>(2, m, n), expected = C;
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++) expected(i, j) = D(i, j) + T(-2) * expected(i, j);
  {
    const auto d = tiled(D, {m, n}), c = tiled(C, {m, n});
    const codelets::AddArgs<T> args{{m * n, type_letter<T>}, T(-2)};
    unroll::Submitter(*detail::session())
        .submit(codelets::add<T>(), {{d.handle(0, 0), STARPU_R}, {c.handle(0, 0), STARPU_RW}}, args, -1);
    c.wait();
  }
  EXPECT_TRUE(C.equals(expected));
}

}  // namespace
}  // namespace tessera::test
