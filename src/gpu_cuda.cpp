// SPDX-License-Identifier: BSD-3-Clause
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>

#include <tessera/error.hpp>

#include "codelets/device_blas.hpp"
#include "gpu.hpp"

namespace tessera::gpu {

namespace {

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw RuntimeError(std::string(what) + ": " + cudaGetErrorString(status));
}

void require(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw RuntimeError(std::string(what) + ": " + cublasGetStatusString(status));
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct FreeDevice {
  int device;
  void operator()(void* data) const {
    cudaSetDevice(device);
    cudaFree(data);
  }
};
using DeviceMemory = std::unique_ptr<void, FreeDevice>;

DeviceMemory allocate(int device, std::size_t bytes) {
  require(cudaSetDevice(device), "cudaSetDevice");
  void* data = nullptr;
  require(cudaMalloc(&data, bytes), "device memory for a measurement");
  return {data, FreeDevice{device}};
}

struct FreeHost {
  void operator()(void* data) const { cudaFreeHost(data); }
};
using HostMemory = std::unique_ptr<void, FreeHost>;

HostMemory allocate_host(std::size_t bytes) {
  void* data = nullptr;
  require(cudaHostAlloc(&data, bytes, cudaHostAllocPortable), "pinned host memory for a measurement");
  return HostMemory(data);
}

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;

Stream create_stream(int device) {
  require(cudaSetDevice(device), "cudaSetDevice");
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return Stream(stream);
}

struct DestroyHandle {
  int device;
  void operator()(cublasHandle_t handle) const {
    cudaSetDevice(device);
    cublasDestroy(handle);
  }
};
using Handle = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, DestroyHandle>;

/// One device with what a copy needs.
struct Endpoint {
  int device;
  DeviceMemory memory;
  Stream stream;
};

/// Seconds until `start(endpoint)` has finished on all of `endpoints`, started on all of them at once.
template <typename Start>
double seconds_of(const std::vector<Endpoint*>& endpoints, Start start) {
  const double begin = now();
  for (auto* e : endpoints) {
    require(cudaSetDevice(e->device), "cudaSetDevice");
    require(start(*e), "a measured copy");
  }
  for (auto* e : endpoints) require(cudaStreamSynchronize(e->stream.get()), "a measured copy");
  return now() - begin;
}

void enable_peer_access(int from, int to) {
  int can = 0;
  if (cudaDeviceCanAccessPeer(&can, to, from) != cudaSuccess || can == 0) return;
  cudaSetDevice(to);
  // Already enabled by someone else is as good; and without it the copy still works, through the host.
  if (cudaDeviceEnablePeerAccess(from, 0) != cudaSuccess) cudaGetLastError();
}

/// Fills with numbers of either sign from one short random sequence: products of zeros run faster than real ones.
template <Scalar T>
void fill_random(void* device_data, std::size_t elements) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  std::vector<Real<T>> block(std::size_t{1} << 20);
  std::ranges::generate(block, [&] { return static_cast<Real<T>>(uniform(engine)); });
  const std::size_t total = elements * sizeof(T), chunk = block.size() * sizeof(block[0]);
  for (std::size_t done = 0; done < total; done += chunk)
    require(cudaMemcpy(static_cast<char*>(device_data) + done, block.data(), std::min(chunk, total - done),
                       cudaMemcpyHostToDevice),
            "filling a measured operand");
}

}  // namespace

Probe probe(int wanted) {
  Probe found;
  int count = 0;
  if (const auto status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    cudaGetLastError();  // leave no sticky error behind
    found.unusable.emplace_back(std::string("no CUDA device: ") + cudaGetErrorString(status));
    return found;
  }
  const KeepCurrentDevice keep;
  for (int ordinal = 0; ordinal < count && (wanted < 0 || std::ssize(found.usable) < wanted); ordinal++) {
    cudaDeviceProp properties{};
    auto status = cudaGetDeviceProperties(&properties, ordinal);
    if (status == cudaSuccess) status = cudaSetDevice(ordinal);
    if (status == cudaSuccess) status = cudaFree(nullptr);  // creates the context, as StarPU would
    if (status == cudaSuccess) {
      found.usable.push_back({ordinal, properties.name, properties.totalGlobalMem});
    } else {
      cudaGetLastError();
      found.unusable.push_back("GPU " + std::to_string(ordinal) + ": " + cudaGetErrorString(status));
    }
  }
  return found;
}

std::vector<std::string> visible_devices() {
  std::vector<std::string> names;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) cudaGetLastError();
  for (int ordinal = 0; ordinal < count; ordinal++) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) cudaGetLastError();
    names.emplace_back(properties.name);
  }
  return names;
}

KeepCurrentDevice::KeepCurrentDevice() {
  if (cudaGetDevice(&device_) != cudaSuccess) {
    cudaGetLastError();
    device_ = -1;
  }
}

KeepCurrentDevice::~KeepCurrentDevice() {
  if (device_ >= 0) cudaSetDevice(device_);
}

LinkRates measure_links(const std::vector<int>& devices, std::size_t bytes) {
  LinkRates rates;
  if (devices.empty()) return rates;
  const KeepCurrentDevice keep;
  const auto host = allocate_host(bytes * devices.size());
  std::memset(host.get(), 1, bytes * devices.size());
  std::vector<Endpoint> endpoints;
  std::vector<Endpoint*> all;
  endpoints.reserve(devices.size());
  for (const int device : devices) {
    endpoints.push_back({device, allocate(device, bytes), create_stream(device)});
    all.push_back(&endpoints.back());
  }
  const auto host_part = [&](const Endpoint& e) {
    return static_cast<char*>(host.get()) + (&e - endpoints.data()) * bytes;
  };
  const auto in = [&](std::size_t n) {
    return [&host_part, n](Endpoint& e) {
      return cudaMemcpyAsync(e.memory.get(), host_part(e), n, cudaMemcpyHostToDevice, e.stream.get());
    };
  };
  const auto out = [&](Endpoint& e) {
    return cudaMemcpyAsync(host_part(e), e.memory.get(), bytes, cudaMemcpyDeviceToHost, e.stream.get());
  };
  const double size = static_cast<double>(bytes);
  seconds_of(all, in(bytes));  // warms up
  for (auto* e : all) {
    rates.h2d.push_back(size / seconds_of({e}, in(bytes)));
    rates.d2h.push_back(size / seconds_of({e}, out));
    rates.latency.push_back(seconds_of({e}, in(4)));
  }
  rates.h2d_together = size * static_cast<double>(all.size()) / seconds_of(all, in(bytes));
  rates.d2h_together = size * static_cast<double>(all.size()) / seconds_of(all, out);
  for (auto* from : all) {
    auto& row = rates.peer.emplace_back();
    for (auto* to : all) {
      if (from == to) {
        row.push_back(0);
        continue;
      }
      enable_peer_access(from->device, to->device);
      const auto copy = [&](Endpoint& e) {
        return cudaMemcpyPeerAsync(e.memory.get(), e.device, from->memory.get(), from->device, bytes, e.stream.get());
      };
      seconds_of({to}, copy);
      row.push_back(size / seconds_of({to}, copy));
    }
  }
  return rates;
}

template <Scalar T>
double product_seconds(const std::vector<int>& devices, int n, double seconds) {
  const KeepCurrentDevice keep;
  struct Operands {
    int device;
    DeviceMemory A, B, C;
    Handle handle;
  };
  const std::size_t elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<Operands> operands;
  for (const int device : devices) {
    Operands o{device,
               allocate(device, elements * sizeof(T)),
               allocate(device, elements * sizeof(T)),
               allocate(device, elements * sizeof(T)),
               {}};
    for (const auto* memory : {&o.A, &o.B, &o.C}) fill_random<T>(memory->get(), elements);
    cublasHandle_t handle = nullptr;
    require(cublasCreate(&handle), "cublasCreate");
    o.handle = Handle(handle, DestroyHandle{device});
    operands.push_back(std::move(o));
  }
  const auto run = [&](int repeats) {
    const double begin = now();
    for (int r = 0; r < repeats; r++)
      for (auto& o : operands) {
        require(cudaSetDevice(o.device), "cudaSetDevice");
        require(device::gemm<T>(o.handle.get(), Op::NoTrans, Op::NoTrans, n, n, n, T(Real<T>(1.1)),
                                static_cast<T*>(o.A.get()), n, static_cast<T*>(o.B.get()), n, T(Real<T>(0.3)),
                                static_cast<T*>(o.C.get()), n),
                "a measured product");
      }
    for (auto& o : operands) {
      require(cudaSetDevice(o.device), "cudaSetDevice");
      require(cudaStreamSynchronize(nullptr), "a measured product");
    }
    return (now() - begin) / repeats;
  };
  run(1);
  return run(std::max(1, static_cast<int>(seconds / run(1))));
}

template double product_seconds<float>(const std::vector<int>&, int, double);
template double product_seconds<double>(const std::vector<int>&, int, double);
template double product_seconds<std::complex<float>>(const std::vector<int>&, int, double);
template double product_seconds<std::complex<double>>(const std::vector<int>&, int, double);

PinnedMemory::PinnedMemory(void* data, std::size_t bytes) : data_(data) {
  require(cudaHostRegister(data, bytes, cudaHostRegisterPortable), "pinning host memory");
}

PinnedMemory::~PinnedMemory() { cudaHostUnregister(data_); }

}  // namespace tessera::gpu
