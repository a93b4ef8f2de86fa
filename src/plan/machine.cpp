// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <string_view>

namespace tessera::plan {

namespace {

/// For a memory-bound operation, the number of times it reads or writes its tile; 0 for all others.
int passes(std::string_view operation) {
  return operation == "add" ? 3 : operation == "scale" ? 2 : operation == "inspect" || operation == "growth" ? 1 : 0;
}

}  // namespace

double Gpu::task_seconds(const char* operation, double flops, double element_size, double products) const {
  if (const int count = passes(operation); count > 0) return overhead + count * element_size * flops / memory_rate;
  const auto& product = kernels.find("gemm")->second;
  const auto own = kernels.find(operation);
  if (own == kernels.end() || (products > 0 && !steps_have_parts)) return overhead + product.seconds(flops);
  return overhead + own->second.seconds(flops - products) + product.seconds(products);
}

}  // namespace tessera::plan
