// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "memory/staging/posted_copies.hpp"

namespace tessera::device::staging {

/// Lets streams wait for counters in pinned memory, and write to them. CUDA supports this on all devices since 12.0.
class StreamCounters {
 public:
  using Batch = decltype(&cuStreamBatchMemOp);

  explicit StreamCounters(Batch batch) : batch_(batch) {}

  /// Empty if the driver is older than 12.0, or the toolkit is older than 12.5, which introduced the look-up of driver
  /// functions by version.
  static std::optional<StreamCounters> find() {
#if CUDART_VERSION >= 12050
    constexpr unsigned version = 12000;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    const auto status =
        cudaGetDriverEntryPointByVersion("cuStreamBatchMemOp", &function, version, cudaEnableDefault, &result);
    if (status == cudaSuccess && result == cudaDriverEntryPointSuccess && function != nullptr)
      return StreamCounters(reinterpret_cast<Batch>(function));
    cudaGetLastError();  // clears the error, or a later call would report it
#endif
    return std::nullopt;
  }

  /// Adds operations to a stream, in this order.
  /// @throws RuntimeError
  void add(cudaStream_t stream, std::span<const memory::staging::CounterOperation> operations) const {
    constexpr std::size_t most = 255;  // CUDA takes fewer than 256 at once
    std::vector<CUstreamBatchMemOpParams> batch;
    for (; !operations.empty(); operations = operations.subspan(batch.size())) {
      batch.clear();
      for (const auto& [kind, moment] : operations.first(std::min(most, operations.size()))) {
        auto& added = batch.emplace_back();
        // With unified addressing, pinned memory has the same address on device and host.
        const auto address = reinterpret_cast<CUdeviceptr>(moment.counter);
        if (kind == memory::staging::CounterOperation::Kind::Wait) {
          added.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
          added.waitValue.address = address;
          added.waitValue.value = moment.value;
          added.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
        } else {
          added.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
          added.writeValue.address = address;
          added.writeValue.value = moment.value;
          added.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
        }
      }
      if (const auto result = batch_(stream, static_cast<unsigned>(batch.size()), batch.data(), 0);
          result != CUDA_SUCCESS)
        throw RuntimeError("cuStreamBatchMemOp: error " + std::to_string(static_cast<int>(result)) + " of CUDA");
    }
  }

 private:
  Batch batch_;
};

}  // namespace tessera::device::staging
