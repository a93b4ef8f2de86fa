// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

namespace tessera {
struct RuntimeOptions;
}

/// The session of the process: there is at most one at a time.
namespace tessera::detail {

class Session;

/// The session that runs, or a new one with default options that lives until the process exits.
/// @throws RuntimeError in a forked child
std::shared_ptr<Session> session();

/// The same, after `require_can_wait`.
std::shared_ptr<Session> session_to_wait(const char* what);

/// The session that runs, or a new one with `options` that lives as long as somebody holds it.
std::shared_ptr<Session> session(const RuntimeOptions& options);

/// Waits for everything submitted, and lets go of the session that a routine has started by itself. It ends unless
/// somebody else holds it.
/// @return false if there is none
bool end_own_session();

/// @param what  the routine that asks, as the user knows it
/// @throws RuntimeError within a StarPU task or its callback, where waiting would block the worker that is waited for,
///         and in a forked child
void require_can_wait(const char* what);

/// @throws RuntimeError in a forked child
void require_not_forked(const char* what);

/// Whether this process was forked from one in which a session lived: there StarPU has lost its threads, and what is
/// left of the session is never destroyed.
bool in_forked_child() noexcept;

}  // namespace tessera::detail
