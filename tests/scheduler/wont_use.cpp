// SPDX-License-Identifier: BSD-3-Clause
// The hint that no later task uses a tile. The environment in CMakeLists.txt provides two memory nodes without a GPU.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/starpu.hpp"

namespace tessera::test::wont_use_cpp {
namespace {

constexpr unsigned far_node = 1;

/// Whether the tile is in the program's memory or has been requested there.
bool goes_home(const Numbers& tile) {
  int valid = 0, loading = 0, requested = 0;
  starpu_data_query_status2(tile.handle(), STARPU_MAIN_RAM, nullptr, &valid, &loading, &requested);
  return valid != 0 || loading != 0 || requested != 0;
}

TEST(WontUse, TakesEffectAfterTheTasksThatReadTheTile) {
  const Environment environment{{"TESSERA_SCHED", "-write-back"}};
  const Starpu starpu;
  const Numbers tile;
  const int far = cpu_at(far_node);
  Gate read, said;
  submit(only_on(far, link_of(tile, 1)));
  submit(only_on(far, task_of(
                          [&](void**) {
                            read.open();
                            said.wait();
                          },
                          {{tile.handle(), STARPU_R}})));
  read.wait();
  tessera_sched_wont_use(tile.handle());
  EXPECT_FALSE(goes_home(tile));
  said.open();
  for (int i = 0; i < 60000 && !goes_home(tile); i++) usleep(1000);
  EXPECT_TRUE(goes_home(tile));
}

TEST(WontUse, AllowsTasksInvalidationsAndPartitions) {
  const Starpu starpu;
  const int near = cpu_at(STARPU_MAIN_RAM), far = cpu_at(far_node);
  starpu_data_filter halves{};
  halves.filter_func = starpu_vector_filter_block, halves.nchildren = 2;
  for (int round = 0; round < 50; round++) {
    Numbers tile;
    std::array<starpu_data_handle_t, 2> pieces;
    starpu_data_partition_plan(tile.handle(), &halves, pieces.data());
    const auto append_to_pieces = [&] {
      for (auto* const piece : pieces) {
        submit(only_on(near, task_of([](void** buffers) { append(buffers[0], 2); }, {{piece, STARPU_RW}})));
        tessera_sched_wont_use(piece);
      }
    };
    Gate submitted;
    submit(only_on(far, link_of(tile, 1, [&] { submitted.wait(); })));
    tessera_sched_wont_use(tile.handle());
    submit(only_on(far, task_of([](void**) {}, {{tile.handle(), STARPU_R}})));
    tessera_sched_wont_use(tile.handle());
    append_to_pieces();
    tessera_sched_wont_use(tile.handle());
    starpu_data_invalidate_submit(tile.handle());
    tessera_sched_wont_use(tile.handle());
    submit(only_on(far, task_of(
                            [](void** buffers) {
                              auto* numbers = reinterpret_cast<std::uint64_t*>(STARPU_VECTOR_GET_PTR(buffers[0]));
                              std::fill_n(numbers, STARPU_VECTOR_GET_NX(buffers[0]), 3);
                            },
                            {{tile.handle(), STARPU_W}})));
    append_to_pieces();
    submitted.open();
    starpu_data_partition_clean(tile.handle(), 2, pieces.data());
    EXPECT_EQ(tile.value(), appended(3, 2));
  }
}

// The program invalidates or unregisters the tile while the hint takes effect.
TEST(WontUse, AllowsTheTileToEnd) {
  const Starpu starpu;
  const int near = cpu_at(STARPU_MAIN_RAM), far = cpu_at(far_node);
  for (int round = 0; round < 500; round++) {
    const Numbers tile;
    submit(only_on(far, link_of(tile, 1)));
    for (const int worker : {near, far}) submit(only_on(worker, task_of([](void**) {}, {{tile.handle(), STARPU_R}})));
    tessera_sched_wont_use(tile.handle());
    if (round % 2 == 1) starpu_data_invalidate_submit(tile.handle());
  }
}

}  // namespace
}  // namespace tessera::test::wont_use_cpp
