// SPDX-License-Identifier: BSD-3-Clause
// Memory and copies.
#include <cuda.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "stand_in.hpp"

namespace stand_in {

namespace {

constexpr unsigned char garbage = 0xff;  ///< NaN in all types
constexpr std::size_t mapped_unit = std::size_t{2} << 20;
constexpr int nobody = -1;  ///< no device

// Never destroyed: other threads use them while the process exits.
auto& guard = *new std::mutex;
auto& blocks = *new std::map<std::uintptr_t, Block>;
auto& used = *new std::map<int, std::size_t>;  ///< bytes, by device

cudaError_t allocate(void** data, std::size_t bytes, Kind kind, void* pool = nullptr) {
  need_context();
  const std::lock_guard lock(guard);
  auto& here = used[current];
  if (kind == Kind::Device && here + bytes > memory_of_device) return fail(cudaErrorMemoryAllocation);
  auto* const pages = mmap(nullptr, std::max<std::size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return fail(cudaErrorMemoryAllocation);
  constexpr std::size_t most = std::size_t{16} << 20;  // otherwise, the slabs of a heap would be filled
  if (kind == Kind::Device && bytes <= most) std::memset(pages, garbage, bytes);
  if (kind == Kind::Device) here += bytes;
  blocks[reinterpret_cast<std::uintptr_t>(pages)] = {bytes, current, kind, pool, {}};
  return *data = pages, cudaSuccess;
}

cudaError_t release(void* data) {
  need_context();
  if (data == nullptr) return cudaSuccess;
  const auto found = block_of(data);
  if (!found || found->first != reinterpret_cast<std::uintptr_t>(data))
    return refuse(cudaErrorInvalidValue, "free of memory that was not allocated");
  for (int device = 0; device < devices(); device++) wait_for(device);
  const std::lock_guard lock(guard);
  const auto& block = found->second;
  if (block.kind == Kind::Device) used[block.device] -= block.bytes;
  munmap(data, std::max<std::size_t>(block.bytes, 1));
  blocks.erase(found->first);
  return cudaSuccess;
}

/// Whether columns are further apart than CUDA's 2D functions allow.
bool are_too_far_apart(std::size_t pitch) { return pitch > std::numeric_limits<int>::max(); }

/// Whether only a part of the memory of some columns is pinned, or parts of it are pinned separately.
bool are_pinned_in_parts(const void* columns, std::size_t pitch, std::size_t height, std::size_t count) {
  if (height == 0 || count == 0) return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(columns), end = begin + (count - 1) * pitch + height;
  const std::lock_guard lock(guard);
  return std::any_of(blocks.begin(), blocks.lower_bound(end), [=](const auto& known) {
    const auto& [first, block] = known;
    const auto last = first + block.bytes;
    return block.kind == Kind::Pinned && last > begin && (first > begin || last < end);
  });
}

/// A copy of columns. From or to pageable memory, it has ended when this returns.
cudaError_t copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t height,
                 std::size_t columns, Stream& stream, bool waits = false) {
  need_context();
  if (waits) counts.copies++;
  if (columns > 1 && are_too_far_apart(std::max(to_pitch, from_pitch))) return fail(cudaErrorInvalidPitchValue);
  if (are_pinned_in_parts(to, to_pitch, height, columns) || are_pinned_in_parts(from, from_pitch, height, columns))
    return refuse(cudaErrorInvalidValue, "a copy of memory that is pinned in parts");
  stream.add([=] {
    for (std::size_t j = 0; j < columns; j++)
      std::memmove(static_cast<char*>(to) + j * to_pitch, static_cast<const char*>(from) + j * from_pitch, height);
  });
  if (waits || !block_of(to) || !block_of(from)) stream.wait();
  return cudaSuccess;
}

}  // namespace

bool Block::may_be_used_by(int by) const {
  if (!users.empty()) return users.contains(by);
  return kind != Kind::Device || may_access_peer(by, device);
}

std::optional<std::pair<std::uintptr_t, Block>> block_of(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(guard);
  const auto next = blocks.upper_bound(at);
  if (next == blocks.begin() || at - std::prev(next)->first >= std::prev(next)->second.bytes) return {};
  return *std::prev(next);
}

void require_access(int device, const void* address, const char* what) {
  const auto found = block_of(address);
  if (found && found->second.may_be_used_by(device)) return;
  std::fprintf(stderr, "stand-in for CUDA: %s on device %d accesses %s\n", what, device,
               found ? "memory of another device without peer access" : "pageable memory");
  std::abort();
}

extern "C" {

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  need_context();
  const std::lock_guard lock(guard);
  return *total = memory_of_device, *free = memory_of_device - used[current], cudaSuccess;
}
cudaError_t cudaMalloc(void** data, std::size_t bytes) { return allocate(data, bytes, Kind::Device); }
cudaError_t cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t /*stream*/) {
  static int pools[16];
  return allocate(data, bytes, Kind::Device, &pools[current]);
}
cudaError_t cudaMallocManaged(void** data, std::size_t bytes, unsigned /*flags*/) {
  return allocate(data, bytes, Kind::Managed);
}
cudaError_t cudaMallocHost(void** data, std::size_t bytes) { return allocate(data, bytes, Kind::Pinned); }
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned /*flags*/) {
  return allocate(data, bytes, Kind::Pinned);
}
cudaError_t cudaFree(void* data) { return release(data); }
cudaError_t cudaFreeAsync(void* data, cudaStream_t /*stream*/) { return release(data); }
cudaError_t cudaFreeHost(void* data) { return release(data); }
cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned /*flags*/) {
  need_context();
  if (block_of(data) || block_of(static_cast<char*>(data) + bytes - 1))
    return fail(cudaErrorHostMemoryAlreadyRegistered);
  const std::lock_guard lock(guard);
  blocks[reinterpret_cast<std::uintptr_t>(data)] = {bytes, current, Kind::Pinned, nullptr, {}};
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* data) {
  need_context();
  const std::lock_guard lock(guard);
  return blocks.erase(reinterpret_cast<std::uintptr_t>(data)) > 0 ? cudaSuccess
                                                                  : fail(cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/) {
  return need_context(), *device = host, cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  *attributes = {};
  const auto found = block_of(address);
  if (!found) return attributes->type = cudaMemoryTypeUnregistered, cudaSuccess;
  const auto kind = found->second.kind;
  attributes->type = kind == Kind::Device    ? cudaMemoryTypeDevice
                     : kind == Kind::Managed ? cudaMemoryTypeManaged
                                             : cudaMemoryTypeHost;
  attributes->device = found->second.device, attributes->devicePointer = const_cast<void*>(address);
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t /*pool*/, cudaMemLocation* /*location*/) {
  return *flags = cudaMemAccessFlagsProtReadWrite, cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t /*pool*/, const cudaMemAccessDesc* /*accesses*/, std::size_t /*count*/) {
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/) {
  return copy(to, bytes, from, bytes, bytes, 1, stream_of(nullptr), true);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t stream) {
  return copy(to, bytes, from, bytes, bytes, 1, stream_of(stream));
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t height,
                         std::size_t columns, cudaMemcpyKind /*kind*/) {
  return copy(to, to_pitch, from, from_pitch, height, columns, stream_of(nullptr), true);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t height, std::size_t columns, cudaMemcpyKind /*kind*/, cudaStream_t stream) {
  return copy(to, to_pitch, from, from_pitch, height, columns, stream_of(stream));
}
cudaError_t cudaMemcpyPeer(void* to, int /*to_device*/, const void* from, int /*from_device*/, std::size_t bytes) {
  return copy(to, bytes, from, bytes, bytes, 1, stream_of(nullptr), true);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int /*to_device*/, const void* from, int /*from_device*/, std::size_t bytes,
                                cudaStream_t stream) {
  return copy(to, bytes, from, bytes, bytes, 1, stream_of(stream));
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* x, cudaStream_t stream) {
  return copy(x->dstPtr.ptr, x->dstPtr.pitch, x->srcPtr.ptr, x->srcPtr.pitch, x->extent.width, x->extent.height,
              stream_of(stream));
}
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  need_context();
  return stream_of(stream).add([=] { std::memset(data, value, bytes); }), cudaSuccess;
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  cudaMemsetAsync(data, value, bytes, nullptr);
  return stream_of(nullptr).wait(), cudaSuccess;
}
cudaError_t cudaMemset2DAsync(void* data, std::size_t pitch, int value, std::size_t height, std::size_t columns,
                              cudaStream_t stream) {
  if (are_too_far_apart(pitch)) return fail(cudaErrorInvalidPitchValue);
  stream_of(stream).add([=] {
    for (std::size_t j = 0; j < columns; j++) std::memset(static_cast<char*>(data) + j * pitch, value, height);
  });
  return cudaSuccess;
}

/// The handle is only a name here: the memory is not opened elsewhere.
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data) {
  *handle = {};
  return std::memcpy(handle, &data, sizeof data), cudaSuccess;
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr address) {
  const auto found = block_of(reinterpret_cast<void*>(address));
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  const auto& block = found->second;
  for (unsigned i = 0; i < count; i++) {
    const auto set = [&](auto value) { std::memcpy(values[i], &value, sizeof value); };
    switch (attributes[i]) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      set(block.kind == Kind::Pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: set(block.kind == Kind::Managed); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: set(block.device); break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      set(block.kind == Kind::Device && block.pool == nullptr && block.users.empty());
      break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: set(found->first); break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: set(block.pool); break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: set(block.bytes); break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: set(found->first); break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}
CUresult cuMemGetAddressRange(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  const auto found = block_of(reinterpret_cast<void*>(address));
  if (!found) return CUDA_ERROR_NOT_FOUND;
  return *begin = found->first, *bytes = found->second.bytes, CUDA_SUCCESS;
}

// Memory that is mapped in pieces. Each mapping is a block of its own.
CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* /*properties*/,
                                       CUmemAllocationGranularity_flags /*option*/) {
  return *bytes = mapped_unit, CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* begin, std::size_t bytes, std::size_t /*alignment*/, CUdeviceptr /*wish*/,
                             unsigned long long /*flags*/) {
  auto* const pages = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return *begin = reinterpret_cast<CUdeviceptr>(pages), pages == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr begin, std::size_t bytes) {
  return munmap(reinterpret_cast<void*>(begin), bytes) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* memory, std::size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long /*flags*/) {
  if (bytes % mapped_unit != 0) return CUDA_ERROR_INVALID_VALUE;
  return *memory = static_cast<CUmemGenericAllocationHandle>(properties->location.id), CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle /*memory*/) { return CUDA_SUCCESS; }
CUresult cuMemMap(CUdeviceptr begin, std::size_t bytes, std::size_t /*offset*/, CUmemGenericAllocationHandle memory,
                  unsigned long long /*flags*/) {
  auto* const pages = reinterpret_cast<void*>(begin);
  if (block_of(pages) || mprotect(pages, bytes, PROT_READ | PROT_WRITE) != 0) return CUDA_ERROR_INVALID_VALUE;
  std::memset(pages, garbage, bytes);
  const std::lock_guard lock(guard);
  blocks[begin] = {bytes, static_cast<int>(memory), Kind::Device, nullptr, {nobody}};
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr begin, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count) {
  const std::lock_guard lock(guard);
  const auto found = blocks.find(begin);
  if (found == blocks.end() || found->second.bytes != bytes) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; i++) found->second.users.insert(access[i].location.id);
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr begin, std::size_t bytes) {
  for (int device = 0; device < devices(); device++) wait_for(device);
  const std::lock_guard lock(guard);
  const auto found = blocks.find(begin);
  if (found == blocks.end() || found->second.bytes != bytes) return CUDA_ERROR_INVALID_VALUE;
  blocks.erase(found);
  return mprotect(reinterpret_cast<void*>(begin), bytes, PROT_NONE) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"

}  // namespace stand_in
