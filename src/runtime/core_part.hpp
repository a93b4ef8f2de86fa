// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <vector>

#include "common/not_copyable.hpp"

namespace tessera::runtime {

/// A CPU in Linux's sense: a hardware thread of a core.
struct Processor {
  int socket, core, number;
  auto operator<=>(const Processor&) const = default;
};

/// One of several parts of the processors. Each part consists of whole, neighbouring cores. Parts share cores only if
/// there are more parts than cores.
std::vector<Processor> part_of(std::vector<Processor> all, int part, int parts);
int cores_of(const std::vector<Processor>& processors);

/// Restricts this thread, and threads that it starts, to one part of its cores during the lifetime of this object.
class PartOfCores : common::NotCopyable {
 public:
  /// @param parts  if 1, nothing changes
  PartOfCores(int part, int parts);
  ~PartOfCores();

  int cores() const noexcept { return cores_; }  ///< number of cores in the part, at least 1

 private:
  cpu_set_t before_;
  int cores_ = 1;
  bool is_part_ = false;
};

}  // namespace tessera::runtime
