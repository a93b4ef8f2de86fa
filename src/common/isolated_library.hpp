// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <initializer_list>

#include "no_signals.hpp"
#include "thread_supply.hpp"

namespace tessera::common {

/// Whether the process runs with a sanitizer. Sanitizers end a process that loads a library with RTLD_DEEPBIND.
inline bool has_sanitizer() {
  constexpr const char* entries[] = {"__asan_init", "__tsan_init", "__msan_init"};
  return std::ranges::any_of(entries, [](const char* entry) { return dlsym(RTLD_DEFAULT, entry) != nullptr; });
}

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

/// Opens a library that calls its own functions by name. If the program has other functions with these names,
/// RTLD_DEEPBIND makes the library find its own functions first. This is impossible with a sanitizer, or if the library
/// is already loaded.
/// @param names  functions whose presence shows that the program has such names
/// @return  null on failure: see dlerror
inline void* open_isolated(const char* library, std::initializer_list<const char*> names) {
  const NoSignals in_its_threads;
  constexpr int usual = RTLD_NOW | RTLD_LOCAL;
  if (void* const loaded = dlopen(library, usual | RTLD_NOLOAD); loaded != nullptr) {
    // If the program links the library and has no threads of its own, the library may have started its threads before
    // any code of Tessera ran.
    start_openblas_threads_without_signals([&](const char* symbol) { return dlsym(loaded, symbol); });
    return loaded;
  }
  const bool clash = std::ranges::any_of(names, [](const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; });
  return dlopen(library, clash && !has_sanitizer() ? usual | RTLD_DEEPBIND : usual);
}

}  // namespace tessera::common
