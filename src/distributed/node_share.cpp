// SPDX-License-Identifier: BSD-3-Clause
#include "node_share.hpp"

#include <starpu.h>

#include <algorithm>
#include <vector>

namespace tessera::detail {

ShareOfCores::ShareOfCores(MPI_Comm comm) {
  CPU_ZERO(&before_);
#ifndef STARPU_SIMGRID  // there, every process has a described machine for itself
  sched_getaffinity(0, sizeof(before_), &before_);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &on_node_.part);
  MPI_Comm_size(node, &on_node_.parts);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(on_node_.parts));
  MPI_Allgather(&before_, sizeof(before_), MPI_BYTE, all.data(), sizeof(before_), MPI_BYTE, node);
  MPI_Comm_free(&node);
  part_.parts = 0;
  for (int other = 0; other < on_node_.parts; other++) {
    if (CPU_EQUAL(&all[static_cast<std::size_t>(other)], &before_) == 0) continue;
    if (other < on_node_.part) part_.part++;
    part_.parts++;
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; core++)
    if (CPU_ISSET(core, &before_)) cores.push_back(core);
  const auto count = static_cast<int>(cores.size());
  const int first = part_.part * count / part_.parts, end = std::max(first + 1, (part_.part + 1) * count / part_.parts);
  cores_ = std::max(1, std::min(end, count) - first);
  if (!is_shared() || count == 0) return;
  cpu_set_t mine;
  CPU_ZERO(&mine);
  for (int i = first; i < end && i < count; i++) CPU_SET(cores[static_cast<std::size_t>(i)], &mine);
  sched_setaffinity(0, sizeof(mine), &mine);
#endif
}

ShareOfCores::~ShareOfCores() {
  if (is_shared()) sched_setaffinity(0, sizeof(before_), &before_);
}

RuntimeOptions with_share(const RuntimeOptions& given, const ShareOfCores& share) {
  auto options = given;
  options.node_part = share.on_node().part;
  options.node_parts = share.on_node().parts;
  // StarPU-MPI has a thread that polls. Where there are a few cores, it gets one.
  constexpr int few = 3;
  if (options.cpus_without_gpus < 0)
    options.cpus_without_gpus = share.cores() > few ? share.cores() - 1 : share.cores();
  return options;
}

}  // namespace tessera::detail
