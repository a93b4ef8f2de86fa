// SPDX-License-Identifier: BSD-3-Clause
#include "devices/cuda/stream_counters.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

namespace tessera::test::stream_counters_cpp {
namespace {

using device::staging::StreamCounters;
using memory::staging::CounterOperation;

std::vector<std::uint32_t> added;

/// Takes as many operations at once as CUDA's driver does.
CUresult few_at_once(CUstream /*stream*/, unsigned count, CUstreamBatchMemOpParams* operations, unsigned /*flags*/) {
  if (count == 0 || count >= 256) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++) added.push_back(operations[i].writeValue.value);
  return CUDA_SUCCESS;
}

TEST(StreamCounters, SplitBatchesThatAreTooLargeForTheDriver) {
  std::uint32_t counter = 0;
  std::vector<CounterOperation> operations;
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t value = 0; value < 700; value++) {
    operations.push_back({CounterOperation::Kind::Reach, {&counter, value}});
    wanted.push_back(value);
  }
  StreamCounters(few_at_once).add(nullptr, operations);
  EXPECT_EQ(added, wanted);
}

}  // namespace
}  // namespace tessera::test::stream_counters_cpp
