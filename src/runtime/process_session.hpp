// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

namespace tessera {
struct RuntimeOptions;
}

namespace tessera::detail {
class Session;
}

/// The session of the process; there is at most one at a time.
namespace tessera::runtime {

/// The running session, or a new one with default options that lives until the process exits.
/// @throws RuntimeError in a forked child
std::shared_ptr<detail::Session> session();

/// Like `session()`, but first calls `require_can_wait`.
std::shared_ptr<detail::Session> session_to_wait(const char* what);

/// The running session, or a new one with `options` that lives as long as it is held.
std::shared_ptr<detail::Session> session(const RuntimeOptions& options);

/// Like `session(options)`, but the session lives until `end_own_session`, or until the process exits. A destructor of
/// a static object would end it too late, when CUDA has already ended.
void start_own_session(const RuntimeOptions& options);

/// Waits for all submitted work, and releases the session that a routine or `start_own_session` has started. The
/// session ends unless it is still held elsewhere.
/// @return  false if there is no such session
bool end_own_session();

/// @param what  the routine that needs to wait, as the user knows it
/// @throws RuntimeError in a forked child, and within a StarPU task or its callback, because the wait would block the
///         worker that must finish it
void require_can_wait(const char* what);

/// @throws RuntimeError in a forked child
void require_not_forked(const char* what);

/// Whether this process was forked while a session was alive. StarPU has then lost its threads, and the inherited
/// session is never destroyed.
bool in_forked_child() noexcept;

}  // namespace tessera::runtime
