// SPDX-License-Identifier: BSD-3-Clause
// Operands too large to compute the reference for each element. On integers, C t with random t = ±1 checks the whole
// result exactly. On other numbers, sampled elements are checked against the error bound.
#include <list>

#include <tessera/runtime.hpp>

#include "devices/gpu.hpp"
#include "support/random_vector.hpp"
#include "support/row_major.hpp"
#include "support/runtime.hpp"
#include "support/tiling.hpp"

namespace tessera::test {
namespace {

const auto* const runtime = share_runtime();

struct Case {
  Options options;
  Extent size;
};

constexpr auto N = Op::NoTrans, T = Op::Trans, C = Op::ConjTrans;

/// The calls to test, larger ones if there is a GPU.
template <Scalar S>
std::vector<Case> cases(const Routine<S>& routine) {
  const Options first{Side::Left, Uplo::Lower, N, T, Diag::NonUnit}, second{Side::Right, Uplo::Upper, C, N, Diag::Unit},
      third{Side::Left, Uplo::Upper, T, C, Diag::NonUnit};
  std::vector<Case> list{{first, {500, 450, 300}}, {second, {301, 370, 900}}};
  if (gpu_count() > 0) list = {{first, {2300, 2200, 2100}}, {second, {2049, 1000, 2600}}, {third, {700, 2100, 1025}}};
  for (auto& [options, size] : list) {
    if (std::ranges::count(routine.ops, options.op_a) == 0) options.op_a = routine.ops.back();
    if (!routine.has("diag")) options.diag = Diag::NonUnit;
    if (!routine.has("m")) size.m = 0;
    if (!routine.has("k")) size.k = 0;
  }
  return list;
}

class Large : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, Large, each_routine(), its_name);

TEST_P(Large, IntegersAreExact) {
  run([]<Scalar S>(const Routine<S>& routine) {
    std::uint64_t seed = 0;
    for (const auto& [options, size] : cases(routine)) {
      const auto before = integer_call_with_factors(routine, options, size, ++seed);
      auto after = before;
      if (seed % 2 == 0) in_row_major(after);
      else on_pointers(after);
      ASSERT_TRUE(result_is_exact(before, after));
    }
  });
}

TEST_P(Large, OtherNumbersAreWithinTheErrorBound) {
  run([]<Scalar S>(const Routine<S>& routine) {
    std::uint64_t seed = 0;
    for (const auto& [options, size] : cases(routine)) {
      const auto before = random_call(routine, options, size, ++seed, alphas(routine).back(), S(Real<S>(-0.5)));
      auto after = before;
      on_pointers(after);
      ASSERT_TRUE(only_output_changed(before, after));
      ASSERT_TRUE(samples_are_right(before, after, 500));
    }
  });
}

class LargeIllConditioned : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, LargeIllConditioned, each_routine([](const auto& r) { return r.solves(); }), its_name);

/// Equation q has a tiny diagonal element, yet the solution is small. With V, the inverse of a diagonal block that
/// contains q, all terms of V B cancel, and the product V B is wrong in the rows of the block after q. Substitution is
/// accurate.
TEST_P(LargeIllConditioned, TilesAreSolvedBySubstitution) {
  run([]<Scalar S>(const Routine<S>& trsm) {
    constexpr Index q =
        127;  // in the middle of the 256 rows that a GPU inverts, and last in a block of any smaller size
    const Options left{Side::Left, Uplo::Lower, N}, right{Side::Right, Uplo::Lower, C};
    for (const auto& [options, size] : {Case{left, {700, 650}}, Case{right, {650, 700}}}) {
      auto before = random_call(trsm, options, size, 1);
      before.A(q, q) *= Real<S>(1e-12);
      auto product = before;
      product.routine = &routine<S>("trmm");
      on_host(product);
      before.C = product.C;
      const auto after = on_matrices(before, {{600, 600}});
      ASSERT_TRUE(only_output_changed(before, after));
      ASSERT_TRUE(samples_are_right(before, after, 500));
    }
  });
}

class LargePinned : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, LargePinned, each_routine([](const auto& r) {
                           return r.name == "gemm" || r.name == "gemmt" || r.name == "symm" || r.name == "syrk" ||
                                  r.name == "trsm";
                         }),
                         its_name);

TEST_P(LargePinned, MemoryMakesNoDifference) {
  run([]<Scalar S>(const Routine<S>& routine) {
    if (gpu_count() == 0) GTEST_SKIP() << "no GPU to pin memory for";
    constexpr Index size = 2000;
    const Extent extent{routine.has("m") ? size : 0, size, routine.has("k") ? size : 0};
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      if (uplo == Uplo::Upper && !routine.has("uplo")) continue;
      const auto before = integer_call_with_factors(routine, {Side::Left, uplo}, extent, 1);
      auto pageable = before, pinned = before;
      on_pointers(pageable);
      {
        std::list<device::gpu::PinnedMemory> pins;
        for (auto* A : {&pinned.A, &pinned.B, &pinned.C})
          if (A->n() > 0) pins.emplace_back(A->data(), sizeof(S) * static_cast<std::size_t>(A->ld() * A->n()));
        on_pointers(pinned);
      }
      EXPECT_TRUE(result_is_exact(before, pinned));
      EXPECT_TRUE(pinned.C == pageable.C);
    }
  });
}

}  // namespace
}  // namespace tessera::test
