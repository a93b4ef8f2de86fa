// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

namespace tessera::detail::exit_gate {

/// Closes the gate: other threads that come to it stop there until the process ends. The thread that ends the libraries
/// calls this once.
void close() noexcept;

/// Returns at once if the gate is open or the calling thread has closed it, else never.
/// @param held  a lock of the caller, released before it stops: the thread that ends the libraries may need it
void pass(std::unique_lock<std::mutex>* held = nullptr) noexcept;

}  // namespace tessera::detail::exit_gate
