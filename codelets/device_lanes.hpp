// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include "device_handles.hpp"

/// Two lanes of a CUDA worker that compute at the same time: the factorization of a panel beside products.
///
/// A factorization is a long chain of short kernels. Beside products that may use all of a GPU, each of them waits for
/// a block of a product to end. So products leave some multiprocessors free.
namespace tessera::device {

/// The two lanes. Work on them is part of the worker's stream between `fork` and `join`.
class Lanes {
 public:
  Lanes() = default;
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes();

  /// @return  whether the GPU and its driver can set multiprocessors aside, and there is memory
  bool create();

  Lane& products() { return products_; }
  /// @param rows  of the panel. A tall one counts on more multiprocessors than are free, and waits for them: with more
  ///              than two rows, a thread would have registers for few columns.
  Lane& panel(int rows);

  /// Both lanes wait for what the worker's stream has been given.
  void fork() const;
  /// The worker's stream waits for both lanes.
  void join() const;

 private:
  bool create_streams();

  Lane products_, panel_;
  int free_ = 0, all_ = 0;  ///< multiprocessors
  cudaEvent_t forked_ = nullptr, products_end_ = nullptr, panel_end_ = nullptr;
  void* partition_ = nullptr;  ///< a CUgreenCtx
};

/// Whether the current GPU and its driver can leave multiprocessors free.
bool can_set_multiprocessors_aside();

/// The lanes of the calling CUDA worker, which are created in the first call; null if that is not possible. If there
/// was no memory, the next call tries again.
Lanes* local_lanes();

/// Destroys the lanes of the calling CUDA worker.
void destroy_local_lanes();

}  // namespace tessera::device
