// SPDX-License-Identifier: BSD-3-Clause
// Measures the rates of links while the devices and all other links are busy.
#include <array>
#include <cstring>
#include <functional>

#include "gpu.hpp"
#include "measured_product_cuda.hpp"

namespace tessera::gpu {

namespace {

/// Work that one device repeats on one stream, with two repetitions queued at any time.
class Repeated {
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
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;

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

/// Buffers and a stream of one device for copies in one direction.
struct Path {
  int device;
  cudaMemcpyKind kind;
  DeviceMemory memory;
  Stream stream;
  HostMemory host;

  std::unique_ptr<Repeated> repeat_copy(std::size_t bytes) const {
    return std::make_unique<Repeated>(device, stream.get(), [this, bytes, block = std::size_t{0}]() mutable {
      void* const part = static_cast<char*>(host.get()) + bytes * (block++ % host_blocks);
      const bool in = kind == cudaMemcpyHostToDevice;
      require(cudaMemcpyAsync(in ? memory.get() : part, in ? part : memory.get(), bytes, kind, stream.get()),
              "a measured copy");
    });
  }
};

constexpr double settling = 0.1;  // seconds before the measurement, until links and clocks are steady

}  // namespace

BusyLinks measure_busy_links(const std::vector<int>& devices, int n, std::size_t bytes, double seconds) {
  if (devices.empty()) return {};
  const KeepCurrentDevice keep;
  std::vector<Product<double>> products;
  std::vector<Path> paths;
  products.reserve(devices.size()), paths.reserve(2 * devices.size());
  for (const int device : devices) {
    products.emplace_back(device, n);
    for (const auto kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost}) {
      auto memory = allocate(device, bytes);
      require(cudaMemset(memory.get(), 1, bytes), "cudaMemset");
      paths.push_back({device, kind, std::move(memory), create_stream(device), allocate_host(host_blocks * bytes)});
      std::memset(paths.back().host.get(), 1, host_blocks * bytes);
    }
  }
  std::vector<std::unique_ptr<Repeated>> computing;
  for (std::size_t i = 0; i < devices.size(); i++)
    computing.push_back(std::make_unique<Repeated>(devices[i], nullptr, [&product = products[i]] { product.start(); }));
  const auto rate = [&](bool in, bool out) {
    std::vector<std::unique_ptr<Repeated>> copies;
    for (const auto& path : paths)
      if (path.kind == cudaMemcpyHostToDevice ? in : out) copies.push_back(path.repeat_copy(bytes));
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

}  // namespace tessera::gpu
