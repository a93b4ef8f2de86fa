// SPDX-License-Identifier: BSD-3-Clause
// The policy waits only for events that happen, for every kind of task. The environment in CMakeLists.txt provides two
// memory nodes without a GPU, the second with 1 MiB. A wait that never ends makes the test exceed its time limit.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/environment.hpp"
#include "support/starpu.hpp"

namespace tessera::test {
namespace {

constexpr unsigned far_node = 1;

int worker_at(unsigned node) {
  for (const int worker : cpus_of_starpu())
    if (starpu_worker_get_memory_node(static_cast<unsigned>(worker)) == node) return worker;
  throw std::runtime_error("no worker at the memory node");
}

/// Two results of this size exceed the share of the second memory for results, but fit into the memory.
constexpr std::size_t many = 32 * 1024;

starpu_task* write(const Numbers& tile) {
  return task_of([](void** buffers) { *reinterpret_cast<std::uint64_t*>(STARPU_VECTOR_GET_PTR(buffers[0])) = 1; },
                 {{tile.handle(), STARPU_W}});
}

// StarPU does not tell the policy when a task of this kind has ended.
TEST(Ends, OfACopyThatStarpuMakes) {
  const Environment environment{{"TESSERA_SCHED", "-steal"}};
  const Starpu starpu;
  const int far = worker_at(far_node);
  Numbers source(many), copy(many), result(many);
  tessera_sched_suggest_home(copy.handle(), far);
  submit(only_on(far, link_of(source, 1)));
  ASSERT_EQ(starpu_data_cpy(copy.handle(), source.handle(), 0, nullptr, nullptr), 0);
  submit(only_on(far, write(result)));
  starpu_task_wait_for_all();
  EXPECT_EQ(copy.value(), source.value());
}

// The first task of the worker has run, but does not end before the second one has.
TEST(Ends, OfATaskThatWaitsForALaterOne) {
  const Starpu starpu;
  const int far = worker_at(far_node);
  Numbers first(many), second(many);
  auto* const waiting = only_on(far, write(first));
  auto* const later = only_on(far, write(second));
  starpu_task_end_dep_add(waiting, 1);
  later->callback_func = [](void* task) { starpu_task_end_dep_release(static_cast<starpu_task*>(task)); };
  delete static_cast<Work*>(std::exchange(later->callback_arg, waiting));
  static Work nothing_left = [](void**) {};
  later->cl_arg = &nothing_left;
  submit(waiting);
  submit(later);
  starpu_task_wait_for_all();
  EXPECT_EQ(counts().tasks, 2);
}

TEST(Ends, OfATaskThatTheProgramReleases) {
  const Starpu starpu;
  Numbers tile;
  auto* const task = link_of(tile, 1);
  starpu_task_end_dep_add(task, 1);
  submit(task);
  submit(link_of(tile, 2));
  const std::atomic_ref<unsigned> left(task->nb_termination_call_required);
  while (left != 0) usleep(100);  // its worker has not run it
  starpu_task_end_dep_release(task);
  EXPECT_EQ(tile.value(), appended(appended(0, 1), 2));
  EXPECT_EQ(counts().tasks, 2);
}

TEST(Ends, OfATaskThatIsSubmittedAgainAndAgain) {
  const Starpu starpu;
  Numbers tile;
  auto* const task = link_of(tile, 3);
  task->destroy = task->detach = 0;
  const auto free_work = std::exchange(task->callback_func, nullptr);
  std::uint64_t expected = 0;
  for (int i = 0; i < 10; i++) {
    submit(task);
    ASSERT_EQ(starpu_task_wait(task), 0);
    EXPECT_EQ(task->epilogue_callback_func, nullptr);
    expected = appended(expected, 3);
  }
  free_work(task->callback_arg);
  starpu_task_destroy(task);
  EXPECT_EQ(tile.value(), expected);
}

/// A program of many kinds of tasks on tiles that do not all fit into the second memory. The expected values are
/// computed on the host at the same time.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed), expected_(tiles) {
    for (std::size_t i = 0; i < tiles; i++) tiles_.emplace_back(many / 2);
  }

  void submit_tasks(int count) {
    for (int i = 0; i < count; i++) {
      const auto target = draw(tiles), source = (target + 1 + draw(tiles - 1)) % tiles;
      switch (draw(5)) {
      case 0: copy(target, source); break;
      case 1: overwrite(target, source); break;
      default: update(target, source);
      }
    }
  }
  void expect_right() {
    for (std::size_t i = 0; i < tiles; i++) EXPECT_EQ(tiles_[i].value(), expected_[i]) << "tile " << i;
  }

 private:
  static constexpr std::size_t tiles = 16;

  std::size_t draw(std::size_t most) { return random_() % most; }

  void copy(std::size_t target, std::size_t source) {
    ASSERT_EQ(starpu_data_cpy(tiles_[target].handle(), tiles_[source].handle(), 1, nullptr, nullptr), 0);
    expected_[target] = expected_[source];
  }
  void overwrite(std::size_t target, std::size_t source) {
    submit_on(target, source, STARPU_W, [](void** buffers) {
      std::memcpy(reinterpret_cast<void*>(STARPU_VECTOR_GET_PTR(buffers[0])),
                  reinterpret_cast<void*>(STARPU_VECTOR_GET_PTR(buffers[1])),
                  STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(std::uint64_t));
    });
    expected_[target] = expected_[source];
  }
  void update(std::size_t target, std::size_t source) {
    submit_on(target, source, STARPU_RW, [](void** buffers) {
      append(buffers[0], *reinterpret_cast<std::uint64_t*>(STARPU_VECTOR_GET_PTR(buffers[1])));
    });
    expected_[target] = appended(expected_[target], expected_[source]);
  }
  void submit_on(std::size_t target, std::size_t source, starpu_data_access_mode mode, Work work) {
    auto* const task = task_of(std::move(work), {{tiles_[target].handle(), mode}, {tiles_[source].handle(), STARPU_R}});
    task->priority = static_cast<int>(draw(7)) - 3;
    submit(task);
  }

  std::mt19937 random_;
  std::deque<Numbers> tiles_;
  std::vector<std::uint64_t> expected_;
};

TEST(Ends, OfRandomProgramsAFifthOfWhichAreCopies) {
  for (unsigned seed = 1; seed <= 7; seed++) {
    SCOPED_TRACE(seed);
    const Starpu starpu;
    RandomProgram program(seed);
    program.submit_tasks(300);
    program.expect_right();
  }
}

}  // namespace
}  // namespace tessera::test
