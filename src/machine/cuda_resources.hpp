// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include <tessera/error.hpp>

/// Owning pointers to CUDA objects.
namespace tessera::gpu {

/// @param what  the operation, for the message
/// @throws RuntimeError if the status is an error
inline void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw RuntimeError(std::string(what) + ": " + cudaGetErrorString(status));
}

struct FreeHost {
  void operator()(void* data) const { cudaFreeHost(data); }
};
using HostMemory = std::unique_ptr<void, FreeHost>;

/// Allocates host memory that is pinned for all devices.
inline HostMemory allocate_host(std::size_t bytes) {
  void* data = nullptr;
  require(cudaHostAlloc(&data, bytes, cudaHostAllocPortable), "pinned host memory");
  return HostMemory(data);
}

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;

/// Creates a stream on `device`, which becomes the thread's current device.
inline Stream create_stream(int device) {
  require(cudaSetDevice(device), "cudaSetDevice");
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return Stream(stream);
}

/// Creates a stream with the highest priority, whose kernels do not wait until those of other streams finish.
inline Stream create_urgent_stream(int device) {
  int least = 0, greatest = 0;
  cudaStream_t stream = nullptr;
  require(cudaSetDevice(device), "cudaSetDevice");
  require(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  require(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "cudaStreamCreateWithPriority");
  return Stream(stream);
}

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

/// Creates an event on the current device.
inline Event create_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  require(cudaEventCreateWithFlags(&event, flags), "cudaEventCreate");
  return Event(event);
}

}  // namespace tessera::gpu
