// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n 2 failing disagree|shapes|throw|exit|fewer: process 1 does not do what process 0 does.
//        mpirun -n 2 failing killed: process 1 dies after process 0 has got the first tile from it, and before the
//        last. Exit status 77 if processes cannot read each other's memory. mpirun -n 2 failing all|tiles|start: both
//        get an exception, whose handler must be reached: then all is well. mpirun -n 2 failing fork: children of both
//        call a routine, exit, and leave the scope of a grid; the processes themselves go on. mpirun -n 2 failing
//        static|static-exit|static-finalize: the grid has static storage. Both return from main; or process 1 exits
//        while process 0 waits for it in MPI; or both finalize MPI.
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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

/// A grid that ends while the process exits. It has initialized MPI.
void compute_on_static_grid(const std::string& how) {
  static const Grid grid(1, 2);
  {
    const DistributedMatrix<double> A(grid, 64, 64, {16, 16});
    std::fill_n(A.local(), A.local_m() * A.local_n(), 1.0);
    A.wait();
  }
  if (how == "static-finalize") MPI_Finalize();
  if (how != "static-exit") return;
  if (grid.rank() == 1) std::exit(3);
  MPI_Barrier(MPI_COMM_WORLD);
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

/// @return  whether this is a child, which has not ended in its own way
bool fork_children() {
  const Grid grid(1, 2);
  const Index n = 64;
  const DistributedMatrix<double> A(grid, n, n, {16, 16}), C(grid, n, n, {16, 16});
  std::fill_n(A.local(), A.local_m() * A.local_n(), 1.0);
  const auto multiply = [&] { gemm(Op::NoTrans, Op::NoTrans, 1.0, A, A, 0.0, C); };
  for (const char* how : {"call", "grid", "exit", "leave"}) {
    multiply();
    C.wait();
    const pid_t child = fork();
    if (child == 0) {
      if (how[0] == 'l') return true;
      if (how[0] == 'e') std::exit(0);
      try {
        if (how[0] == 'c') multiply();
        else const Grid another(1, 2);
      } catch (const RuntimeError& error) {
        _exit(std::string(error.what()).find("forked") != std::string::npos ? 0 : 1);
      }
      _exit(1);
    }
    int status = -1, waits = 0;
    while (waitpid(child, &status, WNOHANG) == 0 && ++waits < 6000)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (status == 0) continue;
    kill(child, SIGKILL);
    throw std::runtime_error(std::string("a child that wants to ") + how + " has status " + std::to_string(status));
  }
  multiply();
  C.wait();
  return false;
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
  if (how.starts_with("static")) {
    compute_on_static_grid(how);
    return EXIT_SUCCESS;
  }
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
    } else if (how == "fork") {
      if (fork_children()) _exit(0);
      reached = true;
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
