// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include "common/not_copyable.hpp"
#include "handles.hpp"

/// Two lanes (streams with their own cuBLAS handles and memory, see `Lane`) of a CUDA worker, for concurrent work: one
/// for the factorization of a panel, one for products.
///
/// A factorization is a long chain of short kernels. If products could use the whole GPU, each of these kernels would
/// wait until a thread block of a product ends and frees a multiprocessor. Products therefore leave some
/// multiprocessors free.
namespace tessera::device::cuda {

/// The two lanes of a worker. Between `fork` and `join`, work on them counts as work on the worker's stream.
class Lanes : common::NotCopyable {
 public:
  ~Lanes();

  /// Creates the lanes.
  /// @return  false if the GPU or its driver cannot set multiprocessors aside, or there is too little memory
  bool create();

  Lane& products() { return products_; }
  /// The lane for a panel with this number of rows. The kernels for a tall panel use more multiprocessors than products
  /// leave free, and wait for them. On fewer multiprocessors, each thread would hold more than two rows, and have
  /// registers left for only a few columns.
  Lane& panel(int rows);

  /// Makes both lanes wait for the work submitted to the worker's stream so far.
  void fork() const;
  /// Makes the worker's stream wait for both lanes.
  void join() const;

 private:
  bool create_streams();

  Lane products_, panel_;
  int free_ = 0, all_ = 0;  ///< multiprocessors
  cudaEvent_t forked_ = nullptr, products_end_ = nullptr, panel_end_ = nullptr;
  void* partition_ = nullptr;  ///< a CUgreenCtx
};

/// Computes products and a panel at the same time on the two lanes of a worker.
/// @param panel  a lane of `lanes`
void side_by_side(Lanes& lanes, Lane& panel, auto compute_products, auto factorize_panel) {
  lanes.fork();
  {
    const UseLane lane(lanes.products());
    compute_products();
  }
  {
    const UseLane lane(panel);
    factorize_panel();
  }
  lanes.join();
}

/// Whether the current GPU and its driver can leave multiprocessors free.
bool can_set_multiprocessors_aside();

/// The lanes of the calling CUDA worker, created by the first call; null if that is impossible. If memory was missing,
/// the next call tries again.
Lanes* local_lanes();

/// Destroys the lanes of the calling CUDA worker.
void destroy_local_lanes();

}  // namespace tessera::device::cuda
