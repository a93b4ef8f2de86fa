// SPDX-License-Identifier: BSD-3-Clause
// The random system of tessera-hpl, its residuals, and the verdicts on right and wrong solutions.
#include "tools/hpl/hpl_report.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "devices/cpu/host_lapack.hpp"
#include "tools/hpl/random_system.hpp"
#include "tools/shared/exit_code.hpp"

namespace tessera::test {
namespace {

using hpl::RandomSystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// [A b], n×(n+1), from the definition of the sequence.
std::vector<double> whole_system(Index n) {
  std::vector<double> values(static_cast<std::size_t>(n * (n + 1)));
  std::uint64_t x = 100;
  for (double& value : values) {
    x = 6364136223846793005U * x + 1;
    value = static_cast<double>(0.5L - static_cast<long double>(x) / 18446744073709551616.0L);
  }
  return values;
}

Index solve_on_host(Index n, double* A, double* b) {
  std::vector<int> pivots(static_cast<std::size_t>(n));
  return device::cpu::gesv<double>(static_cast<int>(n), 1, A, static_cast<int>(n), pivots.data(), b,
                                   static_cast<int>(n));
}

std::vector<double> right_solution(Index n) {
  std::vector<double> A(static_cast<std::size_t>(n * n)), b(static_cast<std::size_t>(n));
  RandomSystem(n).fill(A.data(), b.data());
  EXPECT_EQ(solve_on_host(n, A.data(), b.data()), 0);
  return b;
}

TEST(HplSystem, IsTheSequenceOfHpl) {
  const Index n = 37;
  const auto expected = whole_system(n);
  std::vector<double> A(n * n), b(n);
  RandomSystem(n).fill(A.data(), b.data());
  A.insert(A.end(), b.begin(), b.end());
  for (std::size_t i = 0; i < A.size(); i++) ASSERT_NEAR(A[i], expected[i], 0x1p-53) << i;
}

/// HPL prints the norms of a system whose residual reaches the threshold. These are from the hpcc 1.5.0 of Debian.
TEST(HplSystem, HasTheNormsThatHplPrints) {
  const Index n = 500;
  std::vector<double> A(n * n), b(n), rows(n);
  RandomSystem(n).fill(A.data(), b.data());
  double columns = 0;
  for (Index j = 0; j < n; j++) {
    double column = 0;
    for (Index i = 0; i < n; i++) column += std::abs(A[i + j * n]), rows[i] += std::abs(A[i + j * n]);
    columns = std::max(columns, column);
  }
  EXPECT_NEAR(std::ranges::max(rows), 136.012042, 1e-6);
  EXPECT_NEAR(columns, 134.799854, 1e-6);
  double largest_b = 0;
  for (const double bi : b) largest_b = std::max(largest_b, std::abs(bi));
  EXPECT_NEAR(largest_b, 0.499890, 1e-6);
  const auto x = right_solution(n);
  double largest = 0, sum = 0;
  for (const double xi : x) largest = std::max(largest, std::abs(xi)), sum += std::abs(xi);
  EXPECT_NEAR(largest, 3.745726, 1e-6);
  EXPECT_NEAR(sum, 490.282604, 1e-6);
}

TEST(HplSystem, CanBeGeneratedInParts) {
  const Index n = 37;
  const auto expected = whole_system(n);
  std::vector<double> part(10);
  RandomSystem(n).generate(23, 17, 27, part.data());
  for (std::size_t i = 0; i < part.size(); i++) ASSERT_NEAR(part[i], expected[23 * n + 17 + i], 0x1p-53) << i;
}

/// Matrices of order 46341 and larger have elements whose index needs more than 32 bits.
TEST(HplSystem, IsLargerThan32Bits) {
  const Index n = 50000, column = 49999, row = 49990;
  double part = 0, whole = 0;
  RandomSystem(n).generate(column, row, row + 1, &part);
  RandomSystem(column * n + row + 1).generate(0, column * n + row, column * n + row + 1, &whole);
  EXPECT_EQ(part, whole);
  std::vector<double> period(64);  // numbers that are 2^32 places apart differ
  RandomSystem(n).generate(0, 0, 64, period.data());
  double later = 0;
  RandomSystem(Index{1} << 33).generate(0, Index{1} << 32, (Index{1} << 32) + 1, &later);
  EXPECT_EQ(std::ranges::count(period, later), 0);
}

/// Some sizes are not multiples of the rows that are checked together.
TEST(HplResidual, IsThatOfItsDefinition) {
  for (const Index n : {1, 2, 100, 1024, 1025}) {
    auto x = right_solution(n);
    x[static_cast<std::size_t>(n / 2)] *= 1 + 1e-6;
    const auto values = whole_system(n);
    const auto at = [&](Index i, Index j) { return static_cast<long double>(values[i + j * n]); };
    long double difference = 0, norm_a = 0, norm_b = 0, norm_x = 0;
    for (Index i = 0; i < n; i++) {
      long double rest = at(i, n), row = 0;
      for (Index j = 0; j < n; j++) rest -= at(i, j) * x[j], row += std::abs(at(i, j));
      difference = std::max(difference, std::abs(rest)), norm_a = std::max(norm_a, row);
      norm_b = std::max(norm_b, std::abs(at(i, n)));
      norm_x = std::max(norm_x, std::abs(static_cast<long double>(x[i])));
    }
    const auto expected = difference / (0x1p-53L * (norm_a * norm_x + norm_b) * n);
    EXPECT_NEAR(hpl::scaled_residual(RandomSystem(n), x.data()) / static_cast<double>(expected), 1, 1e-3) << n;
  }
}

TEST(HplResidual, IsSmallForARightSolutionOnly) {
  const Index n = 500;
  auto x = right_solution(n);
  const RandomSystem system(n);
  EXPECT_LT(hpl::scaled_residual(system, x.data()), 1);
  auto wrong = x;
  wrong[n - 1] *= 1 + 1e-7;
  EXPECT_GE(hpl::scaled_residual(system, wrong.data()), 16);
  std::ranges::fill(wrong, 0);
  EXPECT_GE(hpl::scaled_residual(system, wrong.data()), 16);
  x[n / 2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(hpl::scaled_residual(system, x.data())));
}

/// A report, and the resulting exit code.
struct Reported {
  std::string text;
  int code;
};

/// @param damage  what is done to each solution
template <typename Damage>
Reported report_of(double threshold, Damage damage, Index info = 0) {
  hpl::Input input;
  input.sizes = {90, 120}, input.panel_sizes = {32, 40}, input.threshold = threshold;
  input.says_more = true;
  std::vector<double> A(120 * 120), b(120);
  const hpl::Solver solver{[](Index /*n*/, Index wanted) { return wanted; },
                           [&](Index n, double* matrix, double* right) {
                             EXPECT_EQ(solve_on_host(n, matrix, right), 0);
                             damage(n, right);
                             return info;
                           }};
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const output = open_memstream(&text, &size);
  hpl::Report report(output, threshold);
  report.begin(input, "a machine");
  hpl::solve_all(input, solver, A.data(), b.data(), report);
  report.end();
  std::fclose(output);
  Reported result{text, report.exit_code()};
  std::free(text);
  return result;
}

void leave(Index /*n*/, double* /*x*/) {}

TEST(HplReport, SaysThatRightSolutionsPass) {
  const auto [text, code] = report_of(16, leave);
  EXPECT_EQ(code, tools::Success);
  EXPECT_THAT(text, AllOf(HasSubstr("WR10R0R0          90    32     1     1 "),
                          HasSubstr("WR10R0R0          90    40     1     1 "),
                          HasSubstr("WR10R0R0         120    40     1     1 "),
                          HasSubstr("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   "),
                          HasSubstr(" ...... PASSED\n"), HasSubstr("Ignored: PMAP, P, Q, PFACT"),
                          HasSubstr("Finished      4 tests"), HasSubstr("     4 tests completed and passed"),
                          HasSubstr("     0 tests completed and failed"), Not(HasSubstr("FAILED"))));
}

TEST(HplReport, SaysThatWrongSolutionsFail) {
  const auto [text, code] = report_of(16, [](Index n, double* x) { x[n - 1] += n == 120 ? 1e-6 : 0; });
  EXPECT_EQ(code, tools::CheckFailed);
  EXPECT_THAT(text,
              AllOf(HasSubstr(" ...... FAILED\n"), HasSubstr(" ...... PASSED\n"),
                    HasSubstr("     2 tests completed and passed"), HasSubstr("     2 tests completed and failed")));
}

TEST(HplReport, DoesNotLoseANaN) {
  const auto [text, code] =
      report_of(16, [](Index /*n*/, double* x) { x[0] = std::numeric_limits<double>::quiet_NaN(); });
  EXPECT_EQ(code, tools::CheckFailed);
  EXPECT_THAT(text, AllOf(HasSubstr("nan ...... FAILED\n"), HasSubstr("     4 tests completed and failed")));
}

TEST(HplReport, SaysThatAMatrixIsSingular) {
  const auto [text, code] = report_of(16, leave, 7);
  EXPECT_EQ(code, tools::CheckFailed);
  EXPECT_THAT(text, AllOf(HasSubstr("Error code returned by solve is 7, skip"), HasSubstr("     4 tests skipped")));
}

TEST(HplReport, ChecksNothingWithoutAThreshold) {
  const auto [text, code] = report_of(0, [](Index /*n*/, double* x) { x[0] = 1e9; });
  EXPECT_EQ(code, tools::Success);
  EXPECT_THAT(text, AllOf(HasSubstr("     4 tests completed without checking"), Not(HasSubstr("||Ax-b||_oo/"))));
}

TEST(HplReport, SaysThatPanelsAreWiderThanNb) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const output = open_memstream(&text, &size);
  hpl::Report report(output, 0);
  report.add({.n = 2000, .asked = 1, .panel = 2, .seconds = 1});
  report.add({.n = 2000, .asked = 64, .panel = 64, .seconds = 1});
  std::fclose(output);
  EXPECT_THAT(text, AllOf(HasSubstr("NB = 1 is below N/1024: panels have 2 columns.\n"), Not(HasSubstr("NB = 64"))));
  std::free(text);
}

TEST(HplPanel, IsNbButNotTooNarrow) {
  EXPECT_EQ(hpl::panel_for(46080, 192), 192);
  EXPECT_EQ(hpl::panel_for(46080, 1), 45);
  EXPECT_EQ(hpl::panel_for(46081, 45), 46);
  EXPECT_EQ(hpl::panel_for(100, 1), 1);
  EXPECT_EQ(hpl::panel_for(46080, 0), 0);
}

TEST(HplReport, RatesAreThoseOfHpl) {
  EXPECT_DOUBLE_EQ((hpl::Solved{.n = 3000, .panel = 1, .seconds = 2}.gigaflops()), (18e9 + 1.5 * 9e6) / 2e9);
}

}  // namespace
}  // namespace tessera::test
