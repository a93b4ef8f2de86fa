// SPDX-License-Identifier: BSD-3-Clause
#include "staging.hpp"

#include <cuda_runtime.h>
#include <starpu.h>
#include <starpu_cuda.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <tessera/error.hpp>

#include "codelets/failure.hpp"

namespace tessera::detail::staging {

namespace {

/// Eight cores copy 56 of the 61 GB/s that sixteen do; some are for the program.
int helper_count() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, 12); }

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw RuntimeError(std::string(what) + ": " + cudaGetErrorString(status));
}

struct FreeHost {
  void operator()(void* data) const { cudaFreeHost(data); }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};

/// A pinned buffer, and when the link is done with it.
class Buffer {
 public:
  Buffer() {
    void* data = nullptr;
    require(cudaHostAlloc(&data, buffer_bytes, cudaHostAllocPortable), "pinned memory for copies");
    data_.reset(data);
  }
  void* data() const { return data_.get(); }

  /// Waits until the copy that was marked has been done.
  void wait() {
    if (pending_ != nullptr) require(cudaEventSynchronize(pending_), "a copy through a pinned buffer");
    pending_ = nullptr;
  }
  /// The copies so far of `stream`, one of `device`, which is the current one, use the buffer.
  void mark(int device, cudaStream_t stream) {
    auto& event = events_[device];
    if (event == nullptr) {
      cudaEvent_t fresh = nullptr;
      require(cudaEventCreateWithFlags(&fresh, cudaEventDisableTiming), "cudaEventCreate");
      event.reset(fresh);
    }
    require(cudaEventRecord(event.get(), stream), "cudaEventRecord");
    pending_ = event.get();
  }
  cudaEvent_t pending() const { return pending_; }

 private:
  std::unique_ptr<void, FreeHost> data_;
  std::map<int, std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>> events_;  ///< by device
  cudaEvent_t pending_ = nullptr;
};

/// What one thread copies with: while it packs one buffer, the link reads the other. A stream of its own, as threads
/// that share one wait for each other.
class Hands {
 public:
  Buffer& take() { return both_[next_ ^= 1]; }
  cudaStream_t stream(int device) {
    auto& stream = streams_[device];
    if (stream == nullptr) {
      cudaStream_t fresh = nullptr;
      require(cudaStreamCreateWithFlags(&fresh, cudaStreamNonBlocking), "cudaStreamCreate");
      stream.reset(fresh);
    }
    return stream.get();
  }

 private:
  Buffer both_[2];
  int next_ = 0;
  std::map<int, std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>> streams_;
};

/// A tile in the host's memory, and where it is in a GPU's. Both are columns of `height` bytes.
struct Tile {
  std::byte* host;
  std::size_t host_stride;
  std::byte* device;
  std::size_t device_stride;
  std::size_t height;
  int columns;

  int columns_of_a_piece() const { return static_cast<int>(std::max<std::size_t>(1, buffer_bytes / height)); }
};

/// One copy of a tile, cut into pieces for whoever has time.
struct Job {
  Tile tile{};
  bool in = false;  ///< to the GPU
  int device = 0;
  cudaStream_t stream = nullptr;  ///< StarPU's: what it waits for

  int step() const { return tile.columns_of_a_piece(); }
  int pieces() const { return (tile.columns + step() - 1) / step(); }
};

/// Some columns of a tile, in a buffer without gaps.
class Piece {
 public:
  Piece(const Job& job, int index, Buffer& buffer)
      : job_(&job), buffer_(&buffer), first_(index * job.step()),
        count_(std::min(job.step(), job.tile.columns - first_)) {}

  void begin(cudaStream_t stream) {
    buffer_->wait();
    if (job_->in) {
      each_column([](std::byte* packed, std::byte* column, std::size_t bytes) { std::memcpy(packed, column, bytes); });
      link(device(), tile().device_stride, buffer_->data(), tile().height, cudaMemcpyHostToDevice, stream);
    } else {
      link(buffer_->data(), tile().height, device(), tile().device_stride, cudaMemcpyDeviceToHost, stream);
    }
    buffer_->mark(job_->device, stream);
  }
  void end() {
    if (job_->in) return;  // StarPU waits
    buffer_->wait();
    each_column([](std::byte* packed, std::byte* column, std::size_t bytes) { std::memcpy(column, packed, bytes); });
  }
  cudaEvent_t on_link() const { return buffer_->pending(); }

 private:
  const Tile& tile() const { return job_->tile; }
  std::byte* device() const { return tile().device + static_cast<std::size_t>(first_) * tile().device_stride; }
  void link(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, cudaMemcpyKind kind,
            cudaStream_t stream) const {
    const auto columns = static_cast<std::size_t>(count_);
    const bool dense = to_stride == tile().height && from_stride == tile().height;
    require(dense ? cudaMemcpyAsync(to, from, columns * tile().height, kind, stream)
                  : cudaMemcpy2DAsync(to, to_stride, from, from_stride, tile().height, columns, kind, stream),
            "a copy of a tile");
  }
  template <typename Copy>
  void each_column(Copy copy) const {
    for (int j = 0; j < count_; j++)
      copy(static_cast<std::byte*>(buffer_->data()) + static_cast<std::size_t>(j) * tile().height,
           tile().host + static_cast<std::size_t>(first_ + j) * tile().host_stride, tile().height);
  }

  const Job* job_;
  Buffer* buffer_;
  int first_, count_;
};

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Where a worker that drives a GPU offers a job to the helpers. Used again and again, so that a helper may look at it
/// at any time without a lock: whoever is between `helpers++` and `helpers--` keeps it from being used for another job.
struct Offer {
  Job job;
  static constexpr int nothing = 1 << 30;
  std::atomic<int> pieces = 0;
  std::atomic<int> taken = nothing;
  std::atomic<int> helpers = 0;
  std::atomic<bool> in_use = false;
  std::mutex failing;
  std::string failure;  // guarded by failing

  bool has_work() const { return taken < pieces; }

  /// Copies pieces until none is left. The current device is the job's.
  void help(Hands& hands) {
    try {
      const auto stream = hands.stream(job.device);
      std::optional<Piece> last;
      for (int index; (index = taken++) < pieces;) {
        Piece piece(job, index, hands.take());
        piece.begin(stream);
        if (last) last->end();
        last = piece;
      }
      if (!last) return;
      if (job.in) require(cudaStreamWaitEvent(job.stream, last->on_link()), "cudaStreamWaitEvent");
      last->end();
    } catch (const std::exception& error) {
      const std::lock_guard lock(failing);
      failure = error.what();
    }
  }
};

/// Threads that help the workers which drive the GPUs. They sleep when nothing has come for a while.
class Crew {
 public:
  Crew() {
    for (int i = 0; i < helper_count(); i++)
      threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  }
  ~Crew() {
    for (auto& thread : threads_) thread.request_stop();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Returns when the tile is in the host's memory, or when all that brings it to the GPU is in streams that StarPU's
  /// waits for.
  /// @throws RuntimeError
  void run(const Job& job) {
    auto hands = take_hands();
    auto& offer = free_offer();
    offer.job = job;
    offer.failure.clear();
    offer.pieces = job.pieces();
    offer.taken = 0;  // now the helpers see it
    if (job.pieces() > 1 && asleep_ > 0) {
      const std::lock_guard lock(mutex_);
      wake_.notify_all();
    }
    offer.help(*hands);
    offer.taken = Offer::nothing;
    while (offer.helpers > 0) pause();  // for one piece at most
    const std::string failure = offer.failure;
    offer.in_use = false;
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(hands));
    if (!failure.empty()) throw RuntimeError(failure);
  }

 private:
  std::unique_ptr<Hands> take_hands() {
    {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        auto hands = std::move(spare_.back());
        spare_.pop_back();
        return hands;
      }
    }
    return std::make_unique<Hands>();
  }

  Offer& free_offer() {
    for (;; pause())
      for (auto& offer : offers_)
        if (!offer.in_use.exchange(true)) return offer;
  }

  void serve(const std::stop_token& stop) {
    std::unique_ptr<Hands> hands;
    while (!stop.stop_requested()) {
      if (!help_once(hands)) rest(stop);
    }
  }

  /// @return false if there was nothing to do
  bool help_once(std::unique_ptr<Hands>& hands) {
    bool helped = false;
    for (auto& offer : offers_) {
      offer.helpers++;
      if (offer.has_work()) {
        try {
          require(cudaSetDevice(offer.job.device), "cudaSetDevice");
          if (hands == nullptr) hands = take_hands();
          offer.help(*hands);
          helped = true;
        } catch (const std::exception&) {  // one helper less: the others, and who waits, copy all pieces
        }
      }
      offer.helpers--;
    }
    return helped;
  }

  bool any_work() const {
    return std::ranges::any_of(offers_, [](const Offer& offer) { return offer.has_work(); });
  }

  /// Until there is something to do. Tiles follow tiles, and waking up takes long: at first without sleeping.
  void rest(const std::stop_token& stop) {
    using namespace std::chrono_literals;
    const auto begin = std::chrono::steady_clock::now();
    for (int round = 1; !any_work(); round++) {
      if (round % 64 == 0 && std::chrono::steady_clock::now() - begin > 1ms) break;
      pause();
    }
    std::unique_lock lock(mutex_);
    asleep_++;
    wake_.wait(lock, stop, [&] { return any_work(); });
    asleep_--;
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<std::unique_ptr<Hands>> spare_;  // guarded by mutex_
  std::array<Offer, 16> offers_;               ///< as many as workers may drive GPUs; with more, some wait
  std::atomic<int> asleep_ = 0;
  std::vector<std::jthread> threads_;  // last: they end before all else goes
};

Crew* crew = nullptr;  // not destroyed at the exit: in a forked child its threads do not exist

Tile tile_of(const void* host, const void* device) {
  const auto& h = *static_cast<const starpu_matrix_interface*>(host);
  const auto& d = *static_cast<const starpu_matrix_interface*>(device);
  return {reinterpret_cast<std::byte*>(h.ptr),
          h.ld * h.elemsize,
          reinterpret_cast<std::byte*>(d.ptr),
          d.ld * d.elemsize,
          h.nx * h.elemsize,
          static_cast<int>(h.ny)};
}

int copy(unsigned from, unsigned to, const Job& job) {
  try {
    crew->run(job);
  } catch (const std::exception& error) {
    codelets::report_failure(error.what());
  }
  starpu_interface_data_copy(from, to, job.tile.height * static_cast<std::size_t>(job.tile.columns));
  return -EAGAIN;  // StarPU waits for what is in the stream
}

int to_gpu(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  return copy(from, to, {tile_of(source, target), true, starpu_memory_node_get_devid(to), stream});
}

int to_host(void* source, unsigned from, void* target, unsigned to, cudaStream_t stream) {
  return copy(from, to, {tile_of(target, source), false, starpu_memory_node_get_devid(from), stream});
}

}  // namespace

starpu_data_interface_ops* matrix_interface() {
  static starpu_data_copy_methods methods = [] {
    auto staged = *starpu_interface_matrix_ops.copy_methods;
    staged.ram_to_cuda_async = to_gpu;
    staged.cuda_to_ram_async = to_host;
    return staged;
  }();
  static starpu_data_interface_ops interface = [] {
    auto staged = starpu_interface_matrix_ops;
    staged.copy_methods = &methods;
    return staged;
  }();
  return &interface;
}

void start() { crew = new Crew; }

void stop() { delete std::exchange(crew, nullptr); }

}  // namespace tessera::detail::staging
