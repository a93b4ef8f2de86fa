// SPDX-License-Identifier: BSD-3-Clause
#include "gpu.hpp"

/// Functions that are the same in all builds without CUDA, with or without the GPUs of a described machine.
namespace tessera::gpu {

std::string pci_address(int /*device*/) { return {}; }

State state(int /*device*/) { return {}; }

KeepCurrentDevice::KeepCurrentDevice() = default;
KeepCurrentDevice::~KeepCurrentDevice() = default;

bool can_pin() { return false; }

PinnedMemory::PinnedMemory(void* data, std::size_t /*bytes*/) : data_(data) {}
PinnedMemory::~PinnedMemory() = default;

}  // namespace tessera::gpu
