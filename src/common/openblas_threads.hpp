// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>

#include "no_signals.hpp"
#include "thread_supply.hpp"

namespace tessera::detail {

/// The number of threads of this process; 0 if it is unknown.
inline unsigned long threads_of_process() {
  struct stat tasks {};
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 ? tasks.st_nlink - 2 : 0;
}

/// Restarts OpenBLAS's threads with signals blocked. OpenBLAS starts its threads when it is loaded. If the program
/// links it, that happens before any code of Tessera runs, and these threads would receive the program's signals.
/// Restarts them only if the process has no other threads besides the caller, so none of them can be computing, and if
/// as many threads can be created: OpenBLAS raises SIGINT otherwise. Does nothing for other BLAS libraries.
/// @param find  (const char* symbol) → void*, in the library of the BLAS
template <typename Find>
void start_openblas_threads_without_signals(Find find) {
  const auto function = [&]<typename Function>(Function*, const char* name) {
    return reinterpret_cast<Function*>(find(name));
  };
  using Count = int();
  using SetCount = void(int);
  auto* const stop = function(static_cast<Count*>(nullptr), "blas_thread_shutdown_");
  auto* const count = function(static_cast<Count*>(nullptr), "openblas_get_num_threads");
  auto* const start = function(static_cast<SetCount*>(nullptr), "openblas_set_num_threads");
  const auto* const started = static_cast<const int*>(find("blas_num_threads"));  // counts the calling thread
  const auto* const running = static_cast<const int*>(find("blas_server_avail"));
  if (stop == nullptr || count == nullptr || start == nullptr || started == nullptr || running == nullptr) return;
  if (*running == 0 || *started < 2 || threads_of_process() != static_cast<unsigned long>(*started)) return;
  const NoSignals in_new_threads;
  // For a moment, threads that have ended still count against a limit.
  if (const int needed = 2 * (*started - 1); try_threads(needed).threads < needed) return;
  const int used = count();
  stop();
  start(used);
}

}  // namespace tessera::detail
