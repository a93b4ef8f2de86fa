// SPDX-License-Identifier: BSD-3-Clause
// tessera-simulate-mpi starts tessera-mpi-bench on described machines with a network, in simulated time.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "common/temporary_folder.hpp"
#include "devices/simulated/machine_description.hpp"
#include "machine/starpu_files.hpp"
#include "shared/child_process.hpp"
#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"
#include "simulate/platforms.hpp"

#undef main  // starpu.h renames the main of a simulating program; this main only starts such programs

namespace {

namespace fs = std::filesystem;
using namespace tessera;
using tools::BadArgument;

struct Options {
  std::string platform, grid;
  int nodes = 0, gpu_memory = 0;
  std::vector<std::string> others;  ///< options of tessera-mpi-bench
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Simulates routines on matrices over many processes. All other options are those of tessera-mpi-bench, which "
      "prints the results: times are simulated, bytes are counted.",
      "tessera-simulate-mpi");
  tools::add_option(
      app, "--platform", options.platform, "NAME|FILE",
      "the machine of each process, and the network: a name from traces/platforms, or a file in the same format")
      ->required();
  tools::add_number(app, "--nodes", options.nodes, "R", 1, 4096, "nodes of the machine")->required();
  tools::add_option(app, "--grid", options.grid, "PxQ", "processes in rows and columns, as 2x3; all nodes are used")
      ->required();
  tools::add_number(app, "--gpu-memory", options.gpu_memory, "MiB", 1, 1 << 30,
                    "memory of a GPU that may be used (90 % of it)");
  app.allow_extras();
  if (!tools::parse_command_line(app, argc, argv)) return {};
  options.others = app.remaining();
  return options;
}

/// The number of processes in the grid. It must be a multiple of the processes per node.
int processes_of(const Options& options, const device::simulated::Network& network) {
  const auto [p, q] = tools::parse_pair("--grid", options.grid);
  if (p > 4096 || q > 4096) throw BadArgument("--grid", options.grid, "must be rows and columns, e.g. 2x3");
  const int needed = (p * q - 1) / network.processes_per_node + 1;
  if (options.nodes != needed)
    throw BadArgument("--nodes", std::to_string(options.nodes),
                      fmt::format("must be {}: a grid {} has {} processes, and a node {}", needed, options.grid, p * q,
                                  network.processes_per_node));
  return p * q;
}

void put_more_environment(int processes) {
  const auto put = [](const char* name, const std::string& value) { setenv(name, value.c_str(), 1); };
  put("STARPU_SILENT", "1");
  put("STARPU_MALLOC_SIMULATION_FOLD", "64");  // [MiB]; large, because a process may have at most 65530 mappings
  // SimGrid loads a copy of the program for each process. Together they need more memory for thread-local variables
  // than the loader sets aside.
  constexpr int thread_local_bytes = 4096;
  const char* const tunables = std::getenv("GLIBC_TUNABLES");
  put("GLIBC_TUNABLES", (tunables == nullptr ? std::string() : tunables + std::string(":")) +
                            "glibc.rtld.optional_static_tls=" + std::to_string(processes * thread_local_bytes));
}

/// SimGrid uses the platform's rates unchanged. Threads are simulated, and nothing is computed.
const std::vector<std::string> settings = {"--cfg=smpi/bw-factor:0:1",       "--cfg=smpi/lat-factor:0:1",
                                           "--cfg=network/crosstraffic:0",   "--cfg=network/TCP-gamma:-1",
                                           "--cfg=network/weight-S:0",       "--cfg=smpi/simulate-computation:no",
                                           "--cfg=contexts/stack-size:1024", "--cfg=smpi/list-leaks:0",
                                           "--log=root.thresh:warning",      "--log=ker_lmm.thresh:error"};

int wait_for_smpirun(std::vector<std::string> words) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw RuntimeError(std::string("cannot start a process for the simulation: ") + std::strerror(errno));
  if (child == 0) {
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments.front(), arguments.data());
    std::fprintf(stderr, "tessera-simulate-mpi: smpirun: %s\n", std::strerror(errno));
    _exit(tools::RuntimeFailed);
  }
  const int status = tools::wait_for(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : int{tools::RuntimeFailed};
}

int run(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) return tools::Success;
  const auto platform = simulate::find_platform(options->platform);
  const auto machine = simulate::read_platform(platform);
  if (!machine.network) throw BadArgument("--platform", options->platform, "has no field 'network'");
  const int processes = processes_of(*options, *machine.network);
  const common::TemporaryFolder folder("tessera-simulate-mpi");
  machine::write_starpu_files(machine, folder.path(), simulate::host_name);
  simulate::write_cluster(machine, processes, folder / "cluster.xml", folder / "hosts");
  simulate::put_environment(platform, folder.path(), options->gpu_memory, machine);
  put_more_environment(processes);
  std::vector<std::string> words = {
      "smpirun", "-np", std::to_string(processes), "-platform", folder / "cluster.xml", "-hostfile", folder / "hosts"};
  words.insert(words.end(), settings.begin(), settings.end());
  words.push_back(fs::read_symlink("/proc/self/exe").parent_path() / "tessera-mpi-bench");
  words.insert(words.end(), {"--grid", options->grid});
  words.insert(words.end(), options->others.begin(), options->others.end());
  return wait_for_smpirun(words);
}

}  // namespace

int main(int argc, char** argv) {
  return tools::exit_code_of("tessera-simulate-mpi", [&] { return run(argc, argv); });
}
