// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n N test-distributed PxQ [arguments of GoogleTest]
// With TESSERA_TEST_PEERS=gpu, tiles must be read between the GPUs of processes; with =numa, other NUMA nodes than the
// first stand for GPUs; with =slow, these are slower to read than host memory.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "peers.hpp"
#include "whole.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2 || std::sscanf(argv[1], "%dx%d", &tessera::test::grid_rows, &tessera::test::grid_columns) != 2) {
    std::fprintf(stderr, "usage: test-distributed PxQ\n");
    return EXIT_FAILURE;
  }
  const auto* const given = std::getenv("TESSERA_TEST_PEERS");
  const std::string_view peers = given == nullptr ? "" : given;
  if (peers == "numa") tessera::device::make_peer_memory = tessera::test::make_host_peers;
  if (peers == "slow") tessera::device::make_peer_memory = tessera::test::make_slow_host_peers;
  if (!peers.empty()) tessera::test::count_peer_copies();
  // StarPU and StarPU-MPI run from the first test to the last.
  const auto grid = tessera::test::grid();
  if (grid.rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    struct OnlyFailures : testing::EmptyTestEventListener {
      void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.failed())
          std::fprintf(stderr, "%s:%d: %s\n", result.file_name(), result.line_number(), result.message());
      }
    };
    listeners.Append(new OnlyFailures);
  }
  const int failed = RUN_ALL_TESTS();
  if (peers == "slow") {
    if (tessera::test::peer_copies() == 0) return failed;
    std::fprintf(stderr, "tiles were read from the GPU of another process, although that is slow\n");
    return EXIT_FAILURE;
  }
  if (!peers.empty() && tessera::test::peer_copies() == 0) {
    std::fprintf(stderr, "no tile was read from the GPU of another process\n");
    return EXIT_FAILURE;
  }
  return failed;
}
