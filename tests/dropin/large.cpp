// SPDX-License-Identifier: BSD-3-Clause
// Sizes beyond 2000, with the tile size that the library chooses. The operands are integers, so that the product of the
// result with random vectors checks the whole result exactly.
#include <starpu.h>

#include <tessera/runtime.hpp>

#include "dropin/symbols.hpp"
#include "support/random_vector.hpp"

namespace tessera::test {
namespace {

struct Case {
  const char* name;
  Options options;
  Extent size;
  std::size_t family;
  Layout layout = Layout::ColMajor;
};

template <Scalar T>
void check(const Case& c) {
  const auto& family = families[c.family];
  const auto before = integer_call_with_factors(routine<T>(c.name), c.options, c.size, 1);
  auto stored = c.layout == Layout::RowMajor ? row_major(before) : before, after = before;
  const auto tasks = starpu_is_initialized() != 0 ? statistics().tasks : 0;
  call_symbol(routine<T>(c.name), address_of(symbol_of<T>(family, c.name)), family, c.layout, stored.arguments());
  EXPECT_GT(statistics().tasks, tasks) << "the host has computed it";
  if (c.layout == Layout::ColMajor) after = stored;
  else
    for (Index j = 0; j < after.C.n(); j++)
      for (Index i = 0; i < after.C.m(); i++) after.C(i, j) = stored.C(j, i);
  EXPECT_TRUE(result_is_exact(before, after));
}

constexpr auto N = Op::NoTrans, T = Op::Trans, C = Op::ConjTrans;

TEST(DropInLarge, Gemm) {
  check<double>({"gemm", {.op_a = N, .op_b = T}, {2100, 2051, 2200}, 0});
  check<float>({"gemm", {.op_a = T, .op_b = N}, {2049, 2300, 700}, 4, Layout::RowMajor});
  check<std::complex<double>>({"gemm", {.op_a = C, .op_b = N}, {2001, 600, 2002}, 3});
}
TEST(DropInLarge, Trsm) {
  check<double>({"trsm", {Side::Left, Uplo::Lower, N}, {2100, 2051, 0}, 0});
  check<double>({"trsm", {Side::Right, Uplo::Upper, T}, {500, 2051, 0}, 4, Layout::RowMajor});
}
TEST(DropInLarge, Syrk) {
  check<double>({"syrk", {.uplo = Uplo::Lower, .op_a = N}, {0, 2100, 1000}, 0});
  check<double>({"syrk", {.uplo = Uplo::Upper, .op_a = T}, {0, 2049, 2049}, 4, Layout::RowMajor});
}
TEST(DropInLarge, Trmm) { check<double>({"trmm", {Side::Left, Uplo::Upper, T}, {2100, 2051, 0}, 0}); }

}  // namespace
}  // namespace tessera::test
