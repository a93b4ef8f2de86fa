// SPDX-License-Identifier: BSD-3-Clause
#include "run_json.hpp"

#include <starpu.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "codelets/colours.hpp"
#include "common/starpu_version.hpp"
#include "devices/gpu_workers.hpp"
#include "machine/machine.hpp"

namespace tessera::runtime {

namespace {

using nlohmann::ordered_json;

/// The words of the program's command line. The first one is the program's file name, without its folder.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (!words.empty()) words.front() = std::filesystem::path(words.front()).filename();
  return words;
}

/// The index, among the machine's GPUs, of the GPU with this memory node.
std::size_t gpu_index(const machine::Machine& machine, unsigned node) {
  const auto has_node = [node](const std::vector<int>& workers) {
    return starpu_worker_get_memory_node(static_cast<unsigned>(workers.front())) == node;
  };
  return static_cast<std::size_t>(std::ranges::find_if(machine.gpu_workers, has_node) - machine.gpu_workers.begin());
}

ordered_json nodes_json(const machine::Machine& machine) {
  auto nodes = ordered_json::array();
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
    const bool gpu = device::gpu_workers::is_gpu_memory(node);
    auto name = node == STARPU_MAIN_RAM ? std::string("host") : "NUMA " + std::to_string(node);
    if (gpu) name = "GPU " + std::to_string(gpu_index(machine, node));
    nodes.push_back({{"id", node}, {"name", name}, {"kind", gpu ? "gpu" : "host"}});
  }
  return nodes;
}

ordered_json workers_json(const machine::Machine& machine) {
  auto workers = ordered_json::array();
  int cpus = 0;
  std::map<std::size_t, int> of_device;
  for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
    const auto id = static_cast<int>(w);
    const bool gpu = device::gpu_workers::is_gpu(id);
    std::string name;
    if (gpu) {
      const auto index = gpu_index(machine, starpu_worker_get_memory_node(w));
      name = "GPU " + std::to_string(index);
      if (machine.gpu_workers[index].size() > 1) name += "." + std::to_string(of_device[index]++);
    } else {
      name = "CPU " + std::to_string(cpus++);
    }
    workers.push_back(
        {{"id", id}, {"name", name}, {"kind", gpu ? "gpu" : "cpu"}, {"node", starpu_worker_get_memory_node(w)}});
  }
  return workers;
}

ordered_json colours_json() {
  ordered_json colours;
  for (const auto& [operation, rgb] : codelets::operation_colours) {
    char text[8];
    std::snprintf(text, sizeof text, "#%06x", rgb);
    colours[std::string(operation)] = {{"colour", text}};
  }
  return colours;
}

}  // namespace

std::string machine_text(const machine::Machine& machine) {
  std::map<std::string, int> gpus;
  for (int gpu = 0; gpu < machine.gpu_count(); gpu++)
    for (const auto& info : machine.gpu_info)
      if (info.ordinal == machine.gpus[static_cast<std::size_t>(gpu)] && info.opencl == machine.is_opencl(gpu))
        gpus[info.name]++;
  std::string text;
  for (const auto& [name, count] : gpus) text += std::to_string(count) + " " + name + ", ";
  const int cpus = machine.cpu_workers;
  return text + std::to_string(cpus) + (cpus == 1 ? " CPU worker" : " CPU workers");
}

ordered_json run_json(const machine::Machine& machine, const std::string& policy) {
  ordered_json run;
  run["format"] = "tessera-trace 1";
  run["tessera"] = TESSERA_VERSION;
  run["starpu"] = common::starpu_version_text();
  run["command"] = command_line();
  run["machine"] = machine_text(machine);
#ifdef STARPU_SIMGRID
  run["simulated"] = true;
#else
  run["simulated"] = false;
#endif
  run["policy"] = policy;
  run["operations"] = colours_json();
  run["nodes"] = nodes_json(machine);
  run["workers"] = workers_json(machine);
  return run;
}

}  // namespace tessera::runtime
