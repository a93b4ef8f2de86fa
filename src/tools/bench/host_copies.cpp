// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "bench/timing.hpp"
#include "devices/cpu/copying_threads.hpp"
#include "memory/staging/host_copies.hpp"
#include "memory/staging/posted_copies.hpp"
#include "shared/formatting.hpp"
#include "shared/json_lines.hpp"

namespace tessera::bench {

namespace {

using memory::staging::BufferCounters;
using memory::staging::Moment;
using tools::aligned, tools::significant;

struct Nothing {
  void operator()(int /*part*/) const {}
};
using Queues = memory::staging::HostCopies<Nothing>;

constexpr std::uint32_t buffers = 24, ahead = 2 * buffers;

using Counters = std::array<BufferCounters, buffers>;

/// Posts empty copies, each of which fills a buffer, and empties the buffers in the place of a link. Half of the posted
/// copies always wait until their buffer is empty.
void feed(Queues& copies, Counters& counters, std::uint32_t count) {
  const auto queue = copies.open();
  for (std::uint32_t i = 0; i < count + ahead; i++) {
    const auto use = i / buffers + 1;
    if (auto& buffer = counters[i % buffers]; i < count)
      copies.post(queue, {{}, {&buffer.emptied, use - 1}, {&buffer.filled, use}});
    if (i < ahead) continue;
    auto& buffer = counters[i % buffers];  // the buffer of the copy that was posted `ahead` copies earlier
    const auto filled = use - ahead / buffers;
    while (!Moment{&buffer.filled, filled}.is_reached()) std::this_thread::yield();
    Moment{&buffer.emptied, filled}.reach();
  }
}

/// Copies per second.
double queue_rate(std::size_t feeders, std::size_t threads, std::uint32_t count) {
  std::vector<Counters> counters(feeders);
  Queues copies(threads, feeders);
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> all;
    for (auto& of_feeder : counters)
      all.emplace_back([&] { feed(copies, of_feeder, count / static_cast<std::uint32_t>(feeders)); });
  }
  return count / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void measure_host_copies(const Options& options, Progress& progress) {
  tools::JsonLines json(options.json);
  const auto print = [&](const std::string& line) {
    progress.clear();
    json.note(tools::trimmed(line));
  };
  progress.begin("copies in host memory");
  progress.show("rate by threads");
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const auto [curve, busy] = device::measure_host_copies(cores);
  print(fmt::format("Copies in host memory by the number of threads{}\n",
                    busy ? "; other programs used the cores part of the time" : ""));
  print(aligned("threads", 7) + "   GB/s");
  for (const auto& [threads, seconds] : curve.points()) {
    print(aligned(fmt::format("{}", threads), 7) + aligned(significant(threads / seconds, 3), 6));
    json.write({{"copying_threads", threads}, {"gb_per_s", threads / seconds}, {"busy", busy}});
  }
  print(fmt::format(
      "\nThreads that nearly reach the best rate: {}. At most {} threads copy with one GPU, and {} with four.\n",
      device::fewest_copying_threads(curve), device::most_copying_threads(1), device::most_copying_threads(4)));
  constexpr std::uint32_t count = 200000;
  print(
      fmt::format("Copies that do nothing, through the queues of posted copies; median of {} runs\n", options.repeat));
  print("feeders  threads  copies/s");
  for (const std::size_t feeders : {1, 2, 4, 8}) {
    const auto threads = std::max(cores, feeders + 1) - feeders;
    std::vector<double> rates;
    for (int run = 0; run < options.repeat; run++) {
      progress.show(fmt::format("{} feeders, {}/{}", feeders, run + 1, options.repeat));
      rates.push_back(queue_rate(feeders, threads, count));
    }
    const double rate = median(rates);
    print(aligned(std::to_string(feeders), 7) + aligned(std::to_string(threads), 8) +
          aligned(fmt::format("{:.0f}", rate), 9));
    json.write({{"feeders", feeders}, {"copying_threads", threads}, {"copies_per_s", rate}});
  }
}

}  // namespace tessera::bench
