// SPDX-License-Identifier: BSD-3-Clause
// Concurrent calls from several threads of the program. Each thread gets its own result. Calls on the same output take
// effect one after the other, in the same order for all tiles.
#include <barrier>
#include <chrono>
#include <cmath>
#include <future>
#include <thread>

#include <tessera/lapack.hpp>

#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/runtime.hpp"
#include "support/tiling.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 8;
#ifdef __SANITIZE_THREAD__  // ten times slower
constexpr std::uint64_t every = 5, rounds = 25;
#elif defined(__SANITIZE_ADDRESS__)  // four times slower
constexpr std::uint64_t every = 5, rounds = 25;
#else
constexpr std::uint64_t every = 3, rounds = 50;
#endif
const auto* const runtime = share_runtime(with_tile(tile));

/// Runs `body(thread)` in `count` threads that start together. Rethrows an exception of any of them.
template <typename Body>
void in_threads(int count, Body body) {
  std::barrier start(count);
  std::vector<std::future<void>> threads;
  for (int thread = 0; thread < count; thread++)
    threads.push_back(std::async(std::launch::async, [&, thread] {
      start.arrive_and_wait();
      body(thread);
    }));
  for (auto& thread : threads) thread.get();
}

class Concurrent : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, Concurrent, each_routine(), its_name);

TEST_P(Concurrent, CallsOnPointersShareInputs) {
  run([]<Scalar T>(const Routine<T>& routine) {
    constexpr int threads = 4, repeats = 2;
    constexpr Extent size{2 * tile + 2, 2 * tile + 3, 2 * tile + 1};
    std::uint64_t combination = 0;
    for_all_options(routine, [&](const Options& options) {
      if (combination++ % every != 0) return;
      const auto shared = integer_call_with_factors(routine, options, size, 1);
      std::vector<Call<T>> before, after;
      for (int thread = 0; thread < threads; thread++) {
        before.push_back(shared);
        before.back().C = integer_call_with_factors(routine, options, size, static_cast<std::uint64_t>(2 + thread)).C;
      }
      for (int repeat = 0; repeat < repeats; repeat++) {
        after = before;
        in_threads(threads, [&](int thread) {
          auto arguments = after[static_cast<std::size_t>(thread)].arguments();
          arguments.A = shared.A.data(), arguments.lda = shared.A.ld();
          arguments.B = shared.B.data(), arguments.ldb = shared.B.ld();
          routine.on_pointers(arguments);
        });
        for (std::size_t thread = 0; thread < threads; thread++)
          ASSERT_TRUE(result_is_that_of_the_host(before[thread], after[thread])) << "thread " << thread;
      }
    });
  });
}

/// All values that C may have after each of two threads has made its call `repeats` times: one for each order of the
/// calls.
template <Scalar T>
std::vector<HostMatrix<T>> possible_results(const Call<T>& first, const Call<T>& second, std::size_t repeats) {
  std::vector<int> order(2 * repeats, 1);
  std::fill_n(order.begin(), repeats, 0);
  std::vector<HostMatrix<T>> results;
  do {
    auto C = first.C;
    for (const int caller : order) {
      auto call = caller == 0 ? first : second;
      call.C = C;
      on_host(call);
      C = call.C;
    }
    results.push_back(C);
  } while (std::ranges::next_permutation(order).found);
  return results;
}

TEST_P(Concurrent, CallsOnOneOutputComeOneAfterTheOther) {
  run([]<Scalar T>(const Routine<T>& routine) {
    constexpr Extent size{3 * tile + 1, 3 * tile + 3, tile + 2};
    const std::size_t repeats = routine.solves() ? 1 : 2;  // repeated solves would not be exact
    std::vector<Options> all_options;
    for_all_options(routine, [&](const Options& options) { all_options.push_back(options); });
    for (std::uint64_t round = 0; round < rounds; round++) {
      const auto& options = all_options[round % all_options.size()];
      const auto first = integer_call(routine, options, size, round, T(1), T(2), 1);
      auto second = integer_call(routine, options, size, round + 1000, T(-1), T(3), 1);
      second.C = first.C;
      const auto possible = possible_results(first, second, repeats);

      TiledCall<T> tiles(first, {{tile, tile, tile}}), other_tiles(second, {{tile, tile, tile}});
      in_threads(2, [&](int thread) {
        auto arguments = (thread == 0 ? tiles : other_tiles).arguments();
        arguments.C = tiles.arguments().C;
        for (std::size_t repeat = 0; repeat < repeats; repeat++) routine.on_matrices(arguments);
      });
      auto after = tiles.written_back();
      const auto is_result = [&](const HostMatrix<T>& C) { return static_cast<bool>(result_is(C, first, after)); };
      ASSERT_TRUE(std::ranges::any_of(possible, is_result)) << first << ", round " << round;
      after.C = possible.front();
      ASSERT_FALSE(is_result(possible.back())) << "the order makes no difference: " << first << ", round " << round;
    }
  });
}

/// A solver on matrices is one call, although it consists of several: no call of another thread comes between them.
TEST(ConcurrentSolvers, NoCallComesBetweenThePartsOfASolver) {
  constexpr Index order = 32, columns = 512, small = 8;
  HostMatrix<double> A(order, order), D(order, order), B(order, columns);
  for (Index j = 0; j < order; j++)
    for (Index i = 0; i < order; i++) {
      A(i, j) = i == j ? 4 : i == j + 1 ? 1 : j == i + 1 ? 0.5 : 0;
      D(i, j) = i == j ? static_cast<double>(i + 1) : 0;
    }
  for (Index j = 0; j < columns; j++)
    for (Index i = 0; i < order; i++) B(i, j) = static_cast<double>((i + j) % 5);
  const auto run = [&](int round, int which) {  // 0: the solver first, 1: the product first, 2: at the same time
    auto a = A, result = B;
    const Matrix<double> tiles_a(a.data(), order, order, order, {small, small}),
        tiles_d(D.data(), order, order, order, {small, small}),
        tiles_b(result.data(), order, columns, order, {small, small});
    const auto solve = [&] { static_cast<void>(gesv_nopiv(tiles_a, tiles_b)); };
    const auto multiply = [&] { trmm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, 1.0, tiles_d, tiles_b); };
    if (which == 0) solve(), multiply();
    else if (which == 1) multiply(), solve();
    else
      in_threads(2, [&](int thread) {
        if (thread == 0) return solve();
        std::this_thread::sleep_for(std::chrono::microseconds(round * 7 % 3000));
        multiply();
      });
    tiles_a.wait(), tiles_b.wait();
    return result;
  };
  const auto solved_first = run(0, 0), multiplied_first = run(0, 1);
  const auto is = [&](const HostMatrix<double>& result, const HostMatrix<double>& expected) {
    for (Index j = 0; j < columns; j++)
      for (Index i = 0; i < order; i++)
        if (std::abs(result(i, j) - expected(i, j)) > 1e-9) return false;
    return true;
  };
  for (int round = 0; round < 3 * static_cast<int>(rounds); round++) {
    const auto result = run(round, 2);
    ASSERT_TRUE(is(result, solved_first) || is(result, multiplied_first)) << "in round " << round;
  }
}

}  // namespace
}  // namespace tessera::test
