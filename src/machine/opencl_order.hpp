// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace tessera::opencl {

/// The order in which OpenCL devices are asked, by number. Beside GPUs of CUDA, those of NVIDIA come last, and the last
/// of them first: CUDA takes the first ones.
/// @param of_nvidia  for each device, whether NVIDIA has made it
inline std::vector<int> order_of_asking(const std::vector<bool>& of_nvidia, bool beside_cuda) {
  std::vector<int> order(of_nvidia.size());
  std::iota(order.begin(), order.end(), 0);
  if (!beside_cuda) return order;
  const auto is_other = [&](int number) { return !of_nvidia[static_cast<std::size_t>(number)]; };
  std::reverse(std::stable_partition(order.begin(), order.end(), is_other), order.end());
  return order;
}

}  // namespace tessera::opencl
