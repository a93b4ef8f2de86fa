// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include <tessera/error.hpp>

#include "common/not_copyable.hpp"

/// OpenCL objects that release themselves.
namespace tessera::device::opencl {

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

/// @param what  the failed operation, for the error message
inline void require(cl_int status, const std::string& what) {
  if (status != CL_SUCCESS) throw RuntimeError(what + ": OpenCL's error " + std::to_string(status));
}

inline Context new_context(cl_device_id device) {
  cl_int status = CL_SUCCESS;
  Context context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
  require(status, "an OpenCL context");
  return context;
}

/// A queue that runs commands in order.
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

/// Host memory that a device can copy from and to at the full rate of the link. It is a mapped OpenCL buffer, because
/// drivers pin the memory of such buffers.
class PinnedMemory : common::NotCopyable {
 public:
  /// @param queue  a queue of the device, which must outlive this object
  PinnedMemory(cl_context context, cl_command_queue queue, std::size_t bytes) : queue_(queue) {
    cl_int status = CL_SUCCESS;
    buffer_.reset(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &status));
    require(status, "pinned memory of OpenCL");
    data_ = clEnqueueMapBuffer(queue, buffer_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, nullptr, nullptr,
                               &status);
    require(status, "mapping pinned memory of OpenCL");
  }
  ~PinnedMemory() {
    clEnqueueUnmapMemObject(queue_, buffer_.get(), data_, 0, nullptr, nullptr);
    clFinish(queue_);
  }

  void* data() const { return data_; }

 private:
  cl_command_queue queue_;
  Buffer buffer_;
  void* data_ = nullptr;
};

}  // namespace tessera::device::opencl
