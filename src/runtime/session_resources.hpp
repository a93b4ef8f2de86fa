// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/not_copyable.hpp"

struct starpu_conf;

/// The resources of a Session. Each destructor releases its resource, even if the constructor of Session throws.
namespace tessera::runtime {

/// A running StarPU, either started by Tessera or started by the program and joined.
class RunningStarpu : common::NotCopyable {
 public:
  /// @param conf  null: joins the StarPU that is already running
  /// @throws RuntimeError if StarPU refuses
  explicit RunningStarpu(starpu_conf* conf);
  ~RunningStarpu();
};

}  // namespace tessera::runtime
