// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

struct starpu_conf;

/// What a Session takes. The destructor of each gives it back, so that a constructor of Session that throws leaves
/// nothing behind.
namespace tessera::detail {

/// StarPU, started or joined.
class RunningStarpu {
 public:
  /// @param conf  null: joins the StarPU that runs
  /// @throws RuntimeError if StarPU refuses
  explicit RunningStarpu(starpu_conf* conf);
  ~RunningStarpu();
  RunningStarpu(const RunningStarpu&) = delete;
  RunningStarpu& operator=(const RunningStarpu&) = delete;
};

/// OpenBLAS with one thread for each call.
class SingleHostThread {
 public:
  SingleHostThread();
  ~SingleHostThread();
  SingleHostThread(const SingleHostThread&) = delete;
  SingleHostThread& operator=(const SingleHostThread&) = delete;

 private:
  int before_;
};

/// What Tessera keeps on the GPUs that StarPU drives, and for copies to them.
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
