// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n 2 failing disagree|shapes|throw|exit|fewer: process 1 does not do what process 0 does.
//        mpirun -n 2 failing killed: process 1 dies after process 0 has got the first tile from it, and before the
//        last. Exit status 77 if processes cannot read each other's memory. mpirun -n 2 failing all|tiles|start: both
//        get an exception, whose handler must be reached: then all is well.
#include <mpi.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include <tessera/distributed.hpp>

#include "distributed/remote_memory.hpp"
#include "peers.hpp"

namespace {

using namespace tessera;

void compute(const std::string& how) {
  const Grid grid(1, 2);
  const bool other = grid.rank() == 1;
  const Index n = 64, other_n = other && how == "shapes" ? 65 : n;
  const DistributedMatrix<double> A(grid, other_n, n, {16, 16}), B(grid, n, n, {how == "tiles" ? 8 : 16, 16}),
      C(grid, n, n, {16, 16});
  for (const auto* x : {&A, &B, &C})
    for (Index i = 0; i < x->local_m() * x->local_n(); i++) x->local()[i] = 1;
  if ((other && how == "throw") || how == "all") throw std::runtime_error("a failure of the program");
  if (other && how == "exit") std::exit(3);
  if (!(other && how == "fewer")) gemm(Op::NoTrans, Op::NoTrans, other && how == "disagree" ? 2. : 1., A, B, 0., C);
  C.wait();
}

bool can_read_each_other() {
  distributed::ReadableProcesses readable;
  readable.find(MPI_COMM_WORLD);
  return !readable.processes().empty();
}

void be_killed() {
  const Grid grid(1, 2);
  const Index n = 512;
  const DistributedMatrix<double> A(grid, n, n, {64, 64}), B(grid, n, n, {64, 64}), C(grid, n, n, {64, 64}),
      D(grid, n, n, {64, 64});
  for (const auto* x : {&A, &B, &C, &D}) std::fill_n(x->local(), x->local_m() * x->local_n(), 1.0);
  gemm(Op::NoTrans, Op::NoTrans, 1.0, A, B, 0.0, C);
  if (grid.rank() == 1) {
    while (grid.bytes_sent().front() == 0) std::this_thread::yield();
    raise(SIGKILL);
  }
  gemm(Op::NoTrans, Op::NoTrans, 1.0, D, B, 1.0, C);  // process 0 waits for tiles of D that nobody sends
  C.wait();
}

/// What the exception handler must see if both processes get the exception.
bool is_expected(const std::string& how, const std::string& what, int rank) {
  const auto has = [&](const char* text) { return what.find(text) != std::string::npos; };
  if (how == "all") return has("a failure of the program");
  if (how == "tiles") return has("cut into tiles of 8");
  if (how == "start") return has("TESSERA_CPUS") && has("process 1 cannot start Tessera") == (rank == 0);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  int level = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (const auto* const peers = std::getenv("TESSERA_TEST_PEERS"); peers != nullptr && std::string(peers) == "numa")
    device::make_peer_memory = test::make_host_peers;
  if (how == "start" && rank == 1) setenv("TESSERA_CPUS", "many", 1);
  bool reached = false;
  try {
    if (how == "killed") {
      if (!can_read_each_other()) {
        MPI_Finalize();
        return 77;
      }
      be_killed();
    } else compute(how);
  } catch (const std::runtime_error& error) {
    std::printf("handler: %s\n", error.what());
    std::fflush(stdout);
    reached = is_expected(how, error.what(), rank);
    if (!reached) return 5;  // as programs do after printing an error
  }
  MPI_Finalize();
  return reached ? EXIT_SUCCESS : EXIT_FAILURE;
}
