// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "machine/gpu.hpp"
#include "workload/problem.hpp"

namespace tessera::bench {

/// Memory that the host can access, on huge pages if possible. Managed memory uses no huge pages.
class HostMemory {
 public:
  /// @throws RuntimeError if it cannot be allocated
  HostMemory(std::size_t bytes, Memory kind);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::optional<gpu::PinnedMemory> pinned_;
  std::optional<gpu::Allocation> managed_;
};

}  // namespace tessera::bench
