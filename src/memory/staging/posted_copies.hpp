// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "host_copies.hpp"

namespace tessera::memory::staging {

/// An operation of a stream on a counter.
struct CounterOperation {
  enum class Kind { Wait, Reach } kind;
  Moment moment;
};

/// How often a buffer has been filled and emptied: by the link in pieces, by the host in parts of pieces. Each buffer's
/// counters have their own cache line.
struct alignas(64) BufferCounters {
  std::uint32_t filled = 0, emptied = 0;
};

/// Copies of tiles through buffers, in one direction between the host and one GPU. The thread that drives the GPU only
/// posts them. It puts the link's copies into streams, where they wait for counters. Host threads pack and unpack
/// pieces as soon as the counters allow.
///
/// The host's copy of a piece has several parts, so that few pieces can keep many threads busy: a piece costs the
/// link's streams and the posting thread about as much time as copying half a megabyte.
///
/// Pieces use the buffers round-robin, and each buffer belongs to one of the link's streams: while one stream copies,
/// the next prepares. Towards the GPU, a host thread fills an empty buffer, and the link empties a full one. In the
/// other direction, the roles are reversed. Everything waits only for what was posted earlier, so there is no deadlock,
/// even if the device runs several streams in one queue. The host's copies for each stream have their own queue. They
/// become ready in the order in which they are posted, because the stream uses its buffers in order.
///
/// @tparam Job  the copy of a tile. It has
///              - piece_count(), and to_gpu, which is the same for all jobs
///              - part_count(piece): the number of parts of the host's copy
///              - on_host(piece, buffer): the copy between host memory and a buffer, a `HostCopy`
///              - copy_on_link(i, piece, buffer): adds the copy between a buffer and the GPU to the link's stream i
///              - add_to_link(i, operations): adds operations to that stream; several at a time cost as much as one
///              - add(operations): adds operations to the stream that waits for the job
///              - synchronize(): waits for all streams of the link; none of them still waits for a counter
template <typename Job, typename HostCopy>
class PostedCopies {
 public:
  /// @param data      memory of `buffers` buffers of `bytes` bytes; like the counters, accessible to the GPU
  /// @param counters  one for each buffer, all 0
  /// @param streams   number of streams of the link
  /// @param host      runs the host's copies; each stream permanently takes one of its queues
  /// @pre  there are at least two buffers; the buffers and their counters outlive the threads of `host`
  PostedCopies(std::byte* data, std::size_t bytes, BufferCounters* counters, std::size_t buffers, std::size_t streams,
               HostCopies<HostCopy>& host)
      : data_(data), bytes_(bytes), counters_(counters), host_(host), uses_(buffers), link_(streams) {
    while (queues_.size() < streams) queues_.push_back(host_.open());
  }

  /// The number of buffers that copies still need.
  std::size_t used() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < uses_.size(); i++)
      if (!Moment{&counters_[i].emptied, uses_[i].emptied}.is_reached()) count++;
    return count;
  }

  /// Makes the job's stream wait for the copy.
  /// @throws  any exception of the job's functions. Afterwards nothing may be posted. The tile is no longer accessed,
  ///         and its stream does not wait, but the contents of the tile are wrong
  /// @pre  no other thread is in this function
  void post(Job& job) {
    const auto name = host_.new_job();
    std::vector<Begun> begun;
    begun.reserve(static_cast<std::size_t>(job.piece_count()));
    try {
      post_pieces(job, name, begun);
    } catch (...) {
      for (const auto queue : queues_) host_.withdraw(queue, name);
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      for (const auto& piece : begun) piece.end(limit);
      job.synchronize();
      throw;
    }
  }

 private:
  /// Counter values that streams may wait for.
  struct Begun {
    Moment earlier, last;

    /// Makes the counter reach `last`. Another job may wait for `earlier`, so this first waits until the device reaches
    /// it.
    /// @param limit  if the device has not reached `earlier` by this time, it has failed
    void end(std::chrono::steady_clock::time_point limit) const {
      while (!earlier.is_reached() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      if (!last.is_reached()) last.reach();
    }
  };

  void post_pieces(Job& job, std::uint64_t name, std::vector<Begun>& begun) {
    using enum CounterOperation::Kind;
    std::vector<CounterOperation> ends;
    const auto flush = [&](std::size_t stream) { job.add_to_link(stream, std::exchange(link_[stream], {})); };
    for (int i = 0; i < job.piece_count(); i++) {
      const std::size_t buffer = next_++ % uses_.size(), stream = buffer % link_.size();
      auto& counters = counters_[buffer];
      auto* const data = data_ + buffer * bytes_;
      const int parts = job.part_count(i);
      auto& [filled, emptied] = uses_[buffer];
      const Moment empty{&counters.emptied, emptied};
      (job.to_gpu ? filled : emptied) += static_cast<std::uint32_t>(parts);
      (job.to_gpu ? emptied : filled)++;
      const Moment full{&counters.filled, filled}, done{&counters.emptied, emptied};
      begun.push_back({empty, job.to_gpu ? full : done});
      if (job.to_gpu) host_.post(queues_[stream], {job.on_host(i, data), empty, full, name, parts});
      link_[stream].push_back({Wait, job.to_gpu ? full : empty});
      flush(stream);
      job.copy_on_link(stream, i, data);
      link_[stream].push_back({Reach, job.to_gpu ? done : full});
      if (!job.to_gpu) host_.post(queues_[stream], {job.on_host(i, data), full, done, name, parts});
      ends.push_back({Wait, done});
    }
    for (std::size_t stream = 0; stream < link_.size(); stream++) flush(stream);
    job.add(ends);
  }

  std::byte* const data_;
  const std::size_t bytes_;
  BufferCounters* const counters_;
  HostCopies<HostCopy>& host_;
  std::vector<std::size_t> queues_;                  ///< queues of `host_`, by stream of the link
  std::vector<BufferCounters> uses_;                 ///< the counters when all that was posted has ended
  std::vector<std::vector<CounterOperation>> link_;  ///< the next operations to add, by stream of the link
  std::size_t next_ = 0;
};

}  // namespace tessera::memory::staging
