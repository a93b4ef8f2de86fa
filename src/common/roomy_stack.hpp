// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <exception>

#include "no_signals.hpp"

namespace tessera::common {

/// Whether the calling thread has at least this much stack left. False on a stack that is not the thread's own, as
/// coroutines have, because its size is not known.
inline bool has_stack(std::size_t bytes) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return true;  // the system does not tell
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const auto above =
      reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - reinterpret_cast<std::uintptr_t>(lowest);
  return above >= bytes && above < size;  // wraps around below the stack
}

/// Calls a function that goes deep into libraries. If little stack is left, another thread calls it, with the usual 8
/// MiB, while this one waits with its signals blocked. Throws what the function throws.
template <typename Run>
void on_roomy_stack(Run run) {
  constexpr std::size_t enough = std::size_t{1} << 20, usual = std::size_t{8} << 20;
  struct Errand {
    Run& run;
    std::exception_ptr failure;
  } errand{.run = run, .failure = {}};
  const auto start = [](void* argument) -> void* {
    auto& mine = *static_cast<Errand*>(argument);
    try {
      mine.run();
    } catch (...) {
      mine.failure = std::current_exception();
    }
    return nullptr;
  };
  if (has_stack(enough)) return run();
  const NoSignals until_done;  // a handler that exits would wait for this thread
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread{};
  const bool started =
      pthread_attr_setstacksize(&attributes, usual) == 0 && pthread_create(&thread, &attributes, start, &errand) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) return run();
  pthread_join(thread, nullptr);
  if (errand.failure) std::rethrow_exception(errand.failure);
}

}  // namespace tessera::common
