// SPDX-License-Identifier: BSD-3-Clause
#include "process_end.hpp"

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include <tessera/error.hpp>

#include "agreement.hpp"
#include "common/no_signals.hpp"
#include "network.hpp"

#ifdef STARPU_SIMGRID
extern "C" void SMPI_thread_create();
#endif

namespace tessera::distributed {

#ifdef STARPU_SIMGRID

/// StarPU has initialized MPI in another simulated thread, and will finalize it.
void initialize_mpi() { SMPI_thread_create(); }

void end_all_later(const std::string& why) { end_all_processes(why); }

void end_all_at_failing_exit() {}

#else

namespace {

pid_t user_of_mpi = 0;  ///< this process, but not a forked child of it

std::atomic<const std::string*> why_all_end = nullptr;  // never deleted: it is read at exit

void end_all_if_left() {
  if (const auto* why = why_all_end.load()) end_all_processes(*why);
}

void check_grids_at_exit() {
  if (getpid() != user_of_mpi) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  end_all_if_left();
  if (detail::Network::exists()) end_all_processes("a process exits, although it has a grid");
}

/// Calls a function at the start of MPI_Finalize, which first deletes the attributes of MPI_COMM_SELF.
void before_finalize(MPI_Comm_delete_attr_function* function) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, function, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

void refuse_to_finalize_with_a_grid() {
  before_finalize([](MPI_Comm, int, void*, void*) {
    if (!detail::Network::exists()) return MPI_SUCCESS;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) wait_for_a_better_message();  // usually, all processes make this mistake
    end_all_processes("MPI_Finalize is called although the process has a grid: the grid must end earlier");
    return MPI_SUCCESS;
  });
}

void finalize_at_exit() {
  if (getpid() != user_of_mpi) return;
  check_grids_at_exit();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Finalize();
}

}  // namespace

void initialize_mpi() {
  if (user_of_mpi != 0 && user_of_mpi != getpid())
    throw RuntimeError("Grid: this process was forked from one that uses MPI");
  user_of_mpi = getpid();
  int initialized = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    const common::NoSignals in_threads_of_mpi;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    std::atexit(finalize_at_exit);
    refuse_to_finalize_with_a_grid();
  } else {
    end_all_if_left();
    static std::once_flag once;
    std::call_once(once, [] {
      std::atexit(check_grids_at_exit);
      refuse_to_finalize_with_a_grid();
    });
    MPI_Query_thread(&level);
  }
  if (level < MPI_THREAD_MULTIPLE)
    throw RuntimeError("MPI was initialized with a lower thread level than MPI_THREAD_MULTIPLE, which a Grid needs");
}

void end_all_later(const std::string& why) {
  why_all_end = new std::string(why);
  // MPI_Finalize would wait for threads of the other processes.
  before_finalize([](MPI_Comm, int, void*, void*) {
    end_all_if_left();
    return MPI_SUCCESS;
  });
}

void end_all_at_failing_exit() {
#ifdef __GLIBC__  // others do not tell the status
  on_exit(
      [](int status, void*) {
        int finalized = 0;
        if (status == 0 || getpid() != user_of_mpi || !detail::Network::exists()) return;
        MPI_Finalized(&finalized);
        if (finalized == 0) end_all_processes("a process exits, although it has a grid");
      },
      nullptr);
#endif
}

#endif

}  // namespace tessera::distributed
