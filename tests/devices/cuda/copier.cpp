// SPDX-License-Identifier: BSD-3-Clause
// Copies through staging buffers that fail.
#include "devices/cuda/copier.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "support/on_gpu.hpp"

namespace tessera::test::copier_cpp {
namespace {

thread_local bool events_fail = false;
thread_local cudaStream_t used_link = nullptr;

}  // namespace

/// The functions of this program are found before those of CUDA. If events fail, the link is busy for some time.
extern "C" cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  static const auto of_cuda = reinterpret_cast<decltype(&cudaEventRecord)>(dlsym(RTLD_NEXT, "cudaEventRecord"));
  if (!events_fail) return of_cuda(event, stream);
  used_link = stream;
  cudaLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }, nullptr);
  return cudaErrorUnknown;
}

namespace {

/// The caller then frees the tile, and the next copy uses the buffers.
TEST(StagedCopy, LeavesTheLinkIdleIfItFails) {
  constexpr int n = 64;
  HostMatrix<double> A(n, n);
  const OnGpu<double> copy(A);
  device::PartialTile host{}, tile{};
  host.matrix.ptr = reinterpret_cast<std::uintptr_t>(A.data());
  tile.matrix.ptr = reinterpret_cast<std::uintptr_t>(copy.data());
  for (auto* const matrix : {&host.matrix, &tile.matrix})
    matrix->nx = matrix->ny = matrix->ld = n, matrix->elemsize = sizeof(double);
  const std::vector<common::Rectangle> pieces{{0, 0, n, n}};
  for (const bool to_gpu : {true, false}) {
    const device::staging::TileCopy job{&host, &tile, pieces, to_gpu};
    job.select_device();
    device::staging::Copier copier;
    copier.prepare(job);
    memory::staging::Pieces left;
    left.open(job.piece_count());
    events_fail = true;
    EXPECT_THROW(copier.copy(job, left), RuntimeError);
    events_fail = false;
    EXPECT_EQ(cudaStreamQuery(used_link), cudaSuccess) << to_gpu;
  }
}

}  // namespace
}  // namespace tessera::test::copier_cpp
