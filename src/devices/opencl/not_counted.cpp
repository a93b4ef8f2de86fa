// SPDX-License-Identifier: BSD-3-Clause
// A StarPU without OpenCL counts no devices.
#include "opencl.hpp"

namespace tessera::device::opencl {

int device_count() { return 0; }
bool counts_processors() { return false; }
std::string pci_address(int /*device*/) { return {}; }

bool is_buffer(const void* /*data*/) { return false; }

}  // namespace tessera::device::opencl
