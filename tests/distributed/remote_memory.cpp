// SPDX-License-Identifier: BSD-3-Clause
// Columns that a process reads from the memory of another process, or from its own.
#include "distributed/remote_memory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "whole.hpp"

namespace tessera::test::remote_memory_cpp {
namespace {

using device::Columns;

constexpr std::size_t rows = 5, columns = 600, source_ld = 9, target_ld = 7;  // more columns than a single call reads

Columns columns_at(const std::vector<double>& memory, std::size_t ld) {
  return {reinterpret_cast<std::uintptr_t>(memory.data()), rows * sizeof(double), ld * sizeof(double), columns};
}

/// The value of element i in the memory of a rank.
double element(int rank, std::size_t i) { return static_cast<double>(i) + 100000.0 * rank; }

TEST(RemoteMemory, IsReadByColumns) {
  const auto comm = grid().comm();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<double> source(source_ld * columns);
  for (std::size_t i = 0; i < source.size(); i++) source[i] = element(rank, i);
  distributed::ReadableProcesses readable;
  readable.find(comm);
  const bool others = !readable.processes().empty();
  const auto processes = others ? readable.processes() : std::vector{getpid()};
  auto address = reinterpret_cast<std::uintptr_t>(source.data());
  std::vector<std::uintptr_t> addresses(processes.size(), address);
  if (others) MPI_Allgather(&address, sizeof(address), MPI_BYTE, addresses.data(), sizeof(address), MPI_BYTE, comm);
  for (std::size_t other = 0; other < processes.size(); other++) {
    const int its = others ? static_cast<int>(other) : rank;
    auto from = columns_at(source, source_ld);
    from.address = addresses[other];
    std::vector<double> target(target_ld * columns, -1);
    ASSERT_EQ(distributed::read_columns(processes[other], from, columns_at(target, target_ld)), 0);
    for (std::size_t j = 0; j < columns; j++)
      for (std::size_t i = 0; i < target_ld; i++)
        ASSERT_EQ(target[i + j * target_ld], i < rows ? element(its, i + j * source_ld) : -1) << i << ", " << j;
  }
  MPI_Barrier(comm);  // the memory must exist until all have read it
  if (processes.size() < static_cast<std::size_t>(grid_rows * grid_columns))
    GTEST_SKIP() << "here, a process may not read another one's memory: MPI sends all tiles";
}

TEST(RemoteMemory, KnowsProcessesThatHaveEnded) {
  double mine = 0;
  const Columns column{reinterpret_cast<std::uintptr_t>(&mine), sizeof(mine), sizeof(mine), 1};
  if (distributed::read_columns(getpid(), column, column) != 0) GTEST_SKIP() << "the system refuses process_vm_readv";
  EXPECT_FALSE(distributed::has_ended(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t end;
  waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT);  // it is a zombie
  EXPECT_TRUE(distributed::has_ended(child));
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(distributed::has_ended(child));
}

TEST(RemoteMemory, ReportsTheErrorOfTheSystem) {
  std::vector<double> target(target_ld * columns);
  auto nowhere = columns_at(target, source_ld);
  nowhere.address = 64;
  EXPECT_EQ(distributed::read_columns(getpid(), nowhere, columns_at(target, target_ld)), EFAULT);
}

}  // namespace
}  // namespace tessera::test::remote_memory_cpp
