// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace tessera::device::opencl {

/// The kind of an OpenCL device, which decides its place in the order.
enum class DeviceOf { OtherMaker, Nvidia, Processor };

/// The order in which OpenCL devices are tested, by number. In sessions with CUDA GPUs, devices of other makers come
/// first, then NVIDIA's from last to first, because CUDA uses the first ones. Processors come last.
inline std::vector<int> order_of_asking(const std::vector<DeviceOf>& devices, bool beside_cuda) {
  std::vector<int> order(devices.size());
  std::iota(order.begin(), order.end(), 0);
  if (!beside_cuda) return order;
  const auto of = [&](int number) { return devices[static_cast<std::size_t>(number)]; };
  std::ranges::stable_sort(
      order, [&](int a, int b) { return of(a) != of(b) ? of(a) < of(b) : of(a) == DeviceOf::Nvidia && a > b; });
  return order;
}

}  // namespace tessera::device::opencl
