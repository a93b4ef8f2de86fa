// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <initializer_list>

#include "no_signals.hpp"
#include "openblas_threads.hpp"

namespace tessera::detail {

/// Whether the process runs with a sanitizer. Sanitizers end a process that loads a library with RTLD_DEEPBIND.
inline bool has_sanitizer() {
  constexpr const char* entries[] = {"__asan_init", "__tsan_init", "__msan_init"};
  return std::ranges::any_of(entries, [](const char* entry) { return dlsym(RTLD_DEFAULT, entry) != nullptr; });
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

}  // namespace tessera::detail
