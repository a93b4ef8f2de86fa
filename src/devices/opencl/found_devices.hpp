// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CL/cl.h>

#include <string>
#include <vector>

#include "opencl.hpp"

/// The OpenCL devices of this process, as StarPU lists them.
namespace tessera::device::opencl {

/// The devices, in StarPU's order. The first call in a process decides whether processors are included.
const std::vector<cl_device_id>& listed(Kinds kinds);

/// The device with this number.
cl_device_id device(int number);

std::string text_of(cl_device_id device, cl_device_info what);

template <typename Value>
Value value_of(cl_device_id device, cl_device_info what) {
  Value value{};
  if (clGetDeviceInfo(device, what, sizeof value, &value, nullptr) != CL_SUCCESS) return Value{};
  return value;
}

/// Whether a device gains from copies through pinned memory. It does not if it uses the host's memory.
/// TESSERA_OPENCL_PINNED overrides this.
/// @throws RuntimeError if the variable is neither 0 nor 1
bool gains_from_pinned_memory(cl_device_id device);

inline bool is_processor(cl_device_id device) {
  return (value_of<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

}  // namespace tessera::device::opencl
