// SPDX-License-Identifier: BSD-3-Clause
#include "home.hpp"

#include <starpu.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <tessera/error.hpp>

#include "common/device_memory.hpp"
#include "devices/gpu.hpp"
#include "devices/opencl/opencl.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera::tile {

namespace {

std::optional<int> memory_node(int gpu) {
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++)
    if (starpu_node_get_kind(node) == STARPU_CUDA_RAM && starpu_memory_node_get_devid(node) == gpu)
      return static_cast<int>(node);
  return std::nullopt;
}

}  // namespace

std::optional<int> home_of(const void* data) {
  const auto gpu = device::gpu::device_of(data);
  return gpu ? memory_node(*gpu) : STARPU_MAIN_RAM;
}

namespace {

/// @param waits  (int gpu): waits for the default stream of a GPU that may be writing the operand
template <typename Waits>
void require_reachable(const char* routine, const blas::arguments::StoredMatrix& operand, Waits waits) {
  if (operand.m == 0 || operand.n == 0 || !operand.used) return;
  const auto refuse = [&](const std::string& why) {
    throw ArgumentError(routine, operand.position, operand.name, why);
  };
  const auto bytes = static_cast<std::size_t>(((operand.n - 1) * operand.ld + operand.m) * operand.element_size);
  const auto memory =
      common::device_memory::may_exist() ? common::device_memory::allocated(operand.data) : std::nullopt;
  if (!memory) {
    if (bytes >= sizeof(void*) && device::opencl::is_buffer(operand.data))
      refuse("is a cl_mem of the program, which OpenCL does not share with StarPU: must be in host memory");
    return;
  }
  const auto running = runtime::session_to_wait(routine);
  const auto& machine = running->machine();
  const auto gpus = std::span(machine.gpus).first(static_cast<std::size_t>(machine.cuda_gpus));
  if (memory->managed) {
    for (const int gpu : gpus) waits(gpu);
    return;
  }
  const auto name = "GPU " + std::to_string(memory->gpu);
  if (!memory_node(memory->gpu))
    refuse("points to memory of " + name +
           ", which Tessera does not use: must be in host memory, in managed memory or on a GPU that it uses");
  if (reinterpret_cast<std::uintptr_t>(operand.data) % static_cast<std::uintptr_t>(operand.element_size) != 0)
    refuse("is at an address in memory of " + name + " that is no multiple of " + std::to_string(operand.element_size) +
           " bytes, must be a multiple of the size of an element");
  const auto there = common::device_memory::bytes_from(operand.data, bytes);
  if (there < bytes)
    refuse("points to " + std::to_string(there) + " bytes in memory of " + name + ", must be at least " +
           std::to_string(bytes));
  if (there == common::device_memory::unlimited &&
      common::device_memory::gpu_of(static_cast<const std::byte*>(operand.data) + bytes - 1) != memory->gpu)
    refuse("points to memory of " + name + " that is shorter than the " + std::to_string(bytes) +
           " bytes of the matrix");
  waits(memory->gpu);
  if (gpus.size() > 1) device::gpu::share_pool(operand.data, memory->gpu, gpus);
}

}  // namespace

void require_reachable(const char* routine, std::span<const blas::arguments::StoredMatrix> operands) {
  std::bitset<STARPU_MAXCUDADEVS> waited;
  for (const auto& operand : operands)
    require_reachable(routine, operand, [&](int gpu) {
      if (waited[static_cast<std::size_t>(gpu)]) return;
      device::gpu::wait_for_default_stream(gpu);
      waited.set(static_cast<std::size_t>(gpu));
    });
}

}  // namespace tessera::tile
