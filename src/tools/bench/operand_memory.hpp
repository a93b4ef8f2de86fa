// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "workload/host_memory.hpp"
#include "workload/problem.hpp"

namespace tessera::bench {

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
