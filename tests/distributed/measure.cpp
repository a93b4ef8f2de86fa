// SPDX-License-Identifier: BSD-3-Clause
// How tessera-mpi-bench measures a call.
#include "mpi_bench/measure.hpp"

#include <chrono>
#include <cmath>
#include <limits>

#include "mpi_bench/elements.hpp"
#include "whole.hpp"

namespace tessera::test::measure_cpp {

namespace {

/// Process 0 fills its matrices slowly. In a call, each other process sends it a message.
class SlowFill final : public mpi_bench::Problem {
 public:
  explicit SlowFill(const Grid& grid) : grid_(grid) {}

  void fill() override {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds slow(300);
    if (grid_.rank() != 0) return;
    for (const auto begin = Clock::now(); Clock::now() < begin + slow;) {
      int arrived = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, grid_.comm(), &arrived, MPI_STATUS_IGNORE);
      early = early || arrived != 0;
    }
  }
  void run() override {
    char message = 0;
    const int others = grid_.p() * grid_.q() - 1;
    if (grid_.rank() != 0) MPI_Send(&message, 1, MPI_CHAR, 0, 0, grid_.comm());
    else
      for (int i = 0; i < others; i++)
        MPI_Recv(&message, 1, MPI_CHAR, MPI_ANY_SOURCE, 0, grid_.comm(), MPI_STATUS_IGNORE);
  }
  double residual() override { return 0; }
  double model_bytes() const override { return 0; }
  double flops() const override { return 0; }
  std::optional<Cut> cut() const override { return {}; }

  bool early = false;  ///< whether a process has begun a call while process 0 filled its matrices

 private:
  Grid grid_;
};

TEST(MpiBench, BeginsCallsWhenAllProcessesHaveFilledTheirMatrices) {
  const auto g = grid();
  SlowFill problem(g);
  mpi_bench::measure(g, problem, 1, false);
  EXPECT_FALSE(problem.early);
}

TEST(RelativeError, OfNaNIsNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const mpi_bench::Vector& got : {mpi_bench::Vector{nan, 1, 1}, {1, nan, 1}, {1, 1, nan}})
    EXPECT_TRUE(std::isnan(mpi_bench::relative_error<double>(got, {1, 1, 2}, 3)));
}

}  // namespace

}  // namespace tessera::test::measure_cpp
