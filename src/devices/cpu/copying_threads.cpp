// SPDX-License-Identifier: BSD-3-Clause
#include "copying_threads.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/cache.hpp"
#include "common/streaming_copy.hpp"
#include "devices/rates_cache.hpp"
#include "free_memory.hpp"
#include "topology.hpp"

namespace tessera::device {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t piece = std::size_t{1} << 20;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Processor time of the calling thread [s].
double own_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// A block of memory that is larger than most caches, a second one, and threads that copy pieces from one to the other,
/// in alternating directions. If the second one is smaller, each thread uses its part of it again and again.
class Blocks {
 public:
  /// @param second  bytes of the second block, if it is smaller
  explicit Blocks(std::size_t second = std::numeric_limits<std::size_t>::max())
      : bytes_(std::clamp(static_cast<std::size_t>(free_memory() / 16) / piece, std::size_t{16}, std::size_t{256}) *
               piece),
        second_bytes_(std::min(bytes_, second)), first_(std::make_unique_for_overwrite<std::byte[]>(bytes_)),
        second_(std::make_unique_for_overwrite<std::byte[]>(second_bytes_)) {}

  /// @return  seconds until everything is copied
  double copy(std::size_t threads) {
    const std::size_t own = std::max<std::size_t>(1, second_bytes_ / piece / threads);  // pieces
    return run(threads, [this, own](std::size_t at, std::size_t thread) {
      const auto to = second_bytes_ == bytes_ ? at : (thread * own + at / piece % own) * piece;
      auto *const one = &first_[at], *const other = &second_[to];
      at / piece % 2 == 0 ? std::memcpy(other, one, piece) : std::memcpy(one, other, piece);
    });
  }
  /// Makes the system allocate the pages.
  void touch(std::size_t threads) {
    run(threads, [this](std::size_t at, std::size_t /*thread*/) {
      std::memset(&first_[at], 1, piece);
      if (at < second_bytes_) std::memset(&second_[at], 2, piece);
    });
  }

  std::size_t bytes() const { return bytes_; }
  /// Whether the threads of the last `copy` had to wait for cores.
  bool busy() const { return busy_; }

 private:
  /// Uses fewer threads if the system refuses to create them.
  template <typename Work>
  double run(std::size_t threads, Work work) {
    std::atomic<std::size_t> next = 0, started = 0;
    std::barrier together(static_cast<std::ptrdiff_t>(threads));
    std::atomic<double> seconds = 0, all_seconds = 0, all_own = 0;
    const auto serve = [&] {
      const auto thread = started++;
      together.arrive_and_wait();
      const auto begin = Clock::now();
      const double own = own_seconds();
      for (std::size_t first; (first = next.fetch_add(piece)) < bytes_;) work(first, thread);
      const double wall = seconds_since(begin);
      all_own += own_seconds() - own, all_seconds += wall;
      for (double longest = seconds; longest < wall && !seconds.compare_exchange_weak(longest, wall);) {
      }
    };
    {
      std::vector<std::jthread> others;
      try {
        while (others.size() + 1 < threads) others.emplace_back(serve);
      } catch (const std::system_error&) {  // wakes the threads that wait at the barrier for the missing ones
        for (auto missing = threads - 1 - others.size(); missing > 0; missing--) together.arrive_and_drop();
      }
      serve();
    }
    constexpr double undisturbed = 0.9;
    busy_ = all_own < undisturbed * all_seconds;
    return seconds;
  }

  std::size_t bytes_, second_bytes_;
  std::unique_ptr<std::byte[]> first_, second_;
  bool busy_ = false;
};

/// The model name of the processor, as Linux reports it.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const auto colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return "a processor";
}

}  // namespace

HostCopyRates measure_host_copies(std::size_t most, bool through_buffers) {
  std::vector<std::size_t> counts;
  for (std::size_t power = 1; power < most; power *= 2) {
    counts.push_back(power);
    if (const auto between = power + power / 2; power > 1 && between < most) counts.push_back(between);
  }
  counts.push_back(std::max<std::size_t>(1, most));
  // As many pieces as a GPU has buffers for one direction, and one for each thread.
  auto blocks = through_buffers ? Blocks(std::max<std::size_t>(48, most) * piece) : Blocks();
  blocks.touch(counts.back());
  HostCopyRates measured;
  std::vector<CostCurve::Point> points;
  for (const auto threads : counts) {
    double best = blocks.copy(threads);
    bool busy = blocks.busy();
    if (const double again = blocks.copy(threads); again < best) best = again, busy = blocks.busy();
    measured.busy |= busy;
    const auto count = static_cast<double>(threads);
    points.push_back({count, best * count * 1e9 / static_cast<double>(blocks.bytes())});
  }
  measured.by_threads = CostCurve(std::move(points));
  return measured;
}

std::size_t fewest_copying_threads(const CostCurve& by_threads, double wanted) {
  constexpr double nearly = 0.95;  // two measurements may differ by this much
  const double enough = nearly * std::min(wanted, by_threads.best_rate());
  for (const auto& point : by_threads.points())
    if (point.amount / point.seconds >= enough) return static_cast<std::size_t>(point.amount);
  return 1;
}

std::size_t most_copying_threads(std::size_t drivers, std::size_t cores) {
  const std::size_t others = std::max(drivers + 1, cores / 4);
  return cores > others + 1 ? cores - others : 1;
}

std::size_t streamed_bytes(std::size_t caches, std::size_t devices, double rate_streamed, double links) {
  constexpr double from_caches = 0.5;  // the rate of a link that reads from there, on the host of an H200
  return common::can_stream && devices > 0 && rate_streamed > from_caches * links ? caches / devices : 0;
}

CopyingThreads copying_threads(std::size_t drivers, double links) {
  const auto most = most_copying_threads(drivers);
  if (drivers == 0) return {most};
  struct Curves {
    CostCurve memory, buffers;
  };
  static std::mutex measuring;
  static auto& known = *new std::map<std::size_t, Curves>;  // never destroyed, since a session may outlive it
  const std::lock_guard lock(measuring);
  auto& [memory, buffers] = known[most];
  const RatesCache cache(common::cache_directory().value_or(std::filesystem::path()), processor(),
                         std::to_string(std::thread::hardware_concurrency()) + " at a time");
  const auto provide = [&](CostCurve& curve, bool through_buffers) {
    if (!curve.empty()) return;
    const auto name =
        std::string(through_buffers ? "copies through buffers" : "copies") + " of up to " + std::to_string(most);
    curve = cache.find(name);
    if (!curve.empty()) return;
    auto [measured, busy] = measure_host_copies(most, through_buffers);
    if (!busy || most == 1) cache.keep(name, measured);  // few cores are never all idle, since workers poll
    curve = std::move(measured);
  };
  CopyingThreads chosen{most};
  try {
    provide(memory, false);
    chosen.count = fewest_copying_threads(memory, links);
    provide(buffers, true);
    const auto amount = static_cast<double>(chosen.count);
    chosen.rate = 2 * amount / (memory.seconds(amount) + buffers.seconds(amount));
    chosen.rate_of_one = 1 / buffers.seconds(1);
    chosen.rate_streamed = amount / memory.seconds(amount);
  } catch (const std::bad_alloc&) {  // not enough memory to measure
  }
  static const auto [cores, caches] = [] {
    const Topology machine;
    return std::pair(static_cast<std::size_t>(std::max(1, machine.cores())), machine.second_level_caches());
  }();
  chosen.streamed =
      streamed_bytes(caches / cores * std::min(chosen.count, cores), drivers, chosen.rate_streamed, links);
  return chosen;
}

}  // namespace tessera::device
