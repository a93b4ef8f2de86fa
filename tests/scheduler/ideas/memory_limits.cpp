// SPDX-License-Identifier: BSD-3-Clause
// How much of a GPU's memory incomplete results and prefetched tiles may occupy.
#include "scheduler/ideas/memory_limits.hpp"

#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

class MemoryLimits : public IdeaTest {
 protected:
  /// Makes a tile an incomplete result of the GPU.
  void begin(std::uintptr_t number, std::size_t bytes) {
    backend.homes[tile(number)] = gpu_.id;
    submit({updates(number, bytes)});
    state.chains.begin(tile(number), bytes);
  }

  Worker& gpu_ = add_gpu(1);
};

TEST_F(MemoryLimits, BeginsResultsUntilTheyFillTheirShare) {
  state.options.results = 40;
  reserve(gpu_, {reads(9)});
  begin(1, 30'000);
  EXPECT_TRUE(has_room_for_result(state, gpu_, *submit({updates(2, 10'000)})));
  EXPECT_FALSE(has_room_for_result(state, gpu_, *submit({updates(3, 10'001)})));
}

TEST_F(MemoryLimits, AResultThatHasBegunHasRoom) {
  state.options.results = 10;
  reserve(gpu_, {reads(9)});
  begin(1, 30'000);
  EXPECT_TRUE(has_room_for_result(state, gpu_, *submit({updates(1, 30'000)})));
  EXPECT_TRUE(has_room_for_result(state, gpu_, *submit({reads(2)})));
}

TEST_F(MemoryLimits, AWorkerWithoutTasksBeginsAnyResult) {
  state.options.results = 10;
  begin(1, 30'000);
  const auto task = submit({updates(2, 30'000)});
  EXPECT_TRUE(has_room_for_result(state, gpu_, *task));
  pop(gpu_, {});
  EXPECT_FALSE(has_room_for_result(state, gpu_, *task));
}

TEST_F(MemoryLimits, APlannedResultHasRoomWhereItFits) {
  state.options.results = 40;
  backend.planned = {tile(2), tile(3)};
  reserve(gpu_, {reads(9)});
  begin(1, 30'000);
  EXPECT_TRUE(has_room_for_result(state, gpu_, *submit({updates(2, 45'000)})));
  EXPECT_FALSE(has_room_for_result(state, gpu_, *submit({updates(3, 45'001)})));
  EXPECT_FALSE(has_room_for_result(state, gpu_, *submit({updates(4, 10'001)})));  // another call has no plan
}

TEST_F(MemoryLimits, APlanLastsAsLongAsItsTasks) {
  backend.planned = {tile(1)};
  submit({updates(1)});
  backend.planned = {};
  submit({updates(1)});
  state.chains.finished(tile(1));
  EXPECT_TRUE(state.chains.is_planned(tile(1)));
  state.chains.finished(tile(1));
  submit({updates(1)});
  EXPECT_FALSE(state.chains.is_planned(tile(1)));
}

TEST_F(MemoryLimits, LookAheadLimitIsAShareOfTheRemainingMemory) {
  state.options.lookahead = 50;
  EXPECT_EQ(lookahead_limit(state, gpu_), 50'000);
  begin(1, 30'000);
  EXPECT_EQ(lookahead_limit(state, gpu_), 35'000);
  begin(2, 90'000);  // more than the memory has
  EXPECT_EQ(lookahead_limit(state, gpu_), 0);
}

TEST_F(MemoryLimits, ATaskMayExceedTheLimitByHalf) {
  state.options.lookahead = 10;  // 10'000
  reserve(gpu_, {reads(1, 8'000)});
  EXPECT_TRUE(may_look_ahead(state, gpu_, *submit({reads(2, 4'000)})));
  EXPECT_FALSE(may_look_ahead(state, gpu_, *submit({reads(2, 4'002)})));
  EXPECT_TRUE(may_look_ahead(state, gpu_, *submit({reads(1, 8'000), reads(2, 4'000)})));
}

TEST_F(MemoryLimits, CountsEachTileOfATaskOnce) {
  EXPECT_TRUE(fits(state, gpu_, *submit({reads(1, 50'000), reads(1, 50'000), updates(2, 50'000)})));
  EXPECT_FALSE(fits(state, gpu_, *submit({reads(1, 50'000), updates(2, 50'001)})));
  EXPECT_TRUE(fits(state, add_cpu(0), *submit({reads(1, 50'000), updates(2, 50'001)})));  // the tiles are present
}

TEST_F(MemoryLimits, ChoosingKeepsToTheShareOfResults) {
  state.options.results = 2;
  for (std::uintptr_t i = 1; i <= 5; i++) backend.homes[tile(i)] = gpu_.id;
  for (std::uintptr_t i = 1; i <= 5; i++) push({updates(i)});
  fill_station(state, gpu_);
  EXPECT_EQ(gpu_.station.size(), 2);
}

}  // namespace
}  // namespace tessera::scheduler
