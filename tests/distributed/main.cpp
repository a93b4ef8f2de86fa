// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n N test-distributed PxQ [arguments of GoogleTest]
#include <cstdio>
#include <cstdlib>

#include "whole.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2 || std::sscanf(argv[1], "%dx%d", &tessera::test::grid_rows, &tessera::test::grid_columns) != 2) {
    std::fprintf(stderr, "usage: test-distributed PxQ\n");
    return EXIT_FAILURE;
  }
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
  return RUN_ALL_TESTS();
}
