// SPDX-License-Identifier: BSD-3-Clause
// GPU memory that processes share by CUDA's handles. No event crosses processes: StarPU considers a tile written only
// once the host has seen the end of the kernel, and only then the owner names the tile to its readers. Likewise, a
// reader confirms a copy once the host has seen its end.
#include <starpu.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include <tessera/error.hpp>

#include "columns.hpp"
#include "devices/gpu.hpp"
#include "devices/peer_memory.hpp"
#include "devices/tile_interface.hpp"
#include "resources.hpp"

namespace tessera::device {

namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(PeerMemory::Name::allocation));

PeerMemory::Name name_of(void* allocation, std::size_t offset) {
  PeerMemory::Name name{{}, offset};
  cudaIpcMemHandle_t handle;
  gpu::require(cudaIpcGetMemHandle(&handle, allocation), "cudaIpcGetMemHandle");
  std::memcpy(name.allocation.data(), &handle, sizeof(handle));
  return name;
}

/// Opens memory of another process for the current device.
cudaError_t open(const PeerMemory::Name& name, std::byte*& memory) {
  cudaIpcMemHandle_t handle;
  std::memcpy(&handle, name.allocation.data(), sizeof(handle));
  void* opened = nullptr;
  const auto status = cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess);
  memory = static_cast<std::byte*>(opened);
  return status;
}

class CudaPeers final : public PeerMemory {
 public:
  CudaPeers() {
    const gpu::KeepCurrentDevice keep;
    for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
      if (starpu_node_get_kind(node) != STARPU_CUDA_RAM) continue;
      nodes_.push_back(node);
      auto& gpu = gpus_[node];
      gpu.device = starpu_memory_node_get_devid(node);
      for (auto& lane : gpu.lanes) lane.stream = gpu::create_stream(gpu.device);
    }
  }

  ~CudaPeers() override {
    const gpu::KeepCurrentDevice keep;
    for (auto& [node, gpu] : gpus_) {
      cudaSetDevice(gpu.device);
      for (const auto& [allocation, memory] : gpu.opened) cudaIpcCloseMemHandle(memory);
    }
    free_samples();
    gpus_.clear();  // destroying its streams and events changes the current device
  }

  const std::vector<unsigned>& nodes() const noexcept override { return nodes_; }

  std::vector<Sample> samples() override {
    const gpu::KeepCurrentDevice keep;
    std::random_device random;
    std::vector<Sample> samples;
    for (auto& [node, gpu] : gpus_) {
      gpu::require(cudaSetDevice(gpu.device), "cudaSetDevice");
      gpu::require(cudaMalloc(&gpu.sample, 2 * sample_bytes), "cudaMalloc");
      const std::uint64_t value = (std::uint64_t{random()} << 32) | random();
      gpu::require(cudaMemcpy(gpu.sample, &value, sizeof(value), cudaMemcpyHostToDevice), "cudaMemcpy");
      samples.push_back({name_of(gpu.sample, 0), value});
    }
    return samples;
  }

  void free_samples() noexcept override {
    const gpu::KeepCurrentDevice keep;
    for (auto& [node, gpu] : gpus_) {
      cudaSetDevice(gpu.device);
      cudaFree(std::exchange(gpu.sample, nullptr));
    }
    cudaGetLastError();
  }

  double seconds_to_read(const Sample& theirs) override {
    const gpu::KeepCurrentDevice keep;
    double slowest = 0;
    for (auto& [node, gpu] : gpus_) {
      std::byte* memory = nullptr;
      std::uint64_t value = 0;
      bool right =
          gpu.sample != nullptr && cudaSetDevice(gpu.device) == cudaSuccess && open(theirs.name, memory) == cudaSuccess;
      if (right) {
        const double seconds = copy_time(gpu, gpu.copy(), memory + theirs.name.offset);
        right = cudaMemcpy(&value, gpu.copy(), sizeof(value), cudaMemcpyDeviceToHost) == cudaSuccess &&
                value == theirs.value;
        right = cudaIpcCloseMemHandle(memory) == cudaSuccess && right;
        slowest = std::max(slowest, seconds);
      }
      if (!right) return cudaGetLastError(), std::numeric_limits<double>::infinity();
    }
    return slowest;
  }

  double seconds_to_host_and_back() override {
    const gpu::KeepCurrentDevice keep;
    const auto host = gpu::allocate_host(sample_bytes, gpus_.begin()->second.device);
    double slowest = 0;
    for (auto& [node, gpu] : gpus_) {
      gpu::require(cudaSetDevice(gpu.device), "cudaSetDevice");
      const double seconds = copy_time(gpu, host.get(), gpu.copy()) + copy_time(gpu, gpu.copy(), host.get());
      gpu::require(cudaGetLastError(), "a copy between a GPU and its host");
      slowest = std::max(slowest, seconds);
    }
    return slowest;
  }

  Name name(unsigned node, std::uintptr_t tile) override {
    const auto lent = tile_interface::lend(node, reinterpret_cast<void*>(tile));
    if (!lent) throw RuntimeError("a tile does not lie in memory that Tessera has allocated");
    auto& names = gpus_.at(node).named;
    auto found = names.find(lent->slab);
    if (found == names.end()) {
      gpu::require(cudaSetDevice(gpus_.at(node).device), "cudaSetDevice");
      found = names.emplace(lent->slab, name_of(lent->slab, 0)).first;
    }
    auto name = found->second;
    name.offset = lent->offset;
    return name;
  }

  void start(const Name& theirs, const Columns& from, unsigned node, const Columns& target, void* what) override {
    auto& gpu = gpus_.at(node);
    gpu::require(cudaSetDevice(gpu.device), "cudaSetDevice");
    auto found = gpu.opened.find(theirs.allocation);
    if (found == gpu.opened.end()) {
      std::byte* memory = nullptr;
      gpu::require(open(theirs, memory), "cudaIpcOpenMemHandle");
      found = gpu.opened.emplace(theirs.allocation, memory).first;
    }
    auto& lane = gpu.lanes[gpu.next_lane++ % gpu.lanes.size()];
    const auto* const source = found->second + theirs.offset;
    auto* const to = reinterpret_cast<void*>(target.address);
    gpu::require(cuda::copy_columns(to, target.distance, source, from.distance, from.bytes, from.count,
                                    cudaMemcpyDefault, lane.stream.get()),
                 "copy between processes");
    auto event = gpu.events.empty() ? gpu::create_event(cudaEventDisableTiming) : std::move(gpu.events.back());
    if (!gpu.events.empty()) gpu.events.pop_back();
    gpu::require(cudaEventRecord(event.get(), lane.stream.get()), "cudaEventRecord");
    lane.copies.push_back({std::move(event), what});
  }

  void* next_ended() override {
    for (auto& [node, gpu] : gpus_)
      for (auto& lane : gpu.lanes) {
        if (lane.copies.empty()) continue;
        const auto status = cudaEventQuery(lane.copies.front().event.get());
        if (status == cudaErrorNotReady) continue;
        gpu::require(status, "copy between processes");
        auto* const what = lane.copies.front().what;
        gpu.events.push_back(std::move(lane.copies.front().event));
        lane.copies.pop_front();
        return what;
      }
    return nullptr;
  }

 private:
  struct Copy {
    gpu::Event event;
    void* what;
  };
  /// Copies in their order. A second lane starts a copy while the first one ends another.
  struct Lane {
    gpu::Stream stream;
    std::deque<Copy> copies;
  };
  struct Gpu {
    int device = 0;
    void* sample = nullptr;
    std::array<Lane, 2> lanes;
    std::size_t next_lane = 0;
    /// The second half of the memory of the sample, for copies.
    std::byte* copy() const { return static_cast<std::byte*>(sample) + sample_bytes; }
    std::vector<gpu::Event> events;                              ///< not in use
    std::map<void*, Name> named;                                 ///< slabs of this GPU
    std::map<std::array<unsigned char, 64>, std::byte*> opened;  ///< allocations of other processes
  };
  /// The time of a copy as large as a sample, on the current device [s]. Infinite if it fails.
  static double copy_time(const Gpu& gpu, void* to, const void* from) {
    constexpr int repeat = 3;  // the first copy may prepare the link
    auto* const stream = gpu.lanes.front().stream.get();
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeat; i++) {
      const auto start = std::chrono::steady_clock::now();
      if (cudaMemcpyAsync(to, from, sample_bytes, cudaMemcpyDefault, stream) != cudaSuccess ||
          cudaStreamSynchronize(stream) != cudaSuccess)
        return std::numeric_limits<double>::infinity();
      fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return fastest;
  }

  std::vector<unsigned> nodes_;
  std::map<unsigned, Gpu> gpus_;
};

std::unique_ptr<PeerMemory> make_cuda_peers() {
  if (!tile_interface::uses_heap() || starpu_cuda_worker_get_count() == 0) return nullptr;
  return std::make_unique<CudaPeers>();
}

}  // namespace

std::unique_ptr<PeerMemory> (*make_peer_memory)() = make_cuda_peers;

}  // namespace tessera::device
