// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Stops calls of other threads while the process exits, because StarPU, CUDA and the BLAS end next.
namespace tessera::common::exit_gate {

/// Closes the gate. Only the thread that runs the exit handlers calls this. The gate does not stop that thread.
void close() noexcept;

/// Opens the gate again. For a forked child, which is not exiting.
void open() noexcept;

/// Whether the calling thread must stop.
bool is_closed() noexcept;

/// Stops the calling thread until the process ends.
/// @pre  the thread holds no lock that the exit needs
[[noreturn]] void stop_here() noexcept;

}  // namespace tessera::common::exit_gate
