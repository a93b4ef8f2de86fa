// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tessera::detail {

/// A machine as StarPU's bus files describe it. The ends of its links are numbered from 0: first the host's NUMA nodes,
/// then the GPUs, then OpenCL devices.
struct Bus {
  int cores = 1, numa_nodes = 1, gpus = 0, opencl_devices = 0;
  int most_ends = 1 << 16;  ///< for which StarPU has room; it takes the rates of others for unknown
  /// Of the GPUs, then of the OpenCL devices: all NUMA nodes, the nearest first. StarPU runs a device's driver there.
  std::vector<std::vector<int>> nodes_of;
  std::function<double(int from, int to)> rate;     ///< between two ends [bytes/s]
  std::function<double(int from, int to)> latency;  ///< between two ends [s]
  /// XML. Only simulations read it, but StarPU calibrates if the file is missing.
  std::string platform = "<!-- measured without a calibration: no platform for simulation -->\n";
};

struct BusFile {
  std::string ending;  ///< the file name after the host's name
  std::string text;
};

/// The files that StarPU expects in the folder "bus" of its performance models. Write the last one last: StarPU looks
/// only for this one. The numbers have no decimal point, since StarPU reads them in the program's locale.
std::vector<BusFile> bus_files(const Bus& bus);

/// A name for the folder of these files. Processes of one machine may see different devices: those with other nodes
/// have another folder.
/// @param gpus  their names
std::string folder_name(const Bus& bus, const std::vector<std::string>& gpus);

}  // namespace tessera::detail
