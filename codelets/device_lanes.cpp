// SPDX-License-Identifier: BSD-3-Clause
#include "device_lanes.hpp"

#include <cuda.h>
#include <starpu.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "kernel.hpp"

namespace tessera::device {

namespace {

/// The part of the multiprocessors that products leave free, and what its size is a multiple of.
constexpr int share_of_panel = 4, granularity = 8;

#if CUDA_VERSION >= 12080
/// A function of the driver. Programs are not linked with the driver: machines without a GPU have none.
template <typename Function>
Function driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion(name, &function, 12080, cudaEnableDefault, &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess)
    return nullptr;
  return reinterpret_cast<Function>(function);
}
#endif

/// The lanes of a worker: not asked for yet, not possible (null), or there.
std::array<std::optional<std::unique_ptr<Lanes>>, STARPU_NMAXWORKERS> all_lanes{};
auto& mine() { return all_lanes[static_cast<std::size_t>(starpu_worker_get_id_check())]; }

}  // namespace

Lanes::~Lanes() {
  for (auto* const lane : {&products_, &panel_}) {
    const auto stream = lane->stream;
    stop_lane(*lane);
    if (stream != nullptr) cudaStreamDestroy(stream);
  }
  for (auto* const event : {forked_, products_end_, panel_end_})
    if (event != nullptr) cudaEventDestroy(event);
#if CUDA_VERSION >= 12080
  if (partition_ != nullptr)
    if (auto* const destroy = driver_function<decltype(&cuGreenCtxDestroy)>("cuGreenCtxDestroy"))
      destroy(static_cast<CUgreenCtx>(partition_));
#endif
}

bool Lanes::create_streams() {
#if CUDA_VERSION >= 12080
  const auto resource = driver_function<decltype(&cuDeviceGetDevResource)>("cuDeviceGetDevResource");
  const auto split = driver_function<decltype(&cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount");
  const auto describe = driver_function<decltype(&cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc");
  const auto create = driver_function<decltype(&cuGreenCtxCreate)>("cuGreenCtxCreate");
  const auto create_stream = driver_function<decltype(&cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate");
  if (resource == nullptr || split == nullptr || describe == nullptr || create == nullptr || create_stream == nullptr)
    return false;
  int device = 0, least = 0, greatest = 0;
  CUdevResource all{}, free{}, rest{};
  unsigned groups = 1;
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetStreamPriorityRange(&least, &greatest) != cudaSuccess ||
      resource(device, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS)
    return false;
  const auto wanted = all.sm.smCount / share_of_panel / granularity * granularity;
  CUdevResourceDesc of_rest{};
  CUgreenCtx partition{};
  CUstream stream{};
  if (wanted == 0 || split(&free, &groups, &all, &rest, 0, wanted) != CUDA_SUCCESS || groups == 0 ||
      rest.sm.smCount == 0 || describe(&of_rest, &rest, 1) != CUDA_SUCCESS ||
      create(&partition, of_rest, device, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS)
    return false;
  partition_ = partition;
  if (create_stream(&stream, partition, CU_STREAM_NON_BLOCKING, least) != CUDA_SUCCESS) return false;
  products_.stream = stream;
  products_.multiprocessors = static_cast<int>(rest.sm.smCount);
  free_ = static_cast<int>(free.sm.smCount), all_ = static_cast<int>(all.sm.smCount);
  return cudaStreamCreateWithPriority(&panel_.stream, cudaStreamNonBlocking, greatest) == cudaSuccess;
#else
  return false;
#endif
}

bool Lanes::create() {
  if (!create_streams() || !start_lane(products_).empty() || !start_lane(panel_).empty()) return false;
  for (auto* const event : {&forked_, &products_end_, &panel_end_})
    if (cudaEventCreateWithFlags(event, cudaEventDisableTiming) != cudaSuccess) return false;
  return true;
}

Lane& Lanes::panel(int rows) {
  constexpr int rows_of_multiprocessor = 1024;
  panel_.multiprocessors = std::clamp((rows + rows_of_multiprocessor - 1) / rows_of_multiprocessor, free_, all_);
  return panel_;
}

void Lanes::fork() const {
  codelets::check("cudaEventRecord", cudaEventRecord(forked_, local_stream()));
  for (auto* const stream : {products_.stream, panel_.stream})
    codelets::check("cudaStreamWaitEvent", cudaStreamWaitEvent(stream, forked_));
}

void Lanes::join() const {
  codelets::check("cudaEventRecord", cudaEventRecord(products_end_, products_.stream));
  codelets::check("cudaEventRecord", cudaEventRecord(panel_end_, panel_.stream));
  for (auto* const event : {products_end_, panel_end_})
    codelets::check("cudaStreamWaitEvent", cudaStreamWaitEvent(local_stream(), event));
}

Lanes* local_lanes() {
  auto& lanes = mine();
  if (!lanes) {
    lanes = std::make_unique<Lanes>();
    if (!(*lanes)->create()) {
      lanes->reset();
      cudaGetLastError();  // the next check would find it
    }
  }
  return lanes->get();
}

void destroy_local_lanes() { mine().reset(); }

}  // namespace tessera::device
