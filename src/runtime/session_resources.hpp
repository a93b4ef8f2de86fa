// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "common/not_copyable.hpp"

struct starpu_conf;

/// The resources of a Session. Each destructor releases its resource, even if the constructor of Session throws.
namespace tessera::detail {

/// A running StarPU, either started by Tessera or started by the program and joined.
class RunningStarpu : NotCopyable {
 public:
  /// @param conf  null: joins the StarPU that is already running
  /// @throws RuntimeError if StarPU refuses
  explicit RunningStarpu(starpu_conf* conf);
  ~RunningStarpu();
};

/// cuBLAS handles and device heaps of the GPUs that StarPU drives, and staging buffers for copies to them. For OpenCL
/// devices, kernels and queues.
class PreparedDevices : NotCopyable {
 public:
  /// @param pinned_memory  as for `tile_interface::start`
  explicit PreparedDevices(std::size_t pinned_memory);
  ~PreparedDevices();

 private:
  PreparedDevices() = default;
};

}  // namespace tessera::detail
