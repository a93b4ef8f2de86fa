// SPDX-License-Identifier: BSD-3-Clause
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "columns.hpp"
#include "common/device_memory.hpp"
#include "common/no_signals.hpp"
#include "devices/gpu.hpp"
#include "devices/panels_on_cores.hpp"
#include "lanes.hpp"
#include "product.hpp"
#include "resources.hpp"

namespace tessera::device::gpu {

namespace {

/// Why CUDA finds no device. If no driver is installed, CUDA misleadingly reports that the driver is too old.
std::string why_none(cudaError_t status) {
  int driver = 0;
  if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
    return "no NVIDIA driver is installed";
  return cudaGetErrorString(status);
}

}  // namespace

Probe probe(int wanted, int first) {
  const common::NoSignals in_threads_of_the_driver;
  Probe found;
  int count = 0;
  if (const auto status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    cudaGetLastError();  // clears the error, or a later call would report it
    found.unusable.push_back("no CUDA device: " + why_none(status));
    return found;
  }
  const KeepCurrentDevice keep;
  for (int ordinal = first; ordinal < count && (wanted < 0 || std::ssize(found.usable) < wanted); ordinal++) {
    cudaDeviceProp properties{};
    auto status = cudaGetDeviceProperties(&properties, ordinal);
    if (status == cudaSuccess) status = cudaSetDevice(ordinal);
    if (status == cudaSuccess) status = cudaFree(nullptr);  // creates the context, as StarPU would
    std::size_t free = 0, total = 0;
    if (status == cudaSuccess) status = cudaMemGetInfo(&free, &total);
    if (status == cudaSuccess) {
      found.usable.push_back({ordinal, properties.name, properties.totalGlobalMem, free});
    } else {
      cudaGetLastError();
      found.unusable.push_back("GPU " + std::to_string(ordinal) + ": " + cudaGetErrorString(status));
    }
  }
  return found;
}

std::vector<std::string> visible_devices() {
  const common::NoSignals in_threads_of_the_driver;
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

std::string pci_address(int device) {
  const common::NoSignals in_threads_of_the_driver;
  std::array<char, 32> address{};
  if (cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), device) != cudaSuccess)
    cudaGetLastError();
  std::string text = address.data();
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

namespace {

/// What CUDA's driver knows of the context in which a thread works. The runtime loads the driver.
struct Driver {
  decltype(&cuCtxGetCurrent) get_current = nullptr;
  decltype(&cuCtxSetCurrent) set_current = nullptr;

  Driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);  // never closed: its functions must stay
    if (library == nullptr) return;
    get_current = reinterpret_cast<decltype(get_current)>(dlsym(library, "cuCtxGetCurrent"));
    set_current = reinterpret_cast<decltype(set_current)>(dlsym(library, "cuCtxSetCurrent"));
  }
};
/// @pre  the runtime has been called
const Driver& driver() {
  static const Driver the_one;
  return the_one;
}

}  // namespace

KeepCurrentDevice::KeepCurrentDevice() {
  if (cudaGetDevice(&device_) != cudaSuccess) {
    cudaGetLastError();
    device_ = -1;
  } else if (driver().get_current == nullptr || driver().get_current(&context_) != CUDA_SUCCESS) {
    context_ = nullptr;
  }
}

KeepCurrentDevice::~KeepCurrentDevice() {
  int now = -1;
  CUcontext context = nullptr;
  const auto is_current = [&] { return cudaGetDevice(&now) == cudaSuccess && now == device_; };
  if (device_ >= 0 && driver().set_current != nullptr && driver().get_current(&context) == CUDA_SUCCESS &&
      context != context_ && (context_ != nullptr || !is_current()))
    driver().set_current(context_);
  // cudaSetDevice creates a context on the device, which takes some hundred MB there.
  if (device_ >= 0 && !is_current()) cudaSetDevice(device_);
  cudaGetLastError();  // clears errors: each was reported where it occurred
}

bool enable_access(int device, int peer) {
  const KeepCurrentDevice keep;
  int can = 0;
  auto status = cudaSetDevice(device);
  if (status == cudaSuccess) status = cudaDeviceCanAccessPeer(&can, device, peer);
  if (status == cudaSuccess && can != 0) status = cudaDeviceEnablePeerAccess(peer, 0);
  cudaGetLastError();  // clears the error, which may only mean that access was already enabled
  return can != 0 && (status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled);
}

bool is_pinned(const void* data, std::size_t bytes) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) cudaGetLastError();
  if (attributes.type != cudaMemoryTypeHost) return false;
  const auto* const last = static_cast<const std::byte*>(data) + bytes - 1;
  return last == data ||
         (is_pinned(last) && common::device_memory::may_exist() && common::device_memory::are_in_one_range(data, last));
}

std::optional<int> device_of(const void* data) {
  namespace device_memory = common::device_memory;
  return device_memory::may_exist() ? device_memory::gpu_of(data) : std::nullopt;
}

void wait_for_default_stream(int device) {
  const KeepCurrentDevice keep;
  require(cudaSetDevice(device), "cudaSetDevice");
  require(cudaStreamSynchronize(cudaStreamLegacy), "what the program has queued on the default stream");
}

void wait_for_stream(CUstream_st* stream) {
  require(cudaStreamSynchronize(stream), "what the program has queued on its stream");
}

bool compute_product(const blas::Call& call, int device) {
  if (call.routine != blas::Routine::gemm || !blas::fits(call)) return false;
  const KeepCurrentDevice keep;
  return cuda::compute_product(call, device);
}

void share_pool(const void* data, int device, std::span<const int> devices) {
  const auto pool = static_cast<cudaMemPool_t>(common::device_memory::pool_of(data));
  if (pool == nullptr) return;
  const KeepCurrentDevice keep;
  require(cudaSetDevice(device), "cudaSetDevice");
  for (const int other : devices) {
    int linked = 0;
    if (other == device || cudaDeviceCanAccessPeer(&linked, other, device) != cudaSuccess || linked == 0) continue;
    cudaMemAccessDesc access{{cudaMemLocationTypeDevice, other}, cudaMemAccessFlagsProtReadWrite};
    auto now = cudaMemAccessFlagsProtNone;
    require(cudaMemPoolGetAccess(&now, pool, &access.location), "cudaMemPoolGetAccess");
    if (now != access.flags) require(cudaMemPoolSetAccess(pool, &access, 1), "cudaMemPoolSetAccess");
  }
}

void copy_columns(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, std::size_t height,
                  std::size_t columns) {
  const KeepCurrentDevice keep;
  for (const void* const data : {static_cast<const void*>(to), from})  // other devices may not access a pool
    if (const auto device = device_of(data)) require(cudaSetDevice(*device), "cudaSetDevice");
  const auto status =
      std::max(to_stride, from_stride) <= most_apart
          ? cudaMemcpy2D(to, to_stride, from, from_stride, height, columns, cudaMemcpyDefault)
          : cuda::for_each_column(columns, [&](std::size_t j) {
              return cudaMemcpy(static_cast<std::byte*>(to) + j * to_stride,
                                static_cast<const std::byte*>(from) + j * from_stride, height, cudaMemcpyDefault);
            });
  require(status, "a copy of an operand");
  // A copy from pageable memory has returned once it is in a buffer of the driver.
  require(cudaStreamSynchronize(cudaStreamLegacy), "a copy of an operand");
}

bool can_pin() {
  const common::NoSignals in_threads_of_the_driver;
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count > 0;
  cudaGetLastError();
  return false;
}

bool factorizes_beside_products() { return cuda::can_set_multiprocessors_aside(); }

double panel_rate_of_cores() { return 0; }

namespace {

/// Makes a device current, or leaves the one that is.
/// @return  the current device
int make_current(std::optional<int> device) {
  int current = 0;
  require(device ? cudaSetDevice(*device) : cudaSuccess, "cudaSetDevice");
  require(cudaGetDevice(&current), "cudaGetDevice");
  return current;
}

}  // namespace

PinnedMemory::PinnedMemory(void* data, std::size_t bytes, std::optional<int> device) : data_(data) {
  const common::NoSignals in_threads_of_the_driver;  // this may be the first use of CUDA
  const KeepCurrentDevice keep;
  device_ = make_current(device);
  require(cudaHostRegister(data, bytes, cudaHostRegisterPortable), "pinning host memory");
}

PinnedMemory::~PinnedMemory() {
  const KeepCurrentDevice keep;
  cudaSetDevice(device_);
  cudaHostUnregister(data_);
}

Allocation::Allocation(std::optional<int> device, std::size_t bytes) {
  const KeepCurrentDevice keep;
  device_ = make_current(device);
  if (device) require(cudaMalloc(&data_, bytes), "memory of a GPU for an operand");
  else require(cudaMallocManaged(&data_, bytes), "managed memory for an operand");
}
Allocation::~Allocation() {
  const KeepCurrentDevice keep;
  cudaSetDevice(device_);
  cudaFree(data_);
}

}  // namespace tessera::device::gpu
