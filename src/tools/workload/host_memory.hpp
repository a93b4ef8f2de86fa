// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "machine/gpu.hpp"

namespace tessera::bench {

/// Host memory, on huge pages if possible, pinned on request.
class HostMemory {
 public:
  /// @throws RuntimeError if it cannot be allocated
  HostMemory(std::size_t bytes, bool pinned);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::optional<gpu::PinnedMemory> pinned_;
};

}  // namespace tessera::bench
