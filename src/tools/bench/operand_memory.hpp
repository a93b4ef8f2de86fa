// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "machine/gpu.hpp"
#include "workload/host_memory.hpp"
#include "workload/problem.hpp"

namespace tessera::bench {

/// Memory for A, B and C, allocated once for the largest problem.
class OperandMemory {
 public:
  /// @param bytes  of A, B and C
  /// @param gpu    where the operands are; nothing: in host memory
  OperandMemory(const std::array<std::size_t, 3>& bytes, bool pinned, std::optional<int> gpu);
  /// What a call gets.
  Operands get() const noexcept;
  /// The same in host memory, to look at.
  Operands on_host() const;
  /// Writes A, B and C of a problem, using all cores.
  void fill(const Problem& problem, const Shapes& shapes) const;
  void fill_result(const Problem& problem, const Shapes& shapes) const;

 private:
  void move_to_gpu() const;

  std::array<std::size_t, 3> bytes_;
  std::array<HostMemory, 3> host_;
  std::vector<std::unique_ptr<gpu::Allocation>> on_gpu_;  ///< empty: the operands are in host memory
};

}  // namespace tessera::bench
