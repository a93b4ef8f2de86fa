// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include <tessera/error.hpp>

/// OpenCL objects that release themselves.
namespace tessera::opencl {

template <auto release>
struct Release {
  template <typename Object>
  void operator()(Object* object) const {
    release(object);
  }
};
template <typename Handle, auto release>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release<release>>;

using Context = Owned<cl_context, clReleaseContext>;
using Queue = Owned<cl_command_queue, clReleaseCommandQueue>;
using Buffer = Owned<cl_mem, clReleaseMemObject>;
using Program = Owned<cl_program, clReleaseProgram>;
using Kernel = Owned<cl_kernel, clReleaseKernel>;
using Event = Owned<cl_event, clReleaseEvent>;

/// @param what  that the error says of what failed
inline void require(cl_int status, const std::string& what) {
  if (status != CL_SUCCESS) throw RuntimeError(what + ": OpenCL's error " + std::to_string(status));
}

inline Context new_context(cl_device_id device) {
  cl_int status = CL_SUCCESS;
  Context context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
  require(status, "an OpenCL context");
  return context;
}

/// A queue that runs commands in their order.
inline Queue new_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties = 0) {
  cl_int status = CL_SUCCESS;
  Queue queue(clCreateCommandQueue(context, device, properties, &status));
  require(status, "an OpenCL queue");
  return queue;
}

inline Buffer new_buffer(cl_context context, std::size_t bytes) {
  cl_int status = CL_SUCCESS;
  Buffer buffer(clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status));
  require(status, "memory of an OpenCL device");
  return buffer;
}

}  // namespace tessera::opencl
