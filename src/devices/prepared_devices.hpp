// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "common/not_copyable.hpp"

namespace tessera::device {

/// cuBLAS handles and device heaps of the GPUs that StarPU drives, and staging buffers for copies to them. For OpenCL
/// devices, kernels and queues.
class PreparedDevices : common::NotCopyable {
 public:
  /// @param pinned_memory  as for `tile_interface::start`
  explicit PreparedDevices(std::size_t pinned_memory);
  ~PreparedDevices();

 private:
  PreparedDevices() = default;
};

}  // namespace tessera::device
