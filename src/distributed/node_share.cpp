// SPDX-License-Identifier: BSD-3-Clause
#include "node_share.hpp"

#include <starpu.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/environment.hpp"

namespace tessera::distributed {

ShareOfNode::ShareOfNode(MPI_Comm comm) {
#ifndef STARPU_SIMGRID  // in a simulation, every process has a described machine for itself
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &on_node_.part);
  MPI_Comm_size(node, &on_node_.parts);
  struct Process {
    cpu_set_t cores;
    std::uint64_t gpus;  ///< hash of the list of visible GPUs
  } mine{};
  sched_getaffinity(0, sizeof(mine.cores), &mine.cores);
  mine.gpus = std::hash<std::string_view>()(common::environment("CUDA_VISIBLE_DEVICES"));
  std::vector<Process> all(static_cast<std::size_t>(on_node_.parts));
  MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, node);
  MPI_Comm_free(&node);
  std::vector<runtime::LaunchedRank> ranks;
  for (const auto& process : all)
    ranks.push_back({static_cast<int>(ranks.size()), 0, process.cores, std::to_string(process.gpus)});
  const auto me = ranks.begin() + on_node_.part;
  const auto this_one = *me;
  ranks.erase(me);
  const auto shared = runtime::shared_with(this_one, ranks);
  gpus_ = shared.gpus;
  cores_.emplace(shared.cores.part, shared.cores.parts);
#endif
}

RuntimeOptions with_share(const RuntimeOptions& given, const ShareOfNode& share) {
  auto options = given;
  options.node_part = share.gpus().part;
  options.node_parts = share.gpus().parts;
  // StarPU-MPI has a polling thread. If there are more than a few cores, one is reserved for it.
  constexpr int few = 3;
  if (options.cpus_without_gpus < 0)
    options.cpus_without_gpus = share.cores() > few ? share.cores() - 1 : share.cores();
  return options;
}

}  // namespace tessera::distributed
