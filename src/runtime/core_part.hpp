// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <vector>

namespace tessera::detail {

/// What Linux calls a CPU: a hardware thread, one of those of a core.
struct Processor {
  int socket, core, number;
  auto operator<=>(const Processor&) const = default;
};

/// One of several parts of the processors: whole cores, which are neighbours. Cores are shared only if there are fewer
/// cores than parts.
std::vector<Processor> part_of(std::vector<Processor> all, int part, int parts);
int cores_of(const std::vector<Processor>& processors);

/// While it lives, this thread and those that it starts may run only on one of several parts of its cores.
class PartOfCores {
 public:
  /// @param parts  1: nothing changes
  PartOfCores(int part, int parts);
  ~PartOfCores();
  PartOfCores(const PartOfCores&) = delete;
  PartOfCores& operator=(const PartOfCores&) = delete;

  int cores() const noexcept { return cores_; }  ///< in the part, at least 1

 private:
  cpu_set_t before_;
  int cores_ = 1;
  bool is_part_ = false;
};

}  // namespace tessera::detail
