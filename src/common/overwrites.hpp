// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Announces that host memory of a call's results is about to be overwritten, so that a listener can save its content.
namespace tessera::detail::overwrites {

struct Listener {
  /// Called by a thread before it writes between `first` and `last`; several threads may call at once. The range may
  /// contain other data, and need not concern the listener. After the return, it may be overwritten.
  void (*before)(void* self, const void* first, const void* last) noexcept;
  void* self;
};

/// While this object exists, its listener is called before all overwrites.
class Listening {
 public:
  /// @param listener  null: none
  explicit Listening(const Listener* listener);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  const Listener* listener_;
};

/// Call this before each write to the caller's memory.
void before(const void* first, const void* last) noexcept;

}  // namespace tessera::detail::overwrites
