// SPDX-License-Identifier: BSD-3-Clause
#include "session_resources.hpp"

#include <starpu.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include <tessera/error.hpp>

#include "common/whole_file.hpp"
#include "devices/gpu.hpp"

namespace tessera::runtime {

namespace {

/// Tells StarPU through which links a GPU accesses the memory of another. StarPU does not notice access that an earlier
/// session or another library has enabled, and keeps the answers of an earlier session, whose links had other numbers.
void find_direct_links() {
  const auto is_cuda = [](int node) { return starpu_node_get_kind(static_cast<unsigned>(node)) == STARPU_CUDA_RAM; };
  const auto device = [](int node) { return starpu_memory_node_get_devid(static_cast<unsigned>(node)); };
  const char* const allowed = std::getenv("STARPU_ENABLE_CUDA_GPU_GPU_DIRECT");
  const bool may = allowed == nullptr || std::strcmp(allowed, "0") != 0;
  for (int bus = 0; bus < starpu_bus_get_count(); bus++) {
    const int from = starpu_bus_get_src(bus), to = starpu_bus_get_dst(bus);
    const bool direct = may && is_cuda(from) && is_cuda(to) && device::gpu::enable_access(device(to), device(from));
    starpu_bus_set_direct(bus, direct ? 1 : 0);
  }
}

}  // namespace

RunningStarpu::RunningStarpu(starpu_conf* conf) {
  if (const int status = starpu_init(conf); status != 0)
    throw RuntimeError(conf == nullptr ? "StarPU is running, but cannot be joined"
                                       : std::string("StarPU cannot start: ") + std::strerror(-status));
  find_direct_links();
}

RunningStarpu::~RunningStarpu() {
  const device::gpu::KeepCurrentDevice keep;
  const common::NoFileSizeSignal no_signal;  // StarPU now writes performance models of the program's own tasks
  starpu_shutdown();
}

}  // namespace tessera::runtime
