// SPDX-License-Identifier: BSD-3-Clause
// Measures the links and kernels of GPUs.
#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>

#include "devices/gpu.hpp"
#include "measured_product.hpp"

namespace tessera::device::gpu {

namespace {

/// A device with the memory and the stream for a measured copy.
struct Endpoint {
  int device;
  DeviceMemory memory;
  Stream stream;
};

/// Calls `start(endpoint)` for all endpoints, and returns the seconds until all of them have finished.
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

constexpr int attempts = 4;  ///< of each measurement; the shortest time counts, because other work only slows copies

/// The shortest time of a few attempts, after a warm-up.
template <typename Start>
double least_seconds_of(const std::vector<Endpoint*>& endpoints, Start start) {
  seconds_of(endpoints, start);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < attempts; i++) least = std::min(least, seconds_of(endpoints, start));
  return least;
}

/// The total rate while the first device sends to all others; 0 if there are none.
double rate_to_all_others(const std::vector<Endpoint*>& all, std::size_t bytes) {
  const std::vector others(all.begin() + 1, all.end());
  if (others.empty()) return 0;
  const auto& from = *all.front();
  std::deque<PeerAccess> accesses;
  for (const auto* to : others) accesses.emplace_back(from.device, to->device);
  const auto copy = [&](Endpoint& e) {
    return cudaMemcpyPeerAsync(e.memory.get(), e.device, from.memory.get(), from.device, bytes, e.stream.get());
  };
  return static_cast<double>(bytes) * static_cast<double>(others.size()) / least_seconds_of(others, copy);
}

/// The rates of copies from one device to each of all [bytes/s]; 0 for itself.
std::vector<double> rates_to_each(const Endpoint& from, const std::vector<Endpoint*>& all, std::size_t bytes) {
  std::vector<double> rates;
  for (auto* to : all) {
    if (&from == to) {
      rates.push_back(0);
      continue;
    }
    const PeerAccess access(from.device, to->device);
    const auto copy = [&](Endpoint& e) {
      return cudaMemcpyPeerAsync(e.memory.get(), e.device, from.memory.get(), from.device, bytes, e.stream.get());
    };
    rates.push_back(static_cast<double>(bytes) / least_seconds_of({to}, copy));
  }
  return rates;
}

}  // namespace

LinkRates measure_links(const std::vector<int>& devices, std::size_t bytes) {
  LinkRates rates;
  if (devices.empty()) return rates;
  const KeepCurrentDevice keep;
  const auto host = allocate_host(bytes * devices.size(), devices.front());
  std::memset(host.get(), 1, bytes * devices.size());
  std::vector<Endpoint> endpoints, leaving;  // `leaving`: copies out during copies in
  std::vector<Endpoint*> all, both;
  endpoints.reserve(devices.size()), leaving.reserve(devices.size());
  for (const int device : devices) {
    endpoints.push_back({device, allocate(device, bytes), create_stream(device)});
    leaving.push_back({device, allocate(device, bytes), create_stream(device)});
    all.push_back(&endpoints.back());
    both.insert(both.end(), {&endpoints.back(), &leaving.back()});
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
  const auto in_host = allocate_host(bytes * devices.size(), devices.front());  // the target of the copies out
  std::memset(in_host.get(), 1, bytes * devices.size());
  const auto in_and_out = [&](Endpoint& e) {
    const auto place = &e - leaving.data();
    if (place < 0 || place >= std::ssize(leaving)) return in(bytes)(e);
    return cudaMemcpyAsync(static_cast<char*>(in_host.get()) + place * static_cast<std::ptrdiff_t>(bytes),
                           e.memory.get(), bytes, cudaMemcpyDeviceToHost, e.stream.get());
  };
  const double size = static_cast<double>(bytes);
  for (auto* e : all) {
    rates.h2d.push_back(size / least_seconds_of({e}, in(bytes)));
    rates.d2h.push_back(size / least_seconds_of({e}, out));
    rates.latency.push_back(least_seconds_of({e}, in(4)));
  }
  rates.h2d_together = size * static_cast<double>(all.size()) / least_seconds_of(all, in(bytes));
  rates.d2h_together = size * static_cast<double>(all.size()) / least_seconds_of(all, out);
  rates.both_together = size * static_cast<double>(both.size()) / least_seconds_of(both, in_and_out);
  for (auto* from : all) rates.peer.push_back(rates_to_each(*from, all, bytes));
  rates.peers_together = rate_to_all_others(all, bytes);
  return rates;
}

double rate_of_pinned(void* data, std::size_t bytes, const std::vector<int>& devices) {
  const KeepCurrentDevice keep;
  const auto part = bytes / (2 * devices.size());
  std::vector<Endpoint> ends;
  ends.reserve(2 * devices.size());
  std::vector<Endpoint*> all;
  for (std::size_t i = 0; i < 2 * devices.size(); i++) {
    ends.push_back({devices[i / 2], allocate(devices[i / 2], part), create_stream(devices[i / 2])});
    all.push_back(&ends.back());
  }
  const auto copy = [&](Endpoint& e) {
    const auto index = static_cast<std::size_t>(&e - ends.data());
    auto* const host = static_cast<char*>(data) + index * part;
    const bool in = index % 2 == 0;
    return cudaMemcpyAsync(in ? e.memory.get() : host, in ? host : e.memory.get(), part,
                           in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, e.stream.get());
  };
  seconds_of(all, copy);  // warm-up
  return static_cast<double>(bytes) / seconds_of(all, copy);
}

namespace {

template <Scalar T>
double product_seconds(const std::vector<int>& devices, int n, double seconds) {
  const KeepCurrentDevice keep;
  std::vector<Product<T>> products;
  products.reserve(devices.size());
  for (const int device : devices) products.emplace_back(device, n);
  const auto run = [&](int repeats) {
    const double begin = now();
    for (int r = 0; r < repeats; r++)
      for (auto& product : products) product.start();
    for (auto& product : products) product.wait();
    return (now() - begin) / repeats;
  };
  run(1);
  return run(std::max(1, static_cast<int>(seconds / run(1))));
}

/// Seconds on the device for the work that `start` queues on a stream of the current device, the minimum of a few runs.
template <typename Start>
double best_seconds(cudaStream_t stream, Start start) {
  const auto begin = create_event(), end = create_event();
  constexpr int repeats = 5;
  float best = std::numeric_limits<float>::infinity();  // [ms]
  for (int r = 0; r < repeats; r++) {                   // the first run only warms up
    require(cudaEventRecord(begin.get(), stream), "cudaEventRecord");
    start();
    require(cudaEventRecord(end.get(), stream), "cudaEventRecord");
    require(cudaStreamSynchronize(stream), "a measurement");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    best = std::min(best, milliseconds);
  }
  return 1e-3 * static_cast<double>(best);
}

template <Scalar T>
double kernel_seconds(int device, int n) {
  const KeepCurrentDevice keep;
  Product<T> product(device, n);
  return best_seconds(nullptr, [&] { product.start(); });
}

}  // namespace

double memory_rate(int device, std::size_t bytes) {
  const KeepCurrentDevice keep;
  const auto from = allocate(device, bytes), to = allocate(device, bytes);
  const auto stream = create_stream(device);
  return 2 * static_cast<double>(bytes) / best_seconds(stream.get(), [&] {
           require(cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice, stream.get()),
                   "a measured copy");
         });
}

double product_seconds(char type, const std::vector<int>& devices, int n, double seconds) {
  return common::with_type(type, [&](auto zero) { return product_seconds<decltype(zero)>(devices, n, seconds); });
}

double kernel_seconds(char type, int device, int n) {
  return common::with_type(type, [&](auto zero) { return kernel_seconds<decltype(zero)>(device, n); });
}

std::vector<double> column_seconds(int device, const std::vector<std::size_t>& bytes, std::size_t apart,
                                   bool beside_products) {
  const KeepCurrentDevice keep;
  constexpr std::size_t columns = 128, copies = 16;
  const auto host = allocate_host(apart * columns, device);
  std::memset(host.get(), 1, apart * columns);
  const auto target = allocate(device, apart * columns);
  const auto stream = create_stream(device);
  const auto begin = create_event(), end = create_event();
  Product<double> product(device, 2048);
  product.start(), product.wait();
  const double product_begin = now();
  product.start(), product.wait();
  const double one_product = now() - product_begin;
  std::vector<double> seconds;
  for (const auto size : bytes) {
    const auto copy = [&] {
      require(
          cudaMemcpy2DAsync(target.get(), size, host.get(), apart, size, columns, cudaMemcpyHostToDevice, stream.get()),
          "a measured copy");
    };
    copy();
    require(cudaStreamSynchronize(stream.get()), "a measured copy");
    const double copy_begin = now();
    copy();
    require(cudaStreamSynchronize(stream.get()), "a measured copy");
    // Compute for twice as long as the copies take on an idle device, so the products outlast the copies.
    const double computing = 2 * static_cast<double>(copies) * (now() - copy_begin);
    const int products = beside_products ? 1 + static_cast<int>(computing / one_product) : 0;
    float least = std::numeric_limits<float>::infinity();  // [ms]
    for (int attempt = 0; attempt < attempts; attempt++) {
      for (int i = 0; i < products; i++) product.start();
      require(cudaEventRecord(begin.get(), stream.get()), "cudaEventRecord");
      for (std::size_t i = 0; i < copies; i++) copy();
      require(cudaEventRecord(end.get(), stream.get()), "cudaEventRecord");
      require(cudaStreamSynchronize(stream.get()), "a measured copy");
      if (beside_products) product.wait();
      float milliseconds = 0;
      require(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
      least = std::min(least, milliseconds);
    }
    seconds.push_back(1e-3 * static_cast<double>(least) / (columns * copies));
  }
  return seconds;
}

}  // namespace tessera::device::gpu
