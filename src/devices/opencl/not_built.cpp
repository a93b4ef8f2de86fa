// SPDX-License-Identifier: BSD-3-Clause
// The functions of opencl.hpp in a build without OpenCL.
#include <tessera/error.hpp>

#include "opencl.hpp"

namespace tessera::device::opencl {

namespace {
constexpr const char* without = "this Tessera was built without OpenCL";
}

gpu::Probe probe(int /*wanted*/, Kinds kinds, bool /*beside_cuda*/) {
  if (kinds == Kinds::Gpus) return {};
  return {{}, {without}};
}
std::vector<std::string> gpus_of_other_makers() { return {}; }
std::string conditions(int /*device*/) { return {}; }
double kernel_seconds(char /*type*/, int /*device*/, int /*n*/) { throw RuntimeError(without); }
LinkRates measure_link(int /*device*/) { throw RuntimeError(without); }
void require_same_device(int /*device*/) { throw RuntimeError(without); }

}  // namespace tessera::device::opencl
