// SPDX-License-Identifier: BSD-3-Clause
// Programs that do not compute in the usual floating-point mode. Only the calling thread is in their mode.
#include <cerrno>
#include <cfenv>
#include <thread>

#include "common/float_mode.hpp"
#include "products.hpp"

extern "C" {
int openblas_get_num_threads();
void openblas_set_num_threads(int);
void dpotrf_(const char*, const int*, double*, const int*, int*);
}

namespace tessera::test {
namespace {

using common::float_mode::Within;
constexpr int n = 200;  // OpenBLAS uses several threads
constexpr std::size_t elements = std::size_t{n} * n;

Matrix fractions(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  Matrix A(elements);
  for (auto& a : A) a = number(random);
  return A;
}

Matrix product(const Matrix& A, const Matrix& B, int rounding) {
  Matrix C(elements);
  const double one = 1, zero = 0;
  std::fesetround(rounding);
  dgemm_("N", "N", &n, &n, &n, &one, A.data(), &n, B.data(), &n, &zero, C.data(), &n);
  require(std::fegetround() == rounding, "the program has another rounding mode");
  std::fesetround(FE_TONEAREST);
  return C;
}

/// The Cholesky factor of a matrix whose diagonal dominates.
Matrix factor(Matrix A, int rounding) {
  for (std::size_t i = 0; i < elements; i += n + 1) A[i] = 2 * n;
  int info = -1;
  std::fesetround(rounding);
  dpotrf_("L", &n, A.data(), &n, &info);
  std::fesetround(FE_TONEAREST);
  require(info == 0, "no factor");
  return A;
}

/// Sums of n rounded terms are never exact, so each element shows how it was rounded.
const Scenario rounding{"directed rounding", [] {
                          openblas_set_num_threads(2);
                          const auto A = fractions(1), B = fractions(2);
                          const auto low = product(A, B, FE_DOWNWARD), high = product(A, B, FE_UPWARD);
                          for (std::size_t i = 0; i < elements; i++) require(low[i] < high[i], "no interval");
                          const auto down = factor(A, FE_DOWNWARD), up = factor(A, FE_UPWARD);
                          require(down.front() == up.front() || down.front() < up.front(), "the first of a factor");
                          require(down.back() < up.back(), "the last of a factor");
                          require(openblas_get_num_threads() == 2, "OpenBLAS has other threads");
                          require(product_is_right(n), "a product in the usual mode");
                          return 0;
                        }};

TEST(FloatMode, DirectedRoundingStaysOnTheCallingThread) {
  const auto ended = rounding.run();
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("host"), 4) << ended;
  EXPECT_EQ(ended.calls("devices"), 1) << ended;
  EXPECT_THAT(ended.said("trouble"), ::testing::HasSubstr("rounds downward")) << ended;
}

const Scenario denormals{"denormals are zero", [] {
                           openblas_set_num_threads(2);
                           const Matrix small(elements, 1e-310);
                           Matrix unit(elements), C(elements, 1);
                           for (std::size_t i = 0; i < elements; i += n + 1) unit[i] = 1;
                           const double one = 1, zero = 0;
                           using namespace common::float_mode;
                           const Within mode(flush_to_zero | denormals_are_zero);
                           dgemm_("N", "N", &n, &n, &n, &one, small.data(), &n, unit.data(), &n, &zero, C.data(), &n);
                           require(current() == (flush_to_zero | denormals_are_zero), "the program has another mode");
                           require(std::ranges::count(C, 0.0) == std::ssize(C), "a denormal");
                           return 0;
                         }};

TEST(FloatMode, FlushedDenormalsStayOnTheCallingThread) {
  const auto ended = denormals.run();
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("host"), 1) << ended;
  EXPECT_THAT(ended.said("trouble"), ::testing::HasSubstr("flushes denormals to zero")) << ended;
}

/// Threads of a program may be in different modes at the same time.
const Scenario threads{"modes of threads", [] {
                         openblas_set_num_threads(2);
                         const auto A = fractions(1), B = fractions(2);
                         const auto low = product(A, B, FE_DOWNWARD);
                         std::vector<std::thread> all;
                         for (int t = 0; t < 3; t++)
                           all.emplace_back([&] {
                             for (int i = 0; i < 10; i++)
                               require(product(A, B, FE_DOWNWARD) == low, "another lower bound");
                           });
                         for (unsigned i = 0; i < 10; i++) require(product_is_right(n, i), "a product");
                         for (auto& thread : all) thread.join();
                         require(openblas_get_num_threads() == 2, "OpenBLAS has other threads");
                         return 0;
                       }};

TEST(FloatMode, DiffersBetweenThreads) { EXPECT_TRUE(has_ended_silently(threads.run({{"TESSERA_DEVICES", "0"}}))); }

/// Calls on the host and on the devices, the first of which starts them.
const Scenario with_errno{"errno", [] {
                            for (const int size : {n, 2, n}) {
                              errno = 77;
                              const bool right = product_is_right(size) && solution_is_right(size);
                              require(errno == 77, "errno is another");
                              require(right, "a result");
                            }
                            return 0;
                          }};

TEST(Errno, IsPreserved) {
  for (const char* devices : {"cpu", "0"})
    EXPECT_TRUE(has_ended_silently(with_errno.run({{"TESSERA_DEVICES", devices}})));
}

}  // namespace
}  // namespace tessera::test
