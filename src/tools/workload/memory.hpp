// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "common/not_copyable.hpp"
#include "devices/gpu.hpp"
#include "workload/problem.hpp"

namespace tessera::bench {

/// Memory that the host can access, on huge pages if possible. Managed memory uses no huge pages.
class HostMemory : common::NotCopyable {
 public:
  /// @throws RuntimeError if it cannot be allocated
  HostMemory(std::size_t bytes, Memory kind);
  ~HostMemory();
  void* data() const noexcept { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::optional<device::gpu::PinnedMemory> pinned_;
  std::optional<device::gpu::Allocation> managed_;
};

/// Memory for A, B and C, allocated once for the largest problem.
class OperandMemory {
 public:
  /// @param bytes  sizes of A, B and C
  /// @param gpu    CUDA ordinal of the first GPU, for Memory::Device
  OperandMemory(const std::array<std::size_t, 3>& bytes, Memory memory, std::optional<int> gpu = {});
  /// The operands of a call. For Memory::Spread, the host memory from which the tiles are filled.
  Operands get() const noexcept;
  /// The operands in memory that the host can read.
  Operands on_host() const;
  /// Writes A, B and C of a problem, using all cores.
  void fill(const Problem& problem, const Shapes& shapes) const;
  void fill_result(const Problem& problem, const Shapes& shapes) const;

 private:
  void move_to_gpu() const;

  std::array<std::size_t, 3> bytes_;
  std::array<HostMemory, 3> host_;
  std::vector<std::unique_ptr<device::gpu::Allocation>> on_gpu_;  ///< empty: the operands are in host memory
};

}  // namespace tessera::bench
