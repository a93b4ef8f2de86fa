// SPDX-License-Identifier: BSD-3-Clause
// Copies through buffers that are only posted. Threads play the streams of a GPU.
#include "memory/staging/posted_copies.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tessera::test::posted_copies_cpp {
namespace {

using memory::staging::BufferCounters;
using memory::staging::CounterOperation;
using testing::Each;
using namespace std::chrono_literals;
using HostCopy = std::function<void(int)>;
using HostCopies = memory::staging::HostCopies<HostCopy>;

/// Runs the added functions one after another.
class Stream {
 public:
  void add(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    added_++;
  }
  /// Returns when all functions added so far have ended.
  void synchronize() {
    while (done_ < added_) std::this_thread::yield();
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::optional<std::function<void()>> next;
      {
        const std::lock_guard lock(mutex_);
        if (!work_.empty()) next = std::move(work_.front()), work_.pop_front();
      }
      if (next) (*next)(), done_++;
      else std::this_thread::yield();
    }
  }

  std::atomic<int> added_ = 0, done_ = 0;
  std::mutex mutex_;
  std::deque<std::function<void()>> work_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

/// The copy of a tile whose pieces are numbers. The host copies each half of a number separately.
struct Copy {
  Stream& stream;
  std::array<Stream, 2>& link;
  std::vector<int>&host, &gpu;
  bool to_gpu;
  int fails_at = -1;  ///< the call of `add` or `copy_on_link` that throws
  int calls = 0;

  void call() {
    if (calls++ == fails_at) throw std::runtime_error("as it should");
  }
  int piece_count() const { return static_cast<int>(host.size()); }
  void add(const std::vector<CounterOperation>& operations) { add_to(stream, operations); }
  void add_to_link(std::size_t i, const std::vector<CounterOperation>& operations) { add_to(link[i], operations); }
  void copy_on_link(std::size_t i, int piece, std::byte* buffer) {
    call();
    auto* const number = &gpu[static_cast<std::size_t>(piece)];
    link[i].add(
        [=, in = to_gpu] { in ? std::memcpy(number, buffer, sizeof(int)) : std::memcpy(buffer, number, sizeof(int)); });
  }
  void synchronize() {
    for (auto& one : link) one.synchronize();
  }
  int part_count(int /*piece*/) const { return 2; }
  HostCopy on_host(int piece, std::byte* buffer) const {
    auto* const number = reinterpret_cast<std::byte*>(&host[static_cast<std::size_t>(piece)]);
    return [=, in = to_gpu](int part) {
      constexpr std::size_t half = sizeof(int) / 2;
      auto *const of_number = number + static_cast<std::size_t>(part) * half, *const of_buffer =
                                                                                  buffer +
                                                                                  static_cast<std::size_t>(part) * half;
      in ? std::memcpy(of_buffer, of_number, half) : std::memcpy(of_number, of_buffer, half);
    };
  }

 private:
  void add_to(Stream& one, const std::vector<CounterOperation>& operations) {
    call();
    for (const auto& [kind, moment] : operations)
      one.add([kind = kind, moment = moment] {
        if (kind == CounterOperation::Kind::Reach) return moment.reach();
        while (!moment.is_reached()) std::this_thread::yield();
      });
  }
};

class Posted : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr std::size_t buffers = 3;

  std::vector<int>& source(std::vector<int>& host, std::vector<int>& gpu) const { return GetParam() ? host : gpu; }
  std::vector<int>& target(std::vector<int>& host, std::vector<int>& gpu) const { return GetParam() ? gpu : host; }

  /// Buffers, their counters, and threads that copy.
  struct Buffers {
    std::array<int, buffers> data{};
    std::array<BufferCounters, buffers> counters{};
    HostCopies threads{3, 2, 0us};
    memory::staging::PostedCopies<Copy, HostCopy> copies{
        reinterpret_cast<std::byte*>(data.data()), sizeof(int), counters.data(), buffers, 2, threads};
  };

  Buffers buffers_;
  std::array<Stream, 2> link_;
  Stream stream_;
};

TEST_P(Posted, AreThereWhenTheStreamIs) {
  std::vector<std::vector<int>> host, gpu;
  std::vector<Copy> all;
  for (const std::size_t pieces : {0, 1, 2, 3, 4, 7, 40, 1, 11})
    host.emplace_back(pieces, -1), gpu.emplace_back(pieces, -2);
  int number = 0;
  for (std::size_t i = 0; i < host.size(); i++) {
    for (auto& value : source(host[i], gpu[i])) value = ++number;
    all.push_back({stream_, link_, host[i], gpu[i], GetParam()});
  }
  for (auto& copy : all) buffers_.copies.post(copy);
  stream_.synchronize();
  EXPECT_EQ(host, gpu);
}

TEST_P(Posted, UseBuffersUntilTheyHaveEnded) {
  std::atomic<bool> blocked = true;
  for (auto& stream : link_)
    stream.add([&blocked] {
      while (blocked) std::this_thread::yield();
    });
  EXPECT_EQ(buffers_.copies.used(), 0U);
  std::vector<int> host(2, 1), gpu(2, 2);
  Copy copy{stream_, link_, host, gpu, GetParam()};
  buffers_.copies.post(copy);
  EXPECT_EQ(buffers_.copies.used(), 2U);
  blocked = false;
  stream_.synchronize();
  EXPECT_EQ(buffers_.copies.used(), 0U);
}

// Wherever it fails, the stream ends, and host threads touch nothing afterwards. All earlier copies are right.
TEST_P(Posted, FailAtOnce) {
  constexpr std::size_t pieces = 8;
  for (int call = 0; call <= 2 * static_cast<int>(pieces) + 2; call++) {
    Buffers fresh;
    std::vector<int> host(pieces, 1), gpu(pieces, 2), failed_host(pieces, 3), failed_gpu(pieces, 4);
    Copy good{stream_, link_, host, gpu, GetParam()}, bad{stream_, link_, failed_host, failed_gpu, GetParam(), call};
    fresh.copies.post(good);
    EXPECT_THROW(fresh.copies.post(bad), std::runtime_error);
    const auto left = failed_host;
    std::ranges::fill(failed_host, 5), std::ranges::fill(failed_gpu, 6);
    stream_.synchronize();
    good.synchronize();
    EXPECT_THAT(target(host, gpu), Each(GetParam() ? 1 : 2)) << call;
    EXPECT_THAT(failed_host, Each(5)) << call;
    EXPECT_THAT(failed_gpu, Each(6)) << call;
    EXPECT_THAT(left, Each(testing::AnyOf(3, 4))) << call;
  }
}

INSTANTIATE_TEST_SUITE_P(Directions, Posted, testing::Bool(), [](const auto& direction) {
  return std::string(direction.param ? "ToTheGpu" : "FromTheGpu");
});

}  // namespace
}  // namespace tessera::test::posted_copies_cpp
