// SPDX-License-Identifier: BSD-3-Clause
#include "prepared_devices.hpp"

#include <starpu.h>

#include "gpu.hpp"
#include "gpu_workers.hpp"
#include "tile_interface.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/handles.hpp"
#include "devices/cuda/product.hpp"
#include "devices/cuda/solver.hpp"
#endif
#ifdef TESSERA_WITH_OPENCL
#include "devices/opencl/tile_copies.hpp"
#include "devices/opencl/workers.hpp"
#endif

namespace tessera::device {

// The delegated constructor has finished by then, so the destructor runs even if this constructor throws.
PreparedDevices::PreparedDevices([[maybe_unused]] std::size_t pinned_memory) : PreparedDevices() {
#ifdef TESSERA_WITH_OPENCL
  if (!gpu_workers::of(STARPU_OPENCL_WORKER).empty()) {
    opencl_copies::start(pinned_memory);
    opencl::create_workers();
  }
#endif
  if (starpu_cuda_worker_get_count() == 0) return;
  tile_interface::start(pinned_memory);
#if defined(TESSERA_WITH_CUDA) && !defined(STARPU_SIMGRID)
  cuda::create_handles();
#endif
}

PreparedDevices::~PreparedDevices() {
#ifdef TESSERA_WITH_OPENCL
  if (!gpu_workers::of(STARPU_OPENCL_WORKER).empty()) {
    opencl::destroy_workers();
    opencl_copies::stop();
  }
#endif
  if (starpu_cuda_worker_get_count() == 0) return;
  const gpu::KeepCurrentDevice keep;
  tile_interface::stop();
#if defined(TESSERA_WITH_CUDA) && !defined(STARPU_SIMGRID)
  cuda::destroy_products();
  cuda::destroy_solvers();
  cuda::destroy_handles();
#endif
}

}  // namespace tessera::device
