// SPDX-License-Identifier: BSD-3-Clause
#include "bus_files.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::machine {

namespace {

/// A number with up to six decimals, written without a decimal point: 1.25 is "125e-2".
std::string number(double value) {
  int exponent = -6;
  auto digits = std::llround(1e6 * value);
  for (; exponent < 0 && digits % 10 == 0; exponent++) digits /= 10;
  return std::to_string(digits) + (exponent < 0 ? "e" + std::to_string(exponent) : "");
}

/// A square table over all endpoints. StarPU ignores the last value of each line and the last line; both hold dummies.
std::string table(int ends, const std::function<double(int, int)>& cell) {
  std::string text = "# from (row) to (column): NUMA nodes, then GPUs\n";
  for (int from = 0; from < ends; from++) {
    for (int to = 0; to < ends; to++) text += (from == to ? "0" : number(cell(from, to))) + "\t";
    text += "nan\n";
  }
  return text + "nan\tnan\n";
}

std::string config(const Bus& bus) {
  auto text = "# Current configuration\n" + std::to_string(bus.cores) + " # Number of CPUs\n" +
              std::to_string(bus.numa_nodes) + " # Number of NUMA nodes\n" + std::to_string(bus.gpus) +
              " # Number of CUDA nodes\n";
  text += std::to_string(bus.opencl_devices) + " # Number of OpenCL nodes\n";
  for (const char* kind : {"FPGA", "Disk", "MPI_MS", "TCPIP_MS", "HIP"})  // in StarPU's order
    text += std::string("0 # Number of ") + kind + " nodes\n";
  return text;
}

/// The NUMA nodes of each device, nearest first. StarPU restarts the numbering for OpenCL devices at 0.
std::string affinity(const Bus& bus) {
  std::string text = "# GPU\t";
  for (int node = 0; node < bus.numa_nodes; node++) text += "NUMA" + std::to_string(node) + "\t";
  text += '\n';
  for (int i = 0; i < bus.gpus + bus.opencl_devices; i++) {
    text += std::to_string(i < bus.gpus ? i : i - bus.gpus) + "\t";
    for (const int node : bus.nodes_of.at(static_cast<std::size_t>(i))) text += std::to_string(node) + "\t";
    text += '\n';
  }
  return text;
}

}  // namespace

std::vector<BusFile> bus_files(const Bus& bus) {
  const int ends = std::min(bus.numa_nodes + bus.gpus + bus.opencl_devices, bus.most_ends);
  return {{".bandwidth", table(ends, [&](int from, int to) { return 1e-6 * bus.rate(from, to); })},  // MB/s
          {".latency", table(ends, [&](int from, int to) { return 1e6 * bus.latency(from, to); })},  // µs
          {".affinity", affinity(bus)},
          {".platform.v4.xml", bus.platform},
          {".platform.xml", bus.platform},
          {".config", config(bus)}};
}

std::string folder_name(const Bus& bus, const std::vector<std::string>& gpus, const std::vector<int>& used) {
  std::string devices;
  for (const auto& gpu : gpus) devices += gpu + ";";
  devices += affinity(bus);
  if (std::ssize(used) < bus.gpus) {
    devices += "used: ";
    for (const int gpu : used) devices += std::to_string(gpu) + ";";
  }
  return std::to_string(bus.cores) + "-cores-" + std::to_string(bus.numa_nodes) + "-nodes-" + std::to_string(bus.gpus) +
         "-gpus-" + (bus.opencl_devices > 0 ? std::to_string(bus.opencl_devices) + "-opencl-" : "") +
         std::to_string(std::hash<std::string>{}(devices));
}

}  // namespace tessera::machine
