// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <sched.h>

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// While it lives, this thread and those that it starts may run only on this process's share of the cores that
/// processes of the node have in common.
class ShareOfCores {
 public:
  explicit ShareOfCores(MPI_Comm comm);
  ~ShareOfCores();
  ShareOfCores(const ShareOfCores&) = delete;
  ShareOfCores& operator=(const ShareOfCores&) = delete;

  int cores() const noexcept { return cores_; }
  bool is_shared() const noexcept { return part_.parts > 1; }
  /// This process's place among those of the node.
  struct Part {
    int part = 0, parts = 1;
  };
  Part on_node() const noexcept { return on_node_; }

 private:
  cpu_set_t before_;
  Part part_, on_node_;
  int cores_ = 1;
};

/// Options with this process's share of the node, where neither they nor the environment say otherwise.
RuntimeOptions with_share(const RuntimeOptions& given, const ShareOfCores& share);

}  // namespace tessera::detail
