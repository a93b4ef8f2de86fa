// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <cstdint>

/// Calls that a signal handler leaves by siglongjmp. None of their code runs again, not even destructors.
namespace tessera::dropin {

/// Whether a signal handler has jumped out of the function in which an object is a variable: the stack, which grows
/// towards lower addresses, is then less deep. A handler with a separate stack has not jumped yet.
/// @param frame  the frame of a function that is running now
inline bool has_been_left(const void* object, const void* frame) {
  if (reinterpret_cast<std::uintptr_t>(frame) <= reinterpret_cast<std::uintptr_t>(object)) return false;
  stack_t stack{};
  return sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0;
}

}  // namespace tessera::dropin
