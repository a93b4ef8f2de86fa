// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include <tessera/error.hpp>

/// Owning pointers to CUDA objects. Creating and destroying one makes its device the thread's current device: in nearly
/// all functions, the runtime creates a context on the current device, also if the object belongs to another one.
namespace tessera::device::gpu {

/// @param what  the operation, for the message
/// @throws RuntimeError if the status is an error
inline void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw RuntimeError(std::string(what) + ": " + cudaGetErrorString(status));
}

struct FreeHost {
  int device = 0;
  void operator()(void* data) const {
    cudaSetDevice(device);
    cudaFreeHost(data);
  }
};
using HostMemory = std::unique_ptr<void, FreeHost>;

/// Allocates host memory that is pinned for all devices.
/// @param device  one of those that use it
inline HostMemory allocate_host(std::size_t bytes, int device) {
  require(cudaSetDevice(device), "cudaSetDevice");
  void* data = nullptr;
  require(cudaHostAlloc(&data, bytes, cudaHostAllocPortable), "pinned host memory");
  return {data, FreeHost{device}};
}

struct FreeDevice {
  int device = 0;
  void operator()(void* data) const {
    cudaSetDevice(device);
    cudaFree(data);
  }
};
using DeviceMemory = std::unique_ptr<void, FreeDevice>;

/// Allocates memory of `device`.
inline DeviceMemory allocate(int device, std::size_t bytes) {
  require(cudaSetDevice(device), "cudaSetDevice");
  void* data = nullptr;
  require(cudaMalloc(&data, bytes), "device memory");
  return {data, FreeDevice{device}};
}

/// Memory of one GPU that grows when needed, and then loses its content.
class GrowingMemory {
 public:
  /// At least `bytes` bytes on the current device, which must be the same in all calls.
  void* at_least(std::size_t bytes) {
    if (bytes <= bytes_) return memory_.get();
    int device = 0;
    require(cudaGetDevice(&device), "cudaGetDevice");
    memory_.reset(), bytes_ = 0;
    memory_ = allocate(device, bytes), bytes_ = bytes;
    return memory_.get();
  }

 private:
  DeviceMemory memory_;
  std::size_t bytes_ = 0;
};

struct DestroyStream {
  int device = 0;
  void operator()(cudaStream_t stream) const {
    cudaSetDevice(device);
    cudaStreamDestroy(stream);
  }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;

/// Creates a stream on `device`.
inline Stream create_stream(int device) {
  require(cudaSetDevice(device), "cudaSetDevice");
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return {stream, DestroyStream{device}};
}

/// Creates a stream with the highest priority, whose kernels do not wait until those of other streams finish.
inline Stream create_urgent_stream(int device) {
  int least = 0, greatest = 0;
  cudaStream_t stream = nullptr;
  require(cudaSetDevice(device), "cudaSetDevice");
  require(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  require(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "cudaStreamCreateWithPriority");
  return {stream, DestroyStream{device}};
}

struct DestroyEvent {
  int device = 0;
  void operator()(cudaEvent_t event) const {
    cudaSetDevice(device);
    cudaEventDestroy(event);
  }
};
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

/// Creates an event on the current device.
inline Event create_event(unsigned flags = cudaEventDefault) {
  int device = 0;
  cudaEvent_t event = nullptr;
  require(cudaGetDevice(&device), "cudaGetDevice");
  require(cudaEventCreateWithFlags(&event, flags), "cudaEventCreate");
  return {event, DestroyEvent{device}};
}

}  // namespace tessera::device::gpu
