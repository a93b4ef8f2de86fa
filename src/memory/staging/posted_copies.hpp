// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "copier.hpp"
#include "host_copies.hpp"
#include "stream_counters.hpp"

namespace tessera::detail::staging {

/// The part of a piece's copy that the host does.
struct HostCopy {
  Piece piece;
  void operator()() const { piece.copy_on_host(); }
};

/// Copies of tiles between pageable memory and one GPU that the thread that drives the GPU only posts: it puts the
/// link's copies into StarPU's stream, where they wait for counters, and threads of the host pack and unpack pieces as
/// their counters allow.
///
/// Pieces take pinned buffers in turn. A buffer counts how often it has been filled and how often it has been emptied.
/// On the way to the GPU, a thread of the host fills it when it is empty, and the link empties it when it is full; on
/// the way back, it is the other way round.
///
/// Each copy waits only for copies that were posted before it. So none waits forever, even if the device runs several
/// streams in one queue.
class PostedCopies {
 public:
  /// @param buffers  of `buffer_bytes` each
  /// @throws RuntimeError
  PostedCopies(const StreamCounters& streams, std::size_t buffers)
      : streams_(streams), data_(gpu::allocate_host(buffers * buffer_bytes)),
        memory_of_counters_(gpu::allocate_host(buffers * sizeof(Counters))), counters_(buffers), uses_(buffers) {
    for (std::size_t i = 0; i < buffers; i++)
      counters_[i] = new (static_cast<Counters*>(memory_of_counters_.get()) + i) Counters;
  }

  /// Makes `job.stream` wait for the copy of a tile.
  /// @param job   to or from the GPU of this object; its pieces fit the buffers
  /// @pre  the GPU is the current device, and no other thread is in here
  /// @throws RuntimeError  after which nothing may be posted any more. Streams do not wait for what was not posted
  void post(const TileCopy& job, HostCopies<HostCopy>& host) {
    using enum CounterOperation::Kind;
    std::vector<CounterOperation> operations, ends;  // a call for several costs as much as for one
    const auto flush = [&] { streams_.add(job.stream, std::exchange(operations, {})); };
    for (int i = 0; i < job.piece_count(); i++) {
      const std::size_t buffer = next_++ % uses_.size();
      auto& counters = *counters_[buffer];
      const auto use = ++uses_[buffer];
      const Piece piece(job, i, static_cast<std::byte*>(data_.get()) + buffer * buffer_bytes);
      const Moment empty{&counters.emptied, use - 1}, full{&counters.filled, use}, done{&counters.emptied, use};
      operations.push_back({Wait, job.to_gpu ? full : empty});
      try {
        flush();
        piece.copy_on_link(job.stream);
      } catch (...) {
        if (job.to_gpu) full.reach();  // the stream may wait for it
        throw;
      }
      operations.push_back({Reach, job.to_gpu ? done : full});
      if (job.to_gpu) host.post({{piece}, empty, full});
      else host.post({{piece}, full, done}), ends.push_back({Wait, done});
    }
    operations.insert(operations.end(), ends.begin(), ends.end());
    flush();
  }

 private:
  struct alignas(64) Counters {  // a cache line of their own
    std::uint32_t filled = 0, emptied = 0;
  };

  const StreamCounters streams_;
  gpu::HostMemory data_, memory_of_counters_;
  std::vector<Counters*> counters_;  ///< by buffer
  std::vector<std::uint32_t> uses_;  ///< by buffer
  std::size_t next_ = 0;
};

}  // namespace tessera::detail::staging
