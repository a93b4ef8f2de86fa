// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platforms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/variables.hpp"
#include "common/whole_file.hpp"
#include "machine/starpu_files.hpp"
#include "shared/exit_code.hpp"

namespace tessera::simulate {

namespace {

namespace fs = std::filesystem;
using tools::BadArgument;

/// The names of the machines in a folder.
std::string known_platforms(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// The folder of the described machines: the value of TESSERA_PLATFORMS; otherwise the folder in this program's
/// installation; otherwise the one in the source tree.
fs::path platforms_folder() {
  if (const auto folder = common::text_of(common::variables::platforms); !folder.empty()) return folder;
  const auto program = fs::read_symlink("/proc/self/exe").parent_path();
  auto installed = (program / TESSERA_INSTALLED_PLATFORMS).lexically_normal();
  if (std::error_code error; fs::is_directory(installed, error)) return installed;
  return (program / TESSERA_SOURCE_PLATFORMS).lexically_normal();
}

}  // namespace

std::filesystem::path find_platform(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) {
    if (!fs::is_regular_file(name)) throw BadArgument("--platform", name, "is not a file");
    return fs::absolute(name);
  }
  const auto platforms = platforms_folder();
  if (auto file = platforms / (name + ".json"); fs::is_regular_file(file)) return file;
  throw BadArgument(
      "--platform", name,
      fmt::format("is not a machine in {}; known machines: {}", platforms.string(), known_platforms(platforms)));
}

device::simulated::Machine read_platform(const fs::path& file) {
  try {
    return device::simulated::read_machine(file);
  } catch (const RuntimeError& error) {
    throw BadArgument(std::string("--platform: ") + error.what());
  }
}

void put_environment(const fs::path& platform, const Scratch& scratch, int gpu_memory,
                     const device::simulated::Machine& machine) {
  const auto put = [](const char* name, const std::string& value) { setenv(name, value.c_str(), 1); };
  put("TESSERA_PLATFORM", platform);
  put("STARPU_PERF_MODEL_DIR", scratch);
  put("STARPU_HOME", scratch);
  put("STARPU_HOSTNAME", host_name);
  put("STARPU_NWORKER_PER_CUDA", "1");
  // Allocation is free, as in a warm call, in which StarPU reuses device memory.
  put("STARPU_SIMGRID_CUDA_MALLOC_COST", "0");
  if (gpu_memory > 0) put("STARPU_LIMIT_CUDA_MEM", std::to_string(gpu_memory));
  constexpr double little = 5e8;
  const bool has_little = std::ranges::any_of(machine.kinds, [](const auto& kind) { return kind.memory < little; });
  if (gpu_memory > 0 || has_little) put("STARPU_SUBALLOCATOR", "0");  // it allocates 32 MiB at a time, or fails
}

namespace {

std::string host(int process) { return fmt::format("process{}", process); }

std::string link(const std::string& name, double rate, double latency) {
  return fmt::format("   <link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{:.9f}s\"/>\n", name, rate, latency);
}

/// The processes, and the routes of their messages: within a node, or from node to node.
std::string network_zone(const device::simulated::Network& network, int processes) {
  const auto node_of = [&](int process) { return process / network.processes_per_node; };
  std::string text = " <AS id=\"network\" routing=\"Full\">\n";
  for (int process = 0; process < processes; process++)
    text += fmt::format("   <host id=\"{}\" speed=\"1Gf\"/>\n", host(process));
  for (int process = 0; process < processes; process++)
    text += link("into " + host(process), network.inside, network.latency);
  for (int node = 0; node <= node_of(processes - 1); node++) {
    text += link(fmt::format("into node{}", node), network.in, 0);
    text += link(fmt::format("out of node{}", node), network.out, network.latency);
  }
  const std::string core = network.core > 0 ? "<link_ctn id=\"core\"/>" : "";
  if (network.core > 0) text += link("core", network.core, 0);
  for (int from = 0; from < processes; from++)
    for (int to = 0; to < processes; to++) {
      if (from == to) continue;
      text += fmt::format("   <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\">", host(from), host(to));
      if (node_of(from) == node_of(to)) text += fmt::format("<link_ctn id=\"into {}\"/>", host(to));
      else
        text += fmt::format("<link_ctn id=\"out of node{}\"/>{}<link_ctn id=\"into node{}\"/>", node_of(from), core,
                            node_of(to));
      text += "</route>\n";
    }
  return text + " </AS>\n";
}

}  // namespace

void write_cluster(const device::simulated::Machine& machine, int processes, const std::filesystem::path& platform,
                   const std::filesystem::path& hosts) {
  std::string text =
      "<?xml version='1.0'?>\n"
      "<!DOCTYPE platform SYSTEM 'http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd'>\n"
      "<platform version=\"4\">\n<AS id=\"root\" routing=\"None\">\n";
  text += network_zone(*machine.network, processes);
  std::string names;
  for (int process = 0; process < processes; process++) {
    text += machine::starpu_zone(machine, fmt::format("StarPU-MPI{}", process));  // StarPU looks for this name
    names += host(process) + "\n";
  }
  common::write_whole(platform, text + "</AS>\n</platform>\n");
  common::write_whole(hosts, names);
}

}  // namespace tessera::simulate
