// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

/// Stands for CUDA's runtime, its driver and cuBLAS on machines without a GPU. Loaded before them, it lets the code for
/// GPUs run: StarPU's drivers, the copies, and the products. The memory of a device is host memory. Each stream is a
/// thread that works off its queue with random delays, so that a missing wait gives wrong results. What a device
/// refuses is refused: streams and events of another device, and memory without peer access.
///
/// Only the kernels of products and triangles compute, and of cuSOLVER only Cholesky factorizations. A write by a
/// device is a write by a thread, which a real one is not: this says nothing about pages that CUDA has pinned.
namespace stand_in {

/// STAND_IN_GPUS: the number of devices; default: 1.
int devices();
inline constexpr std::size_t memory_of_device = std::size_t{4} << 30;

extern thread_local int current;  ///< the calling thread's device
/// Creates the context of the calling thread's device, unless it exists. CUDA does so in nearly all its functions, also
/// in those whose stream, event or memory belongs to another device. Exceptions: the state of events, and what memory
/// is.
void need_context();

/// What tests ask for through `stand_in_count`.
struct Counts {
  std::atomic<int> stream_waits = 0;  ///< of the host, for all that a stream was given
  std::atomic<int> solves = 0;        ///< calls of cuBLAS's trsm
  std::atomic<int> updates = 0;       ///< calls of cuBLAS's syrk, herk, syr2k and her2k
  std::atomic<int> copies = 0;        ///< that end before their function returns
};
extern Counts counts;

/// Remembers an error for cudaGetLastError.
cudaError_t fail(cudaError_t status);
/// Says what CUDA would refuse, and why, on standard error.
cudaError_t refuse(cudaError_t status, const std::string& why);

class Stream {
 public:
  explicit Stream(int device);
  ~Stream();
  void add(std::function<void()> operation);
  void wait();
  bool is_idle();

  const int device;

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool computes_ = false, ends_ = false;
  std::thread thread_;
};
/// The stream; for 0, 1 and 2 the default stream of the current device.
Stream& stream_of(cudaStream_t stream);
/// Waits for all streams of a device.
void wait_for(int device);

enum class Kind { Device, Managed, Pinned };
struct Block {
  std::size_t bytes;
  int device;
  Kind kind;
  void* pool;
  std::set<int> users;  ///< of mapped memory: -1, and the devices that have been given access

  bool may_be_used_by(int device) const;
};
/// The memory with this address that CUDA knows; empty: none.
std::optional<std::pair<std::uintptr_t, Block>> block_of(const void* address);
/// Ends the program if a device may not access the address.
void require_access(int device, const void* address, const char* what);
bool may_access_peer(int device, int peer);

}  // namespace stand_in
