// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "machine/gpu.hpp"
#include "workload/problem.hpp"

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

/// Memory for A, B and C, allocated once for the largest problem.
class OperandMemory {
 public:
  OperandMemory(std::size_t bytes_a, std::size_t bytes_b, std::size_t bytes_c, bool pinned);
  Operands get() const noexcept { return {A_.data(), B_.data(), C_.data()}; }
  /// Writes A, B and C of a problem, using all cores.
  void fill(const Problem& problem, const Shapes& shapes) const;
  void fill_result(const Problem& problem, const Shapes& shapes) const;

 private:
  HostMemory A_, B_, C_;
};

}  // namespace tessera::bench
