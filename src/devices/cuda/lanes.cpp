// SPDX-License-Identifier: BSD-3-Clause
#include "lanes.hpp"

#include <cuda.h>
#include <starpu.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "on_cuda.hpp"

namespace tessera::device::cuda {

namespace {

#if CUDA_VERSION >= 12080
/// While a panel is factorized, products leave one in `share_of_panel` multiprocessors free, rounded to groups of
/// `group`.
constexpr int share_of_panel = 4, group = 8;

/// The driver's functions for green contexts, looked up at run time. Programs are not linked with the driver, because
/// machines without a GPU lack it.
struct Driver {
  decltype(&cuDeviceGetDevResource) get_resource = find<decltype(&cuDeviceGetDevResource)>("cuDeviceGetDevResource");
  decltype(&cuDevSmResourceSplitByCount) split =
      find<decltype(&cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount");
  decltype(&cuDevResourceGenerateDesc) describe =
      find<decltype(&cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc");
  decltype(&cuGreenCtxCreate) create = find<decltype(&cuGreenCtxCreate)>("cuGreenCtxCreate");
  decltype(&cuGreenCtxStreamCreate) create_stream = find<decltype(&cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate");
  decltype(&cuGreenCtxDestroy) destroy = find<decltype(&cuGreenCtxDestroy)>("cuGreenCtxDestroy");

  bool complete() const {
    return get_resource != nullptr && split != nullptr && describe != nullptr && create != nullptr &&
           create_stream != nullptr && destroy != nullptr;
  }

 private:
  template <typename Function>
  static Function find(const char* name) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion(name, &function, 12080, cudaEnableDefault, &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess)
      return nullptr;
    return reinterpret_cast<Function>(function);
  }
};
const Driver& driver() {
  static const Driver functions;
  return functions;
}
#endif

/// The lanes of the calling worker. They are never destroyed at exit, because CUDA may already be gone.
std::unique_ptr<Lanes>& my_lanes() {
  static auto& all = *new std::array<std::unique_ptr<Lanes>, STARPU_NMAXWORKERS>;
  return all[static_cast<std::size_t>(starpu_worker_get_id_check())];
}

}  // namespace

bool can_set_multiprocessors_aside() {
#if CUDA_VERSION >= 12080
  int device = 0, multiprocessors = 0;
  return driver().complete() && cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) == cudaSuccess &&
         multiprocessors >= share_of_panel * group;
#else
  return false;
#endif
}

Lanes::~Lanes() {
  const auto streams = {products_.stream, panel_.stream};
  if (products_.handle != nullptr) cublasDestroy(products_.handle);  // its memory belongs to the worker
  stop_lane(panel_);
  for (auto* const stream : streams)
    if (stream != nullptr) cudaStreamDestroy(stream);
  for (auto* const event : {forked_, products_end_, panel_end_})
    if (event != nullptr) cudaEventDestroy(event);
#if CUDA_VERSION >= 12080
  if (partition_ != nullptr) driver().destroy(static_cast<CUgreenCtx>(partition_));
#endif
}

bool Lanes::create_streams() {
#if CUDA_VERSION >= 12080
  int device = 0, least = 0, greatest = 0;
  CUdevResource whole{}, for_panel{}, for_products{};
  unsigned parts = 1;
  if (!driver().complete() || cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetStreamPriorityRange(&least, &greatest) != cudaSuccess ||
      driver().get_resource(device, &whole, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS)
    return false;
  const auto wanted = whole.sm.smCount / share_of_panel / group * group;
  CUdevResourceDesc description{};
  CUgreenCtx partition{};
  CUstream stream{};
  if (wanted == 0 || driver().split(&for_panel, &parts, &whole, &for_products, 0, wanted) != CUDA_SUCCESS ||
      parts == 0 || for_products.sm.smCount == 0 || driver().describe(&description, &for_products, 1) != CUDA_SUCCESS ||
      driver().create(&partition, description, device, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS)
    return false;
  partition_ = partition;
  if (driver().create_stream(&stream, partition, CU_STREAM_NON_BLOCKING, least) != CUDA_SUCCESS) return false;
  products_.stream = stream;
  free_ = static_cast<int>(for_panel.sm.smCount), all_ = static_cast<int>(whole.sm.smCount);
  return cudaStreamCreateWithPriority(&panel_.stream, cudaStreamNonBlocking, greatest) == cudaSuccess;
#else
  return false;
#endif
}

bool Lanes::create() {
  products_ = local_lane();  // the lanes of the worker and of products never compute at the same time
  products_.stream = nullptr, products_.handle = nullptr;
  if (!create_streams() || cublasCreate(&products_.handle) != CUBLAS_STATUS_SUCCESS ||
      cublasSetStream(products_.handle, products_.stream) != CUBLAS_STATUS_SUCCESS || !start_lane(panel_).empty())
    return false;
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
  check("cudaEventRecord", cudaEventRecord(forked_, local_stream()));
  for (auto* const stream : {products_.stream, panel_.stream})
    check("cudaStreamWaitEvent", cudaStreamWaitEvent(stream, forked_));
}

void Lanes::join() const {
  check("cudaEventRecord", cudaEventRecord(products_end_, products_.stream));
  check("cudaEventRecord", cudaEventRecord(panel_end_, panel_.stream));
  for (auto* const event : {products_end_, panel_end_})
    check("cudaStreamWaitEvent", cudaStreamWaitEvent(local_stream(), event));
}

Lanes* local_lanes() {
  auto& lanes = my_lanes();
  if (lanes != nullptr) return lanes.get();
  auto created = std::make_unique<Lanes>();
  if (created->create()) lanes = std::move(created);
  else cudaGetLastError();  // the next check would report it
  return lanes.get();
}

void destroy_local_lanes() { my_lanes().reset(); }

}  // namespace tessera::device::cuda
