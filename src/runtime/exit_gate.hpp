// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::detail::exit_gate {

/// From now on, what other threads begin waits for the end of the process. To be called once, by the thread that takes
/// the libraries down.
void close() noexcept;

/// Returns at once if the gate is open or the calling thread has closed it, else never.
void pass() noexcept;

}  // namespace tessera::detail::exit_gate
