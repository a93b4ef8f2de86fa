// SPDX-License-Identifier: BSD-3-Clause
#include "ranks_of_node.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>

#include "common/environment.hpp"

namespace tessera::runtime {

namespace {

constexpr const char* visible_gpus = "CUDA_VISIBLE_DEVICES";

/// Variables in which launchers tell a process its rank and the number of ranks.
struct Launcher {
  const char *rank, *count;
};
constexpr Launcher launchers[] = {
    // variables of the ranks on the node
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},  // Open MPI
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},                        // Hydra: MPICH, Intel MPI
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},    // MVAPICH
    {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},                      // Cray
    {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"},
    {"SLURM_LOCALID", ""},  // last, because it is also set for a batch script, which may call mpirun
};

/// The variables in which launchers give a process its rank in the whole program, and the number of processes.
/// SLURM_NTASKS is not among them, because a batch script also has it.
constexpr Launcher of_program[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

/// The contents of a file in /proc; "" if it cannot be read.
std::string content(pid_t process, const char* file) {
  std::ifstream stream("/proc/" + std::to_string(process) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The value of a variable at the start of the process; empty if it was not set or may not be read.
std::optional<std::string> variable_of(pid_t process, std::string_view name) {
  const auto all = content(process, "environ");
  for (std::string_view rest = all; !rest.empty();) {
    const auto entry = rest.substr(0, rest.find('\0'));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return std::string(entry.substr(name.size() + 1));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return {};
}

pid_t parent_of(pid_t process) {
  const auto stat = content(process, "stat");
  const auto name_end = stat.rfind(')');  // the program's name may contain spaces and parentheses
  int parent = 0;
  char state = 0;
  if (name_end == std::string::npos || std::sscanf(stat.c_str() + name_end + 1, " %c %d", &state, &parent) != 2)
    return 0;
  return parent;
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code unreadable;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", unreadable)) {
    std::ifstream list(thread.path() / "children");
    children.insert(children.end(), std::istream_iterator<pid_t>(list), {});
  }
  return children;
}

/// The process that the launcher has started for this rank: this one, or a script that has started it.
pid_t started_by_launcher(const char* rank_variable) {
  pid_t process = getpid();
  for (pid_t parent = getppid(); parent > 1 && variable_of(parent, rank_variable); parent = parent_of(parent))
    process = parent;
  return process;
}

/// Whether this process is not bound to cores: it may run on all cores, or on all cores that the launcher may use.
bool is_unbound(const cpu_set_t& cores, pid_t launcher) {
  if (CPU_COUNT(&cores) >= sysconf(_SC_NPROCESSORS_ONLN)) return true;
  cpu_set_t its;
  CPU_ZERO(&its);
  return launcher > 1 && sched_getaffinity(launcher, sizeof(its), &its) == 0 && CPU_EQUAL(&its, &cores) != 0;
}

}  // namespace

SharedWithRanks shared_with(const LaunchedRank& mine, const std::vector<LaunchedRank>& others) {
  SharedWithRanks shared;
  const auto add = [&](NodePart& part, const LaunchedRank& other) {
    part.parts++;
    if (std::tie(other.rank, other.process) < std::tie(mine.rank, mine.process)) part.part++;
  };
  for (const auto& other : others) {
    if (CPU_EQUAL(&other.cores, &mine.cores) != 0) add(shared.cores, other);
    if (other.visible_gpus == mine.visible_gpus) add(shared.gpus, other);
  }
  return shared;
}

SharedWithRanks shared_with_ranks_of_node() {
  const auto* launcher =
      std::ranges::find_if(launchers, [](const Launcher& one) { return !common::environment(one.rank).empty(); });
  if (launcher == std::end(launchers)) return {};
  const auto rank = common::as_number<int>(common::environment(launcher->rank));
  if (!rank) return {};
  LaunchedRank mine{*rank, started_by_launcher(launcher->rank), {}, std::string(common::environment(visible_gpus))};
  sched_getaffinity(0, sizeof(mine.cores), &mine.cores);
  std::vector<LaunchedRank> others;
  const pid_t its_parent = parent_of(mine.process);
  for (const pid_t process : children_of(its_parent)) {
    const auto its = variable_of(process, launcher->rank);
    const auto its_rank = its ? common::as_number<int>(*its) : std::nullopt;
    if (process == mine.process || !its_rank) continue;
    LaunchedRank other{*its_rank, process, {}, variable_of(process, visible_gpus).value_or("")};
    if (sched_getaffinity(process, sizeof(other.cores), &other.cores) == 0) others.push_back(std::move(other));
  }
  // More processes may start later, and a process in its own container does not see the others.
  const auto count = common::as_number<int>(common::environment(launcher->count)).value_or(1);
  if (std::ssize(others) + 1 < count && *rank < count && is_unbound(mine.cores, its_parent))
    return {{*rank, count}, {*rank, count}};
  return shared_with(mine, others);
}

int launched_ranks() {
  int count = 1;
  for (const auto& launcher : of_program)
    count = std::max(count, common::as_number<int>(common::environment(launcher.count)).value_or(1));
  return count;
}

int launched_rank() {
  for (const auto& launcher : of_program)
    if (common::as_number<int>(common::environment(launcher.count)).value_or(1) > 1)
      return common::as_number<int>(common::environment(launcher.rank)).value_or(0);
  return 0;
}

}  // namespace tessera::runtime
