// SPDX-License-Identifier: BSD-3-Clause
// The codelet `inspect`, called directly, and the slots for its results that trmm and trsm take on GPUs.
#include <cmath>
#include <limits>

#include <tessera/blas.hpp>

#include "codelets/codelet.hpp"
#include "memory/sum_slots.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "sinks/submit.hpp"
#include "support/operands.hpp"
#include "support/tiled.hpp"

namespace tessera::test::inspect_cpp {
namespace {

namespace sum_slots = memory::sum_slots;

/// Takes all remaining slots, and returns them at the end. A session without GPUs has no slots.
template <Scalar T>
class AllSlots {
 public:
  AllSlots() {
    while (auto* const slot = sum_slots::take(type_letter<T>)) slots_.push_back(slot);
  }
  ~AllSlots() {
    for (auto* const slot : slots_) sum_slots::give_back(slot);
  }
  AllSlots(const AllSlots&) = delete;
  AllSlots& operator=(const AllSlots&) = delete;
  std::size_t count() const { return slots_.size(); }

 private:
  std::vector<void*> slots_;
};

/// The sum that `inspect` computes for a matrix as a single tile.
template <Scalar T>
Real<T> inspected(HostMatrix<T>& C) {
  const auto session = runtime::session();
  const auto c = tiled(C, {C.m(), C.n()});
  Real<T> memory = 0;
  auto* const slot = sum_slots::take(type_letter<T>);
  auto* const sum = slot != nullptr ? static_cast<Real<T>*>(slot) : &memory;
  const codelets::InspectArgs args{{static_cast<double>(C.m() * C.n()), type_letter<T>}, sum};
  sinks::Submitter(*session, c).submit(codelets::inspect(type_letter<T>), {{c.handle(0, 0), STARPU_RW}}, args, -1);
  c.wait();
  const Real<T> result = *sum;
  sum_slots::give_back(slot);
  return result;
}

template <Scalar T>
class Inspect : public ::testing::Test {};
TYPED_TEST_SUITE(Inspect, ScalarTypes);

TYPED_TEST(Inspect, SumsTheMagnitudesOfATile) {
  using T = TypeParam;
  HostMatrix<T> C(300, 7, 5);  // small integers, whose sum is exact
  Real<T> expected = 0;
  for (Index j = 0; j < C.n(); j++)
    for (Index i = 0; i < C.m(); i++) {
      const auto re = static_cast<Real<T>>(i % 5 - 2), im = static_cast<Real<T>>(j % 3 - 1);
      if constexpr (is_complex<T>) C(i, j) = {re, im}, expected += std::abs(re) + std::abs(im);
      else C(i, j) = re, expected += std::abs(re);
    }
  const auto before = C;
  EXPECT_EQ(inspected(C), expected);
  EXPECT_TRUE(C == before);
}

TYPED_TEST(Inspect, FindsEachElementThatIsNotFinite) {
  using T = TypeParam;
  constexpr auto infinity = std::numeric_limits<Real<T>>::infinity();
  for (const auto value : {infinity, -infinity, std::numeric_limits<Real<T>>::quiet_NaN()})
    for (const Index place : {0, 128, 299}) {
      auto C = random_matrix<T>(1, 300, 7, 5);
      C(place, place % 7) = T(value);
      EXPECT_FALSE(std::isfinite(inspected(C))) << value << " in row " << place;
    }
}

constexpr Index order = 600, others = 300;

template <Scalar T>
void solve_and_multiply(HostMatrix<T>& B) {
  HostMatrix<T> A(order, order);
  for (Index j = 0; j < order; j++)
    for (Index i = 0; i < order; i++) A(i, j) = i == j ? T(2) : T(Real<T>(1) / order);
  const auto a = tiled(A, {400, 400});
  const auto b = tiled(B, {400, 200});
  trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(1), a, b);
  trmm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, T(1), a, b);
  b.wait();
}

TYPED_TEST(Inspect, LeavesAllSlotsToTheNextCall) {
  using T = TypeParam;
  const auto session = runtime::session();  // the pool belongs to the session
  const auto before = AllSlots<T>().count();
  EXPECT_EQ(before > 0, session->machine().gpu_count() > 0);
  auto B = random_matrix<T>(1, order, others);
  solve_and_multiply(B);
  EXPECT_EQ(AllSlots<T>().count(), before);
}

TYPED_TEST(Inspect, IsNotNeeded) {
  using T = TypeParam;
  const auto session = runtime::session();
  auto inspected = random_matrix<T>(1, order, others);
  inspected(390, 7) = T(std::numeric_limits<Real<T>>::infinity());
  auto without = inspected;
  solve_and_multiply(inspected);
  const AllSlots<T> none_left;
  solve_and_multiply(without);
  for (Index j = 0; j < others; j++)
    for (Index i = 0; i < order; i++) {
      const auto x = inspected(i, j), y = without(i, j);
      const bool finite = std::isfinite(std::abs(x));
      ASSERT_EQ(finite, std::isfinite(std::abs(y))) << i << ", " << j;
      // The host BLAS may spread the value a few rows upwards; products would spread it to all rows.
      ASSERT_TRUE(finite || (j == 7 && i >= 300)) << i << ", " << j;
      if (!finite) continue;
      ASSERT_NEAR(std::abs(x - y), 0, 100 * std::numeric_limits<Real<T>>::epsilon()) << i << ", " << j;
    }
}

}  // namespace
}  // namespace tessera::test::inspect_cpp
