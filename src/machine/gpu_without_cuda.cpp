// SPDX-License-Identifier: BSD-3-Clause
#include "gpu.hpp"

/// What needs no answer where there is no CUDA, whether there are no GPUs or those of a described machine.
namespace tessera::gpu {

State state(int /*device*/) { return {}; }

KeepCurrentDevice::KeepCurrentDevice() = default;
KeepCurrentDevice::~KeepCurrentDevice() = default;

PinnedMemory::PinnedMemory(void* data, std::size_t /*bytes*/) : data_(data) {}
PinnedMemory::~PinnedMemory() = default;

}  // namespace tessera::gpu
