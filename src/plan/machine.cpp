// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <string_view>

namespace tessera::plan {

namespace {

/// How often an operation that memory limits reads or writes its tile; 0 for all others.
int passes(std::string_view operation) {
  return operation == "add" ? 3 : operation == "scale" ? 2 : operation == "inspect" || operation == "growth" ? 1 : 0;
}

}  // namespace

double Gpu::task_seconds(const char* operation, double flops, double element_size) const {
  if (const int count = passes(operation); count > 0) return overhead + count * element_size * flops / memory_rate;
  const auto own = kernels.find(operation);
  return overhead + (own != kernels.end() ? own : kernels.find("gemm"))->second.seconds(flops);
}

}  // namespace tessera::plan
