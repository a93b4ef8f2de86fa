// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Announces that host memory of a call's results is about to be overwritten, to whoever keeps its content.
namespace tessera::detail::overwrites {

struct Listener {
  /// Called by any thread, also by several at a time, before it writes between `first` and `last`. The memory may hold
  /// other data in between, and need not be the listener's at all. It may be overwritten when this returns.
  void (*before)(void* self, const void* first, const void* last) noexcept;
  void* self;
};

/// As long as it lives, a listener hears of all overwrites.
class Listening {
 public:
  /// @param listener  null: nobody listens
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
