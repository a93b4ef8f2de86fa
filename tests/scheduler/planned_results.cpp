// SPDX-License-Identifier: BSD-3-Clause
// The program's plan for incomplete results, in StarPU. The environment in CMakeLists.txt provides a second memory node
// with 1 MiB.
#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <set>

#include "support/environment.hpp"
#include "support/starpu.hpp"

namespace tessera::test::planned_results_cpp {
namespace {

constexpr unsigned far_node = 1;
constexpr std::size_t tiles = 4, numbers = 2048;  // 2048 numbers are a tile of 16 KiB

/// The maximum number of results that a worker has begun and not completed. Their share of the memory holds less than
/// one result.
std::size_t most_incomplete(bool planned) {
  const Environment environment{{"TESSERA_SCHED", "results=1,-steal"}};
  const Starpu starpu;
  const int home = cpu_at(far_node);
  std::deque<Numbers> chains;
  std::set<const Numbers*> incomplete;  // only one worker uses it
  std::size_t most = 0;
  for (std::size_t i = 0; i < tiles; i++) {
    auto& chain = chains.emplace_back(numbers);
    tessera_sched_plan_result(chain.handle(), planned);
    tessera_sched_allow_fetching(chain.handle());
    tessera_sched_suggest_home(chain.handle(), home);
  }
  starpu_pause();
  for (const bool last : {false, true})
    for (const auto& chain : chains)
      submit(link_of(chain, 1, [&, last] {
        if (last) incomplete.erase(&chain);
        else incomplete.insert(&chain);
        most = std::max(most, incomplete.size());
      }));
  for (const auto& chain : chains) tessera_sched_plan_result(chain.handle(), 0);
  starpu_resume();
  starpu_task_wait_for_all();
  EXPECT_TRUE(incomplete.empty());
  return most;
}

TEST(PlannedResults, HaveRoomBesideEachOther) {
  EXPECT_EQ(most_incomplete(false), 1);
  EXPECT_EQ(most_incomplete(true), tiles);
}

}  // namespace
}  // namespace tessera::test::planned_results_cpp
