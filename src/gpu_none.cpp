// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/error.hpp>

#include "gpu.hpp"

namespace tessera::gpu {

Probe probe(int /*wanted*/) { return {{}, {"this Tessera was built without CUDA"}}; }

std::vector<std::string> visible_devices() { return {}; }

KeepCurrentDevice::KeepCurrentDevice() = default;
KeepCurrentDevice::~KeepCurrentDevice() = default;

LinkRates measure_links(const std::vector<int>& /*devices*/, std::size_t /*bytes*/) { return {}; }

bool is_pinned(const void* /*data*/) { return false; }

template <Scalar T>
double product_seconds(const std::vector<int>& /*devices*/, int /*n*/, double /*seconds*/) {
  throw RuntimeError("a GPU was to be measured, but this Tessera was built without CUDA");
}

template <Scalar T>
double kernel_seconds(int device, int n) {
  return product_seconds<T>({device}, n, 0);
}

template double kernel_seconds<float>(int, int);
template double kernel_seconds<double>(int, int);
template double kernel_seconds<std::complex<float>>(int, int);
template double kernel_seconds<std::complex<double>>(int, int);

template double product_seconds<float>(const std::vector<int>&, int, double);
template double product_seconds<double>(const std::vector<int>&, int, double);
template double product_seconds<std::complex<float>>(const std::vector<int>&, int, double);
template double product_seconds<std::complex<double>>(const std::vector<int>&, int, double);

std::vector<double> column_seconds(int /*device*/, const std::vector<std::size_t>& /*bytes*/) {
  throw RuntimeError("a GPU was to be measured, but this Tessera was built without CUDA");
}

PinnedMemory::PinnedMemory(void* data, std::size_t /*bytes*/) : data_(data) {}
PinnedMemory::~PinnedMemory() = default;

}  // namespace tessera::gpu
