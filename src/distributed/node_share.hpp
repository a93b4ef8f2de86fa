// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>

#include <tessera/runtime.hpp>

#include "runtime/core_part.hpp"
#include "runtime/ranks_of_node.hpp"

namespace tessera::distributed {

/// During the lifetime of this object, this thread and those that it starts may run only on this process's share of the
/// cores that processes of the node have in common.
class ShareOfNode {
 public:
  /// Collective.
  explicit ShareOfNode(MPI_Comm comm);

  int cores() const noexcept { return cores_ ? cores_->cores() : 1; }
  /// This process's position among those of the node.
  runtime::NodePart on_node() const noexcept { return on_node_; }
  /// This process's position among those that see the same GPUs. A batch system may give each process its own GPUs.
  runtime::NodePart gpus() const noexcept { return gpus_; }

 private:
  runtime::NodePart on_node_, gpus_;
  std::optional<runtime::PartOfCores> cores_;
};

/// Options with this process's share of the node, unless they or the environment say otherwise.
RuntimeOptions with_share(const RuntimeOptions& given, const ShareOfNode& share);

}  // namespace tessera::distributed
