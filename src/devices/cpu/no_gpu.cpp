// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/error.hpp>

#include "devices/gpu.hpp"
#include "devices/panels_on_cores.hpp"

namespace tessera::device::gpu {

Probe probe(int /*wanted*/, int /*first*/) { return {{}, {"this Tessera was built without CUDA"}}; }

std::vector<std::string> visible_devices() { return {}; }

LinkRates measure_links(const std::vector<int>& /*devices*/, std::size_t /*bytes*/) { return {}; }

BusyLinks measure_busy_links(const std::vector<int>& /*devices*/, int /*n*/, std::size_t /*bytes*/,
                             double /*seconds*/) {
  return {};
}

BusyLinks measure_links_of_first(const std::vector<int>& /*devices*/, int /*n*/, std::size_t /*bytes*/,
                                 double /*seconds*/) {
  return {};
}

bool is_pinned(const void* /*data*/, std::size_t /*bytes*/) { return false; }

std::optional<int> device_of(const void* /*data*/) { return std::nullopt; }

double product_seconds(char /*type*/, const std::vector<int>& /*devices*/, int /*n*/, double /*seconds*/) {
  throw RuntimeError("cannot measure a GPU: this Tessera was built without CUDA");
}

double kernel_seconds(char type, int device, int n) { return product_seconds(type, {device}, n, 0); }

double memory_rate(int /*device*/, std::size_t /*bytes*/) {
  throw RuntimeError("cannot measure a GPU: this Tessera was built without CUDA");
}

std::vector<double> column_seconds(int /*device*/, const std::vector<std::size_t>& /*bytes*/, std::size_t /*apart*/,
                                   bool /*beside_products*/) {
  throw RuntimeError("cannot measure a GPU: this Tessera was built without CUDA");
}

bool factorizes_beside_products() { return false; }

double panel_rate_of_cores() { return 0; }

}  // namespace tessera::device::gpu
