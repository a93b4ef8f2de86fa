// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "host_copies.hpp"

namespace tessera::detail::staging {

/// What a stream does with a counter.
struct CounterOperation {
  enum class Kind { Wait, Reach } kind;
  Moment moment;
};

/// How often a buffer has been filled, and how often it has been emptied, in a cache line of its own.
struct alignas(64) BufferCounters {
  std::uint32_t filled = 0, emptied = 0;
};

/// Copies of tiles through buffers, in one direction between the host and one GPU, that the thread that drives the GPU
/// only posts: it puts the link's copies into a stream, where they wait for counters, and threads of the host pack and
/// unpack pieces as their counters allow.
///
/// Pieces take the buffers in turn. On the way to the GPU, a thread of the host fills a buffer when it is empty, and
/// the link empties it when it is full; on the way back, it is the other way round. Whatever waits was posted after
/// what it waits for. So nothing waits forever, even if the device runs several streams in one queue.
///
/// @tparam Job  the copy of a tile. It has
///              - piece_count(), and to_gpu, which is the same for all jobs
///              - copy_on_link(piece, buffer): adds the copy between a buffer and the GPU to the job's stream
///              - add(operations): adds operations to the stream; several at a time cost as much as one
///              - on_host(piece, buffer): what copies between host memory and a buffer, a `HostCopy`
template <typename Job, typename HostCopy>
class PostedCopies {
 public:
  /// @param data      memory of `buffers` buffers of `bytes` each, which the GPU can access, like the counters
  /// @param counters  one of each buffer, all 0
  /// @pre  there are at least two buffers
  PostedCopies(std::byte* data, std::size_t bytes, BufferCounters* counters, std::size_t buffers)
      : data_(data), bytes_(bytes), counters_(counters), uses_(buffers) {}

  /// Makes the job's stream wait for the copy.
  /// @throws  what a function of the job throws, after which nothing may be posted any more. Threads of the host do not
  ///          touch the tile then, and its stream does not wait for them, but does not hold what it should, either
  /// @pre  no other thread is in here
  void post(Job& job, HostCopies<HostCopy>& host) {
    const auto name = host.new_job();
    std::vector<Begun> begun;
    begun.reserve(static_cast<std::size_t>(job.piece_count()));
    try {
      post_pieces(job, name, host, begun);
    } catch (...) {
      host.withdraw(name);
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      for (const auto& piece : begun) piece.end(limit);
      throw;
    }
  }

 private:
  /// What streams may wait for.
  struct Begun {
    Moment earlier, last;

    /// Reaches `last` after `earlier`, which another job may wait for.
    /// @param limit  a device that has not got there by then has failed
    void end(std::chrono::steady_clock::time_point limit) const {
      while (!earlier.is_reached() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      if (!last.is_reached()) last.reach();
    }
  };

  void post_pieces(Job& job, std::uint64_t name, HostCopies<HostCopy>& host, std::vector<Begun>& begun) {
    using enum CounterOperation::Kind;
    std::vector<CounterOperation> operations, ends;
    const auto flush = [&] { job.add(std::exchange(operations, {})); };
    for (int i = 0; i < job.piece_count(); i++) {
      const std::size_t buffer = next_++ % uses_.size();
      auto& counters = counters_[buffer];
      const auto use = ++uses_[buffer];
      auto* const data = data_ + buffer * bytes_;
      const Moment empty{&counters.emptied, use - 1}, full{&counters.filled, use}, done{&counters.emptied, use};
      begun.push_back({empty, job.to_gpu ? full : done});
      if (job.to_gpu) host.post({job.on_host(i, data), empty, full, name});
      operations.push_back({Wait, job.to_gpu ? full : empty});
      flush();
      job.copy_on_link(i, data);
      operations.push_back({Reach, job.to_gpu ? done : full});
      if (job.to_gpu) continue;
      host.post({job.on_host(i, data), full, done, name});
      ends.push_back({Wait, done});
    }
    operations.insert(operations.end(), ends.begin(), ends.end());
    flush();
  }

  std::byte* const data_;
  const std::size_t bytes_;
  BufferCounters* const counters_;
  std::vector<std::uint32_t> uses_;  ///< by buffer
  std::size_t next_ = 0;
};

}  // namespace tessera::detail::staging
