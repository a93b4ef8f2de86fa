// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

struct starpu_conf;

/// The resources of a Session. Each destructor releases its resource, so that nothing is left behind if the constructor
/// of Session throws.
namespace tessera::detail {

/// A running StarPU, either started by Tessera or started by the program and joined.
class RunningStarpu {
 public:
  /// @param conf  null: joins the StarPU that is already running
  /// @throws RuntimeError if StarPU refuses
  explicit RunningStarpu(starpu_conf* conf);
  ~RunningStarpu();
  RunningStarpu(const RunningStarpu&) = delete;
  RunningStarpu& operator=(const RunningStarpu&) = delete;
};

/// Sets OpenBLAS to one thread per call, and restores the former number.
class SingleHostThread {
 public:
  /// While one exists, sessions that the calling thread starts leave the number of threads alone: the program computes
  /// on the host meanwhile, and its caller sets the number for the time of tasks.
  struct LeftToCaller {
    LeftToCaller();
    ~LeftToCaller();
    LeftToCaller(const LeftToCaller&) = delete;
    LeftToCaller& operator=(const LeftToCaller&) = delete;
  };
  SingleHostThread();
  ~SingleHostThread();
  SingleHostThread(const SingleHostThread&) = delete;
  SingleHostThread& operator=(const SingleHostThread&) = delete;

 private:
  int before_ = 0;  ///< 0: it was left alone
};

/// cuBLAS handles and device heaps of the GPUs that StarPU drives, and staging buffers for copies to them. For OpenCL
/// devices, kernels and queues.
class PreparedDevices {
 public:
  /// @param pinned_memory  as for `tile_interface::start`
  explicit PreparedDevices(std::size_t pinned_memory);
  ~PreparedDevices();
  PreparedDevices(const PreparedDevices&) = delete;
  PreparedDevices& operator=(const PreparedDevices&) = delete;

 private:
  PreparedDevices() = default;
};

}  // namespace tessera::detail
