// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <initializer_list>

#include "no_signals.hpp"
#include "openblas_threads.hpp"

namespace tessera::detail {

/// Whether a sanitizer is in the process. Sanitizers end it when a library is loaded with RTLD_DEEPBIND.
inline bool has_sanitizer() {
  constexpr const char* entries[] = {"__asan_init", "__tsan_init", "__msan_init"};
  return std::ranges::any_of(entries, [](const char* entry) { return dlsym(RTLD_DEFAULT, entry) != nullptr; });
}

/// Opens a library that calls its own functions by name. If the program has others of these names, the library finds
/// its own ones first: it is loaded with RTLD_DEEPBIND. That is not possible if it is already loaded, or with a
/// sanitizer.
/// @param names  of functions that show whether the program has them
/// @return  null: see dlerror
inline void* open_isolated(const char* library, std::initializer_list<const char*> names) {
  const NoSignals in_its_threads;
  constexpr int usual = RTLD_NOW | RTLD_LOCAL;
  if (void* const loaded = dlopen(library, usual | RTLD_NOLOAD); loaded != nullptr) {
    // The loader may have started its threads for a program that links it and has none of its own.
    start_openblas_threads_without_signals([&](const char* symbol) { return dlsym(loaded, symbol); });
    return loaded;
  }
  const bool clash = std::ranges::any_of(names, [](const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; });
  return dlopen(library, clash && !has_sanitizer() ? usual | RTLD_DEEPBIND : usual);
}

}  // namespace tessera::detail
