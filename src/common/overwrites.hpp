// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "not_copyable.hpp"

/// Announces that host memory for a call's results is about to be overwritten, so a listener can save its contents.
namespace tessera::common::overwrites {

struct Listener {
  /// Called before a thread writes between `first` and `last`, perhaps by several threads at once. The range may
  /// contain other data, and may be irrelevant to the listener. After the return, the range may be overwritten.
  void (*before)(void* self, const void* first, const void* last) noexcept;
  void* self;
};

/// Makes Tessera call a listener before all overwrites during the lifetime of this object.
class Listening : NotCopyable {
 public:
  /// @param listener  null: none
  explicit Listening(const Listener* listener);
  ~Listening();

 private:
  const Listener* listener_;
};

/// Call this before each write to the caller's memory.
void before(const void* first, const void* last) noexcept;

}  // namespace tessera::common::overwrites
