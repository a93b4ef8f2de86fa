// SPDX-License-Identifier: BSD-3-Clause
// Measures the total rates of links that all copy at the same time, also while the devices compute.
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <span>

#include "common/not_copyable.hpp"
#include "devices/gpu.hpp"
#include "measured_product.hpp"

namespace tessera::device::gpu {

namespace {

/// Work that one device repeats on one stream, with two repetitions queued at any time.
class Repeated : common::NotCopyable {
 public:
  /// @param start  queues the work on the stream; the device is current
  Repeated(int device, cudaStream_t stream, std::function<void()> start)
      : device_(device), stream_(stream), start_(std::move(start)) {
    require(cudaSetDevice(device), "cudaSetDevice");
    for (auto& end : ends_) end = create_event(cudaEventDisableTiming);
    for (auto& end : ends_) queue(end);
  }
  ~Repeated() {
    if (cudaSetDevice(device_) == cudaSuccess) cudaStreamSynchronize(stream_);  // the work uses memory of its caller
  }

  /// Queues one more repetition if one has ended.
  void keep_busy() {
    auto& oldest = ends_[ended_ % ends_.size()];
    const auto status = cudaEventQuery(oldest.get());
    if (status == cudaErrorNotReady) {
      cudaGetLastError();  // not an error
      return;
    }
    require(status, "measured work");
    ended_++;
    require(cudaSetDevice(device_), "cudaSetDevice");
    queue(oldest);
  }
  std::size_t ended() const { return ended_; }

 private:
  void queue(const Event& end) {
    start_();
    require(cudaEventRecord(end.get(), stream_), "cudaEventRecord");
  }

  int device_;
  cudaStream_t stream_;
  std::function<void()> start_;
  std::array<Event, 2> ends_;
  std::size_t ended_ = 0;
};

/// Host blocks that the copies of a device use in turn, so that they do not stay in a cache of the host.
constexpr std::size_t host_blocks = 4;

/// Buffers and a stream of one device for copies in one direction, from or to the host or another device.
struct Path {
  int device;
  bool in;  ///< to this device
  DeviceMemory memory;
  Stream stream;
  HostMemory host;    ///< `host_blocks` blocks; null: the other end is a device
  DeviceMemory peer;  ///< one block

  std::unique_ptr<Repeated> repeat_copy(std::size_t bytes) const {
    return std::make_unique<Repeated>(device, stream.get(), [this, bytes, block = std::size_t{0}]() mutable {
      void* const other = host ? static_cast<char*>(host.get()) + bytes * (block++ % host_blocks) : peer.get();
      require(
          cudaMemcpyAsync(in ? memory.get() : other, in ? other : memory.get(), bytes, cudaMemcpyDefault, stream.get()),
          "a measured copy");
    });
  }
};

constexpr double settling = 0.1;  // seconds before the measurement, until links and clocks are steady

/// Memory of a device that has been written.
DeviceMemory allocate_written(int device, std::size_t bytes) {
  auto memory = allocate(device, bytes);
  require(cudaMemset(memory.get(), 1, bytes), "cudaMemset");
  return memory;
}

/// The total rates of the paths into their devices, out of them, and both ways at once.
/// @param n  order of the products that the devices compute in the meantime; 0: they compute nothing
BusyLinks rates_of(const std::vector<Path>& paths, const std::vector<int>& devices, int n, std::size_t bytes,
                   double seconds) {
  std::vector<Product<double>> products;
  products.reserve(devices.size());
  if (n > 0)
    for (const int device : devices) products.emplace_back(device, n);
  std::vector<std::unique_ptr<Repeated>> computing;
  for (std::size_t i = 0; i < products.size(); i++)
    computing.push_back(std::make_unique<Repeated>(devices[i], nullptr, [&product = products[i]] { product.start(); }));
  const auto rate = [&](bool in, bool out) {
    std::vector<std::unique_ptr<Repeated>> copies;
    for (const auto& path : paths)
      if (path.in ? in : out) copies.push_back(path.repeat_copy(bytes));
    const auto run = [&](double duration) {
      std::size_t ended = 0;
      for (const auto& copy : copies) ended -= copy->ended();
      const double begin = now();
      double passed = 0;
      do {
        for (auto* all : {&computing, &copies})
          for (auto& work : *all) work->keep_busy();
        passed = now() - begin;
      } while (passed < duration);
      for (const auto& copy : copies) ended += copy->ended();
      return static_cast<double>(ended) * static_cast<double>(bytes) / passed;
    };
    run(settling);
    return run(seconds);
  };
  return {.in = rate(true, false), .out = rate(false, true), .both = rate(true, true)};
}

}  // namespace

BusyLinks measure_busy_links(const std::vector<int>& devices, int n, std::size_t bytes, double seconds) {
  if (devices.empty()) return {};
  const KeepCurrentDevice keep;
  std::vector<Path> paths;
  for (const int device : devices)
    for (const bool in : {true, false}) {
      paths.push_back({device, in, allocate_written(device, bytes), create_stream(device),
                       allocate_host(host_blocks * bytes, device), nullptr});
      std::memset(paths.back().host.get(), 1, host_blocks * bytes);
    }
  return rates_of(paths, devices, n, bytes, seconds);
}

BusyLinks measure_links_of_first(const std::vector<int>& devices, int n, std::size_t bytes, double seconds) {
  if (devices.size() < 2) return {};
  const KeepCurrentDevice keep;
  const int first = devices.front();
  std::deque<PeerAccess> accesses;
  std::vector<Path> paths;
  for (const int device : std::span(devices).subspan(1)) {
    accesses.emplace_back(first, device), accesses.emplace_back(device, first);
    for (const bool in : {true, false})
      paths.push_back({device, in, allocate_written(device, bytes), create_stream(device), nullptr,
                       allocate_written(first, bytes)});
  }
  return rates_of(paths, devices, n, bytes, seconds);
}

}  // namespace tessera::device::gpu
