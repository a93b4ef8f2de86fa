// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <algorithm>

#include "codelet.hpp"
#include "common/failure.hpp"
#include "common/float_mode.hpp"
#include "common/of_type.hpp"
#include "common/overwrites.hpp"
#include "devices/cpu/on_cpu.hpp"
#include "devices/cpu/one_thread.hpp"
#include "devices/kernel_tile.hpp"
#include "devices/partial_tile.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/on_cuda.hpp"
#endif
#ifdef TESSERA_WITH_OPENCL
#include "devices/opencl/on_opencl.hpp"
#endif

/// Shared parts of all tile operations: functions that make a codelet of a kernel.
namespace tessera::codelets {

using device::column;
using device::diagonal_block;
using device::element;
using device::element_of;
using device::row;
using device::Tile;
using device::tile;

// A kernel is a class with a type `Args` and a static function `run(blas, buffers, args)`. `run` is a template over
// OnHost, OnDevice and OnOpenCl, or has overloads if devices compute the operation differently. Without a `run` for
// OpenCL, only other workers run the kernel. A kernel that takes indices from a tile declares `reads_indices`; it is
// skipped if the operation that wrote this tile has failed.

template <typename Kernel>
bool may_run() {
  if constexpr (requires { Kernel::reads_indices; }) return !common::reads_failed_tile(*starpu_task_get_current());
  else return true;
}

/// Whether an operation on a trapezoid of a tile computes the square around its triangle, too. Then one product
/// replaces several kernels, of which those at the diagonal would leave most of a GPU idle.
constexpr bool fills_square(const auto& /*on*/, const void* /*buffer*/, int /*order*/) { return false; }
#ifdef TESSERA_WITH_CUDA
inline bool fills_square(const device::OnDevice& /*on*/, const void* buffer, int order) {
  // Bytes of C that a multiprocessor computes at a time. A GPU computes a square of one such block for each
  // multiprocessor in the same time as its triangle, and a larger one in up to twice the time.
  constexpr std::size_t block = std::size_t{128} * 128 * sizeof(double);
  const auto& tile = *static_cast<const device::PartialTile*>(buffer);
  const auto bytes = static_cast<std::size_t>(order) * static_cast<std::size_t>(order) *
                     std::max(tile.matrix.elemsize, sizeof(double));
  return bytes <= block * static_cast<std::size_t>(device::cuda::local_lane().multiprocessors) &&
         device::is_rest_unused(tile, starpu_worker_get_local_memory_node());
}
#endif

/// Announces that the current task, which runs on a core, overwrites its output tiles where they are.
inline void announce_outputs(void* buffers[]) {
  auto* const task = starpu_task_get_current();
  for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++) {
    if ((STARPU_TASK_GET_MODE(task, i) & STARPU_W) == 0 ||
        starpu_data_get_interface_id(STARPU_TASK_GET_HANDLE(task, i)) == STARPU_VARIABLE_INTERFACE_ID)
      continue;
    const auto& tile = *static_cast<const starpu_matrix_interface*>(buffers[i]);
    const auto* const first = reinterpret_cast<const char*>(tile.ptr);
    common::overwrites::before(first,
                               first + device::offset(tile, static_cast<int>(tile.nx), static_cast<int>(tile.ny) - 1));
  }
}

template <typename Kernel>
void on_cpu(void* buffers[], void* args) {
  if (!may_run<Kernel>()) return;
  announce_outputs(buffers);
  const auto& known = *static_cast<const typename Kernel::Args*>(args);
  const common::float_mode::Within that_of_the_caller(known.work.mode);
  const device::cpu::OneThread per_call;
  Kernel::run(device::OnHost{}, buffers, known);
}

/// The CUDA implementation. Without CUDA it is null, so that only other workers run the tasks. Simulated GPUs never
/// call it, but need a value that is not null.
#ifdef TESSERA_WITH_CUDA
template <typename Kernel>
void on_gpu(void* buffers[], void* args) {
  if (may_run<Kernel>()) Kernel::run(device::OnDevice{}, buffers, *static_cast<const typename Kernel::Args*>(args));
}
#elif defined(STARPU_SIMGRID)
template <typename Kernel>
inline const auto on_gpu = reinterpret_cast<starpu_cuda_func_t>(1);
#else
template <typename Kernel>
inline constexpr starpu_cuda_func_t on_gpu = nullptr;
#endif

/// The OpenCL implementation; null if there is none.
#ifdef TESSERA_WITH_OPENCL
template <typename Kernel>
void on_opencl(void* buffers[], void* args) {
  if (!may_run<Kernel>()) return;
  const auto* const task = starpu_task_get_current();
  device::OpenClTiles tiles(buffers, static_cast<int>(STARPU_TASK_GET_NBUFFERS(task)));
  const device::OnOpenCl on{tiles};
  const auto turn = on.worker.turn();
  Kernel::run(on, tiles.buffers(), *static_cast<const typename Kernel::Args*>(args));
}
template <typename Kernel>
constexpr starpu_opencl_func_t opencl_function() {
  if constexpr (requires(const device::OnOpenCl& on, void** buffers, const typename Kernel::Args& args) {
                  Kernel::run(on, buffers, args);
                })
    return on_opencl<Kernel>;
  else return nullptr;
}
#else
template <typename Kernel>
constexpr starpu_opencl_func_t opencl_function() {
  return nullptr;
}
#endif

/// Makes the codelet of a kernel.
/// @param name         the name in traces
/// @param host_buffer  see TileOperation
template <typename Kernel>
starpu_codelet& codelet_of(const char* name, int host_buffer = -1) {
  static TileOperation operation(name, on_cpu<Kernel>, on_gpu<Kernel>, opencl_function<Kernel>(), host_buffer);
  return operation.codelet;
}
/// The codelet of a kernel for elements of a type, which is s, d, c or z.
template <template <Scalar T> typename Kernel>
starpu_codelet& codelet_of(char type, const char* name, int host_buffer = -1) {
  return common::with_type(type,
                           [&]<Scalar T>(T) -> starpu_codelet& { return codelet_of<Kernel<T>>(name, host_buffer); });
}
/// The codelet of a kernel with two variants.
template <template <Scalar T, bool> typename Kernel, bool variant>
starpu_codelet& codelet_of(char type, const char* name) {
  return common::with_type(type, [&]<Scalar T>(T) -> starpu_codelet& { return codelet_of<Kernel<T, variant>>(name); });
}
/// The codelet of the Hermitian variant of a kernel, which exists only for the types c and z.
template <template <Scalar T, bool hermitian> typename Kernel>
starpu_codelet& codelet_of_hermitian(char type, const char* name) {
  return common::with_complex_type(type,
                                   [&]<Scalar T>(T) -> starpu_codelet& { return codelet_of<Kernel<T, true>>(name); });
}

/// The codelet of a kernel that runs only on GPUs.
template <template <Scalar T> typename Kernel>
starpu_codelet& codelet_for_gpus(char type, const char* name) {
  return common::with_type(type, [&]<Scalar T>(T) -> starpu_codelet& {
    static TileOperation operation(name, nullptr, on_gpu<Kernel<T>>, nullptr);
    return operation.codelet;
  });
}

}  // namespace tessera::codelets
