// SPDX-License-Identifier: BSD-3-Clause
// Tiles that the policy prefetches become evictable again. The environment in CMakeLists.txt provides two memory nodes
// without a GPU.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <deque>

#include "support/gate.hpp"
#include "support/starpu.hpp"

namespace tessera::test::prefetching_cpp {
namespace {

constexpr unsigned far_node = 1;
constexpr int tasks = 8;  // fewer than a worker reserves

class Prefetching : public ::testing::Test {
 protected:
  const Starpu starpu_;
  const int near_ = cpu_at(STARPU_MAIN_RAM), far_ = cpu_at(far_node);
};

/// Whether StarPU refuses to evict the tile for a prefetch, although no task needs it.
bool is_kept(const Numbers& tile) {
  starpu_data_acquire(tile.handle(), STARPU_RW);  // when all requests are completed
  starpu_data_release(tile.handle());
  return starpu_data_can_evict(tile.handle(), far_node, STARPU_FETCH) != 0 &&
         starpu_data_can_evict(tile.handle(), far_node, STARPU_PREFETCH) == 0;
}

/// Tiles to read, and the same number of tiles to write.
struct Tiles {
  Tiles() : inputs(tasks), outputs(tasks) {}
  void expect_none_kept() const {
    for (std::size_t i = 0; i < tasks; i++) {
      EXPECT_FALSE(is_kept(inputs[i])) << "input " << i;
      EXPECT_FALSE(is_kept(outputs[i])) << "output " << i;
    }
  }
  std::deque<Numbers> inputs, outputs;
};

TEST_F(Prefetching, KeepsNoTileAfterTheTasksThatReadIt) {
  const Tiles tiles;
  starpu_pause();
  for (std::size_t i = 0; i < tasks; i++)
    submit(only_on(
        far_, task_of([](void**) {}, {{tiles.inputs[i].handle(), STARPU_R}, {tiles.outputs[i].handle(), STARPU_RW}})));
  starpu_resume();
  starpu_task_wait_for_all();
  tiles.expect_none_kept();
}

TEST_F(Prefetching, KeepsNoTileThatATaskOnlyWrote) {
  const Tiles tiles;
  starpu_pause();
  for (std::size_t i = 0; i < tasks; i++)
    submit(only_on(
        far_, task_of([](void** buffers) { *reinterpret_cast<std::uint64_t*>(STARPU_VECTOR_GET_PTR(buffers[1])) = 0; },
                      {{tiles.inputs[i].handle(), STARPU_R}, {tiles.outputs[i].handle(), STARPU_W}})));
  starpu_resume();
  starpu_task_wait_for_all();
  tiles.expect_none_kept();
}

/// Submits a task for each input that reads it and overwrites an output.
void submit_readers(const Tiles& tiles, int worker) {
  for (std::size_t i = 0; i < tasks; i++)
    submit(only_on(
        worker, task_of([](void**) {}, {{tiles.inputs[i].handle(), STARPU_R}, {tiles.outputs[i].handle(), STARPU_W}})));
}

// Their invalidation has been submitted by the time the worker fetches the inputs.
TEST_F(Prefetching, FetchesWhatIsToBeInvalidated) {
  Tiles tiles;
  for (const auto& tile : tiles.inputs) tessera_sched_allow_fetching(tile.handle());
  for (const auto& tile : tiles.outputs) tessera_sched_allow_fetching(tile.handle());
  starpu_pause();
  submit_readers(tiles, far_);
  for (const auto& tile : tiles.inputs) starpu_data_invalidate_submit(tile.handle());
  starpu_resume();
  starpu_task_wait_for_all();
  EXPECT_EQ(counts().tasks, tasks);
}

// Tasks on pieces of the inputs have been submitted by the time the worker fetches the inputs.
TEST_F(Prefetching, FetchesWhatIsToBePartitioned) {
  Tiles tiles;
  for (const auto& tile : tiles.inputs) tessera_sched_allow_fetching(tile.handle());
  for (const auto& tile : tiles.outputs) tessera_sched_allow_fetching(tile.handle());
  starpu_data_filter halves{};
  halves.filter_func = starpu_vector_filter_block, halves.nchildren = 2;
  std::array<std::array<starpu_data_handle_t, 2>, tasks> pieces;
  for (std::size_t i = 0; i < tasks; i++)
    starpu_data_partition_plan(tiles.inputs[i].handle(), &halves, pieces[i].data());
  std::uint64_t expected = 0;
  for (int round = 0; round < 5; round++) {
    expected = appended(expected, 1);
    starpu_pause();
    submit_readers(tiles, far_);
    for (const auto& of_tile : pieces)
      for (auto* const piece : of_tile)
        submit(task_of([](void** buffers) { append(buffers[0], 1); }, {{piece, STARPU_RW}}));
    starpu_resume();
  }
  for (std::size_t i = 0; i < tasks; i++) starpu_data_partition_clean(tiles.inputs[i].handle(), 2, pieces[i].data());
  for (auto& input : tiles.inputs) EXPECT_EQ(input.value(), expected);
}

// Tasks are stolen after their tiles were prefetched for the victim. The next tasks that read these tiles there take
// over the prefetches.
TEST_F(Prefetching, KeepsNoStolenTileAfterTheNextTasksThatReadIt) {
  const Tiles tiles;
  Gate reserved, stolen;
  starpu_pause();
  for (const auto& tile : tiles.outputs) tessera_sched_suggest_home(tile.handle(), far_);
  submit(only_on(near_, task_of([&](void**) { reserved.wait(); })));
  for (std::size_t i = 0; i < tasks; i++)
    submit(task_of(
        [&](void**) {
          if (starpu_worker_get_id() == near_) return;
          reserved.open();  // with its first task, it has reserved all of them
          stolen.wait();
        },
        {{tiles.inputs[i].handle(), STARPU_R}, {tiles.outputs[i].handle(), STARPU_RW}}));
  starpu_resume();
  for (int i = 0; i < 60000 && counts().steals == 0; i++) usleep(1000);
  stolen.open();
  starpu_task_wait_for_all();
  ASSERT_GT(counts().steals, 0);
  for (int round = 0; round < 3; round++) {  // the first rounds fetch the missing tiles
    for (std::size_t i = 0; i < tasks; i++)
      submit(only_on(far_, task_of([](void**) {},
                                   {{tiles.inputs[i].handle(), STARPU_R}, {tiles.outputs[i].handle(), STARPU_RW}})));
    starpu_task_wait_for_all();
  }
  tiles.expect_none_kept();
}

// The result is written back as soon as it is complete, although its invalidation has been submitted by then.
TEST_F(Prefetching, WritesBackWhatIsToBeInvalidated) {
  Numbers tile;
  for (int i = 0; i < 5; i++) {
    Gate invalidated;
    submit(only_on(far_, task_of([&](void**) { invalidated.wait(); }, {{tile.handle(), STARPU_W}})));
    starpu_data_invalidate_submit(tile.handle());
    invalidated.open();
    starpu_task_wait_for_all();
  }
  submit(task_of(
      [](void** buffers) {
        auto* numbers = reinterpret_cast<std::uint64_t*>(STARPU_VECTOR_GET_PTR(buffers[0]));
        std::fill_n(numbers, STARPU_VECTOR_GET_NX(buffers[0]), 7);
      },
      {{tile.handle(), STARPU_W}}));
  EXPECT_EQ(tile.value(), 7);
}

// A task that fills most of a memory changes how its worker fetches and steals, but only until it has run.
TEST_F(Prefetching, GoesOnAfterATaskThatFillsTheMemory) {
  Numbers large(96 * 1024);  // the memory has 1 MiB
  submit(only_on(far_, link_of(large, 1)));
  starpu_task_wait_for_all();
  Gate stolen;
  std::deque<Numbers> chains;
  starpu_pause();
  for (int i = 0; i < 40; i++) tessera_sched_suggest_home(chains.emplace_back().handle(), near_);
  for (const auto& chain : chains)
    submit(link_of(chain, 1, [&] {
      if (starpu_worker_get_id() == far_) stolen.open();
      else stolen.wait();
    }));
  starpu_resume();
  starpu_task_wait_for_all();
  EXPECT_TRUE(stolen.was_opened());
  EXPECT_GT(counts().steals, 0);
}

}  // namespace
}  // namespace tessera::test::prefetching_cpp
