// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/error.hpp>

#include "devices/gpu.hpp"

/// Functions that are the same in all builds without CUDA, with or without the GPUs of a described machine.
namespace tessera::device::gpu {

namespace {
constexpr const char* without_cuda = "this Tessera was built without CUDA";
}

std::string pci_address(int /*device*/) { return {}; }

State state(int /*device*/) { return {}; }

KeepCurrentDevice::KeepCurrentDevice() = default;
KeepCurrentDevice::~KeepCurrentDevice() = default;

bool enable_access(int /*device*/, int /*peer*/) { return false; }

bool can_pin() { return false; }
double rate_of_pinned(void* /*data*/, std::size_t /*bytes*/, const std::vector<int>& /*devices*/) { return 0; }

// Without CUDA, no session uses GPU memory as an operand, so there is no stream to wait for.
void wait_for_default_stream(int /*device*/) {}
void wait_for_stream(CUstream_st* /*stream*/) { throw RuntimeError(without_cuda); }
bool compute_product(const blas::Call& /*call*/, int /*device*/) { return false; }
void share_pool(const void* /*data*/, int /*device*/, std::span<const int> /*devices*/) {}
void copy_columns(void* /*to*/, std::size_t /*to_stride*/, const void* /*from*/, std::size_t /*from_stride*/,
                  std::size_t /*height*/, std::size_t /*columns*/) {}

PinnedMemory::PinnedMemory(void* data, std::size_t /*bytes*/, std::optional<int> /*device*/) : data_(data) {}
PinnedMemory::~PinnedMemory() = default;

Allocation::Allocation(std::optional<int> /*device*/, std::size_t /*bytes*/) { throw RuntimeError(without_cuda); }
Allocation::~Allocation() = default;

}  // namespace tessera::device::gpu
