// SPDX-License-Identifier: BSD-3-Clause
// Devices that fail in the middle of a call, for every routine and option. The host repeats the call with the original
// operands. Each call runs in a separate process, since devices fail only once per process.
#include "beside.hpp"
#include "symbols.hpp"

namespace tessera::test::redone_cpp {
namespace {

/// Makes the call in a forked child, which writes errors to standard output.
template <Scalar T>
void expect_redone(const Call<T>& call, const Family& family, Layout layout) {
  const pid_t child = fork();
  require(child >= 0, "no process");
  if (child == 0) {
    const auto right = symbol_is_right(symbol_of<T>(family, call.routine->name), family, layout, call);
    if (!right) std::puts(right.message());
    std::fflush(stdout);
    _exit(0);  // skips the destructors of CUDA's libraries, which are slow
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0 && WIFSIGNALED(status)) std::printf("killed by signal %d\n", WTERMSIG(status));
}

constexpr Extent size{37, 29, 11};

template <Scalar T>
void all_calls() {
  std::uint64_t seed = 0;
  for (const auto& routine : routines<T>())
    for_all_options(routine, [&](const Options& options) {
      const bool row_major = ++seed % 3 == 0;
      const auto& family = families[row_major ? 4 : 0];
      const auto layout = row_major ? Layout::RowMajor : Layout::ColMajor;
      expect_redone(random_call(routine, options, size, seed, T(2), T(-1)), family, layout);
      if (routine.has("beta")) expect_redone(random_call(routine, options, size, seed, T(2), T(0)), family, layout);
      else expect_redone(random_call(routine, options, size, seed, T(0), T(0)), family, layout);
    });
}

template <Scalar T>
int number_of_calls() {
  int count = 0;
  for (const auto& routine : routines<T>()) for_all_options(routine, [&](const Options&) { count += 2; });
  return count;
}

const Scenario scenarios[] = {{"all of s fail", [] { return all_calls<float>(), 0; }},
                              {"all of d fail", [] { return all_calls<double>(), 0; }},
                              {"all of c fail", [] { return all_calls<std::complex<float>>(), 0; }},
                              {"all of z fail", [] { return all_calls<std::complex<double>>(), 0; }}};

void expect_all(const Scenario& scenario, int calls) {
  const auto ended = run_with_fake("0", scenario);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_EQ(ended.lines(), calls) << "not one sentence for each process";
}

TEST(RedoneOnTheHost, SinglePrecision) { expect_all(scenarios[0], number_of_calls<float>()); }
TEST(RedoneOnTheHost, DoublePrecision) { expect_all(scenarios[1], number_of_calls<double>()); }
TEST(RedoneOnTheHost, SingleComplex) { expect_all(scenarios[2], number_of_calls<std::complex<float>>()); }
TEST(RedoneOnTheHost, DoubleComplex) { expect_all(scenarios[3], number_of_calls<std::complex<double>>()); }

}  // namespace
}  // namespace tessera::test::redone_cpp
