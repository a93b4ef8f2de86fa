// SPDX-License-Identifier: BSD-3-Clause
#include "staging.hpp"

#include <starpu.h>
#include <starpu_cuda.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "common/overwrites.hpp"
#include "copier.hpp"
#include "corners.hpp"
#include "devices/cpu/copying_threads.hpp"
#include "devices/packed_columns.hpp"
#include "devices/partial_tile.hpp"
#include "devices/places.hpp"
#include "memory/staging/posted_copies.hpp"
#include "memory/staging/thread_pool.hpp"
#include "stream_counters.hpp"

namespace tessera::device::staging {

namespace {

// Not destroyed at exit: a forked child has neither the threads nor the GPUs.
memory::staging::ThreadPool<Copier>* pool = nullptr;
Corners* corners = nullptr;
std::size_t streamed = 0;  ///< see CopyingThreads

/// The host's part of copying a piece.
struct HostCopy {
  Piece piece;
  int parts = piece.part_count(part_bytes);
  void operator()(int part) const { piece.copy_on_host(part, parts); }
};

/// A posted copy of a tile.
struct PostedCopy {
  const TileCopy& copy;
  const StreamCounters& stream_counters;
  std::span<const gpu::Stream> link;
  bool to_gpu = copy.to_gpu;

  int piece_count() const { return copy.piece_count(); }
  int part_count(int piece) const { return Piece(copy, piece, nullptr).part_count(part_bytes); }
  void add(const std::vector<memory::staging::CounterOperation>& operations) const {
    stream_counters.add(copy.stream, operations);
  }
  void add_to_link(std::size_t stream, const std::vector<memory::staging::CounterOperation>& operations) const {
    stream_counters.add(link[stream].get(), operations);
  }
  void copy_on_link(std::size_t stream, int piece, std::byte* buffer) const {
    Piece(copy, piece, buffer).copy_on_link(link[stream].get());
  }
  void synchronize() const {
    for (const auto& stream : link) cudaStreamSynchronize(stream.get());
  }
  HostCopy on_host(int piece, std::byte* buffer) const { return {Piece(copy, piece, buffer)}; }
};

/// Streams of the link for each GPU and direction.
constexpr std::size_t streams_of_link = 2;

/// Posts the copies of GPUs that are attached to the same part of the host. The copying threads run there, and the
/// buffers are there as well: the thread that drives a GPU allocates them, and StarPU lets that thread run near the
/// GPU.
class Posting {
 public:
  /// @param buffers  number of buffers for each GPU and direction
  /// @param threads  number of copying threads
  /// @param gpus     number of GPUs
  /// @param place    the place of one of the GPUs
  Posting(const StreamCounters& stream_counters, std::size_t buffers, std::size_t threads, std::size_t gpus,
          const Place& place)
      : stream_counters_(stream_counters), buffers_(buffers),
        host_(threads, gpus * directions_.front().size() * streams_of_link, std::chrono::milliseconds(1),
              [&place] { run_near(place); }) {}

  std::size_t threads() const { return host_.threads(); }

  /// @return  false if copies of this GPU in this direction cannot be posted, or can no longer be posted
  /// @throws RuntimeError
  bool post(TileCopy job) {
    job.select_device();
    auto& direction = directions_[static_cast<std::size_t>(job.gpu)][job.to_gpu ? 1 : 0];
    const std::lock_guard lock(direction.mutex);
    if (direction.failed) return false;
    direction.failed = true;
    if (!direction.copies && !prepare(direction, job.gpu)) return false;
    job.streams = job.to_gpu && streamed > 0 &&
                  (direction.copies->used() + job.pieces.size()) * buffer_bytes <= streamed;  // in whole buffers
    PostedCopy posted{job, stream_counters_, direction.link};
    direction.copies->post(posted);
    direction.failed = false;
    return true;
  }

 private:
  struct Direction {
    std::mutex mutex;
    bool failed = false;
    gpu::HostMemory data, counters;
    std::vector<gpu::Stream> link;
    std::optional<memory::staging::PostedCopies<PostedCopy, HostCopy>> copies;
  };

  /// @return  false if the system does not pin more memory, or if the device's streams do not support counters
  bool prepare(Direction& direction, int gpu) {
    try {
      direction.data = gpu::allocate_host(buffers_ * buffer_bytes, gpu);
      direction.counters = gpu::allocate_host(buffers_ * sizeof(memory::staging::BufferCounters), gpu);
      auto* const counters = static_cast<memory::staging::BufferCounters*>(direction.counters.get());
      std::uninitialized_value_construct_n(counters, buffers_);
      while (direction.link.size() < streams_of_link) direction.link.push_back(gpu::create_stream(gpu));
      auto* const first = direction.link.front().get();
      stream_counters_.add(first, std::array{memory::staging::CounterOperation{
                                      memory::staging::CounterOperation::Kind::Reach, {&counters->emptied, 0}}});
      gpu::require(cudaStreamSynchronize(first), "cudaStreamSynchronize");
      direction.copies.emplace(static_cast<std::byte*>(direction.data.get()), buffer_bytes, counters, buffers_,
                               direction.link.size(), host_);
    } catch (const RuntimeError&) {
      cudaGetLastError();  // clears the error, or a later call would report it
    }
    return direction.copies.has_value();
  }

  const StreamCounters stream_counters_;
  const std::size_t buffers_;
  std::array<std::array<Direction, 2>, STARPU_MAXCUDADEVS> directions_;  ///< by CUDA ordinal
  memory::staging::HostCopies<HostCopy> host_;  ///< last, so that its threads end before the buffers are freed
};
std::map<int, std::shared_ptr<Posting>>* posting = nullptr;  ///< by GPU; null: copies cannot be posted

/// Copies a rectangle of a tile directly.
void copy_rectangle(const starpu_matrix_interface& source, unsigned from, const starpu_matrix_interface& target,
                    unsigned to, const Rectangle& part, cudaStream_t stream, cudaMemcpyKind kind) {
  const auto at = [&](const starpu_matrix_interface& tile) {
    return reinterpret_cast<std::byte*>(tile.ptr) + offset(tile, part.i, part.j);
  };
  if (kind == cudaMemcpyDeviceToHost)
    common::overwrites::before(at(target), reinterpret_cast<const std::byte*>(target.ptr) +
                                               offset(target, part.i + part.m, part.j + part.n - 1));
  const auto height = static_cast<std::size_t>(part.m) * source.elemsize, columns = static_cast<std::size_t>(part.n),
             source_ld = source.ld * source.elemsize, target_ld = target.ld * source.elemsize;
  if (height == source_ld && height == target_ld)
    starpu_cuda_copy_async_sync(at(source), from, at(target), to, height * columns, stream, kind);
  else if (std::max(source_ld, target_ld) > most_apart)
    for (std::size_t j = 0; j < columns; j++)
      starpu_cuda_copy_async_sync(at(source) + j * source_ld, from, at(target) + j * target_ld, to, height, stream,
                                  kind);
  else
    starpu_cuda_copy2d_async_sync(at(source), from, at(target), to, height, columns, source_ld, target_ld, stream,
                                  kind);
}

/// Copies a tile between host memory and a GPU. From pinned memory, panels are copied directly. To pinned memory, only
/// the rectangles of panels are copied directly; a kernel copies the corners, or they go through staging buffers if the
/// GPU cannot write to that memory. In pageable memory, all panels go through staging buffers. These copies are posted
/// if possible; otherwise the calling thread takes part in them.
template <bool to_gpu, bool pinned>
int copy(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  const auto& s = *static_cast<const PartialTile*>(source);
  const auto& t = *static_cast<const PartialTile*>(target);
  const auto& host = to_gpu ? s : t;
  const auto element = host.matrix.elemsize;
  std::vector<Rectangle> pieces;
  const auto largest =
      posting != nullptr ? posted_piece_bytes(host.bytes) : piece_bytes(host.bytes, pool->threads() + 1);
  const auto stage = [&](const Rectangle& part) { cut(part, element, largest, pieces); };
  const auto direct = [&](const Rectangle& part) {
    copy_rectangle(s.matrix, from, t.matrix, to, part, stream,
                   to_gpu ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
  };
  const auto job = [&]() -> TileCopy {
    return {&host, to_gpu ? &t : &s, pieces, to_gpu, starpu_memory_node_get_devid(to_gpu ? to : from), stream};
  };
  try {
    if constexpr (pinned && !to_gpu) {
      std::vector<Rectangle> uncut;
      for_each_part(host, direct, [&](const Rectangle& corner) { uncut.push_back(corner); });
      if (!uncut.empty() && !corners->copy(host, s, uncut, starpu_memory_node_get_devid(from), stream)) {
        for (const auto& corner : uncut) stage(corner);
        pool->run(job());
      }
    } else if constexpr (pinned) {
      const auto by_columns = [&](const Rectangle& corner) { for_each_used_column(host, corner, direct); };
      if (static_cast<int>(to) == host.home) for_each_part(host, direct, by_columns);
      else for_each_panel(host, direct);
    } else {
      for_each_panel(host, stage);
      if (!pieces.empty() &&
          (posting == nullptr || !posting->at(starpu_memory_node_get_devid(to_gpu ? to : from))->post(job())))
        pool->run(job());
    }
  } catch (const std::exception& error) {
    common::report_failure(error.what());
  }
  starpu_interface_data_copy(from, to, s.bytes);
  return -EAGAIN;  // tells StarPU to wait for the copies in the stream
}

/// Copies a tile between GPUs. In the caller's memory, exactly the used part is written: a kernel of the target copies
/// the corners of panels if it can access the source; otherwise each column is copied.
int copy_to_peer(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  const auto& s = *static_cast<const PartialTile*>(source);
  const auto& t = *static_cast<const PartialTile*>(target);
  const auto direct = [&](const Rectangle& part) {
    copy_rectangle(s.matrix, from, t.matrix, to, part, stream, cudaMemcpyDeviceToDevice);
  };
  try {
    std::vector<Rectangle> uncut;
    if (static_cast<int>(to) == s.home) for_each_part(s, direct, [&](const Rectangle& part) { uncut.push_back(part); });
    else for_each_panel(s, direct);
    const bool reachable = starpu_bus_get_direct(starpu_bus_get_id(static_cast<int>(from), static_cast<int>(to))) != 0;
    if (!uncut.empty() && !(reachable && corners->copy(t, s, uncut, starpu_memory_node_get_devid(to), stream)))
      for (const auto& corner : uncut) for_each_used_column(s, corner, direct);
  } catch (const std::exception& error) {
    common::report_failure(error.what());
  }
  starpu_interface_data_copy(from, to, s.bytes);
  return -EAGAIN;
}

template <bool pinned>
const starpu_data_copy_methods* methods_for() {
  static const auto methods = [] {
    auto staged = *partial_tile_ops().copy_methods;
    staged.ram_to_cuda_async = copy<true, pinned>;
    staged.cuda_to_ram_async = copy<false, pinned>;
    staged.cuda_to_cuda_async = copy_to_peer;
    return staged;
  }();
  return &methods;
}

}  // namespace

const starpu_data_copy_methods* pinned_copies() { return methods_for<true>(); }
const starpu_data_copy_methods* pageable_copies() { return methods_for<false>(); }

namespace {

/// The total rate of the links from the host to all GPUs, according to StarPU [GB/s].
double rate_of_links() {
  double rate = 0;
  std::set<unsigned> nodes;  // a GPU may have several workers
  for (unsigned i = 0; i < starpu_cuda_worker_get_count(); i++) {
    const int worker = starpu_worker_get_by_type(STARPU_CUDA_WORKER, static_cast<int>(i));
    if (const auto node = starpu_worker_get_memory_node(static_cast<unsigned>(worker)); nodes.insert(node).second)
      rate += 1e-3 * starpu_transfer_bandwidth(STARPU_MAIN_RAM, node);  // StarPU's unit is MB/s
  }
  return rate > 0 ? rate : std::numeric_limits<double>::infinity();
}

/// Starts posting copies if the system has threads for all GPUs. GPUs at the same part of the host share threads.
void start_posting(const StreamCounters& stream_counters, std::size_t buffers, std::size_t threads) {
  std::set<int> gpus;
  for (unsigned i = 0; i < starpu_cuda_worker_get_count(); i++)
    gpus.insert(starpu_worker_get_devid(starpu_worker_get_by_type(STARPU_CUDA_WORKER, static_cast<int>(i))));
  const auto place = [](int gpu) -> const Place& { return gpu_places().at(static_cast<std::size_t>(gpu)); };
  std::map<std::vector<int>, std::vector<int>> groups;
  for (const int gpu : gpus) groups[place(gpu).processors].push_back(gpu);
  std::map<int, std::shared_ptr<Posting>> by_gpu;
  for (const auto& [processors, group] : groups) {
    const auto share = std::max<std::size_t>(1, threads * group.size() / gpus.size());
    const auto shared = std::make_shared<Posting>(stream_counters, buffers, share, group.size(), place(group.front()));
    if (shared->threads() == 0) return;
    for (const int gpu : group) by_gpu.emplace(gpu, shared);
  }
  posting = new auto(std::move(by_gpu));
}

}  // namespace

void start(std::size_t pinned_memory) {
  const auto gpus = starpu_cuda_worker_get_count();
  const auto streams = StreamCounters::find();
  const auto copying = copying_threads(gpus, rate_of_links());
  const auto threads = copying.count;
  streamed = copying.streamed;
  if (const auto buffers = useful_buffers(pinned_memory, gpus); streams && buffers > 0)
    start_posting(*streams, buffers, threads);
  pool = new memory::staging::ThreadPool<Copier>(
      posting != nullptr ? 0 : memory::staging::threads_of_pool(threads, pinned_memory, Copier::bytes, gpus));
  corners = new Corners;
}

bool posts_copies() { return posting != nullptr; }

void stop() {
  delete std::exchange(posting, nullptr);
  delete std::exchange(pool, nullptr);
  delete std::exchange(corners, nullptr);
}

}  // namespace tessera::device::staging
