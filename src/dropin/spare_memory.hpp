// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

namespace tessera::dropin {

/// Memory for the copy of an operand. A large mapping is kept for the next call, because obtaining the pages of a new
/// mapping from the system takes longer than the copy. The system may reclaim the pages of kept memory when it needs
/// them.
class SpareMemory {
 public:
  SpareMemory() = default;
  /// Check `data`: null if there is not enough memory.
  explicit SpareMemory(std::size_t bytes);
  ~SpareMemory();
  SpareMemory(SpareMemory&& other) noexcept : mapping_(std::exchange(other.mapping_, {})) {}
  SpareMemory& operator=(SpareMemory&& other) noexcept {
    std::swap(mapping_, other.mapping_);
    return *this;
  }

  std::byte* data() const noexcept { return mapping_.data; }

  /// Returns the kept memory to the system. Call this when no call is in progress.
  static void release_kept();

  struct Mapping {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };

 private:
  Mapping mapping_;
};

}  // namespace tessera::dropin
