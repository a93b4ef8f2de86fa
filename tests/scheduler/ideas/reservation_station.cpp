// SPDX-License-Identifier: BSD-3-Clause
// The order of reserved tasks, and the memory that they need.
#include "fixture.hpp"

namespace tessera::scheduler {
namespace {

using ::testing::ElementsAre;

class Station : public IdeaTest {
 protected:
  Worker& gpu_ = add_gpu(1);
};

TEST_F(Station, IsSortedByPriorityThenSubmission) {
  const auto c = reserve(gpu_, {reads(1)}, 0), a = reserve(gpu_, {reads(2)}, 9), d = reserve(gpu_, {reads(3)}, 0),
             b = reserve(gpu_, {reads(4)}, 9);
  EXPECT_THAT(reserved(gpu_), ElementsAre(a, b, c, d));
}

TEST_F(Station, CountsEachTileOnce) {
  reserve(gpu_, {reads(1, 100), reads(2, 20)});
  reserve(gpu_, {reads(1, 100), overwrites(3, 3)});
  EXPECT_EQ(gpu_.station.bytes(), 123);
  EXPECT_EQ(gpu_.station.additional_bytes(*submit({reads(2, 20), reads(4, 4000)}), state.cache, 1), 4000);
}

TEST_F(Station, DoesNotCountResultsThatAreThere) {
  backend.where = {{tile(1), 1}, {tile(2), 1}};
  reserve(gpu_, {updates(1, 100), reads(2, 20)});
  EXPECT_EQ(gpu_.station.bytes(), 20);
}

TEST_F(Station, GivesMemoryBackWithTheLastTaskThatUsesATile) {
  reserve(gpu_, {reads(1, 100)});
  const auto second = reserve(gpu_, {reads(1, 100), reads(2, 20)});
  EXPECT_EQ(gpu_.station.remove(1).task->id, second);
  EXPECT_EQ(gpu_.station.bytes(), 100);
  gpu_.station.remove(0);
  EXPECT_EQ(gpu_.station.bytes(), 0);
  EXPECT_TRUE(gpu_.station.empty());
}

TEST_F(Station, KnowsLargeTasks) {
  reserve(gpu_, {reads(1, gpu_memory / 2)});
  EXPECT_FALSE(gpu_.has_large_task());
  reserve(gpu_, {reads(2, gpu_memory / 4), reads(3, gpu_memory / 4 + 1)});
  EXPECT_TRUE(gpu_.has_large_task());
}

}  // namespace
}  // namespace tessera::scheduler
