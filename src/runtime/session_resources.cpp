// SPDX-License-Identifier: BSD-3-Clause
#include "session_resources.hpp"

#include <starpu.h>

#include <cstring>
#include <string>

#include <tessera/error.hpp>

#include "common/whole_file.hpp"
#include "machine/gpu.hpp"
#include "machine/gpu_workers.hpp"
#include "memory/tile_interface.hpp"

#ifdef TESSERA_WITH_CUDA
#include "codelets/device_handles.hpp"
#include "codelets/device_product.hpp"
#include "codelets/device_solver.hpp"
#endif
#ifdef TESSERA_WITH_OPENCL
#include "codelets/opencl_workers.hpp"
#include "memory/opencl_copies.hpp"
#endif

namespace tessera::detail {

RunningStarpu::RunningStarpu(starpu_conf* conf) {
  if (const int status = starpu_init(conf); status != 0)
    throw RuntimeError(conf == nullptr ? "StarPU is running, but cannot be joined"
                                       : std::string("StarPU cannot start: ") + std::strerror(-status));
}

RunningStarpu::~RunningStarpu() {
  const gpu::KeepCurrentDevice keep;
  const NoFileSizeSignal no_signal;  // StarPU now writes performance models of the program's own tasks
  const int buses = starpu_bus_get_count();
  starpu_shutdown();
  if (starpu_is_initialized() != 0) return;
  // StarPU never forgets which links are direct, but the next session may number the links of other GPUs like these.
  for (int bus = 0; bus < buses; bus++) starpu_bus_set_direct(bus, 0);
}

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
  device::create_handles();
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
  device::destroy_products();
  device::destroy_solvers();
  device::destroy_handles();
#endif
}

}  // namespace tessera::detail
