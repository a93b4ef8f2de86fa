// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tessera::machine {

/// A machine in the terms of StarPU's bus files. The endpoints of its links are numbered from 0: the NUMA nodes of the
/// host, then the GPUs, then the OpenCL devices.
struct Bus {
  int cores = 1, numa_nodes = 1, gpus = 0, opencl_devices = 0;
  int most_ends = 1 << 16;  ///< endpoints that StarPU has room for; it treats the rates of all others as unknown
  /// For each GPU, then each OpenCL device: all NUMA nodes, nearest first. StarPU runs the device's driver there.
  std::vector<std::vector<int>> nodes_of;
  std::function<double(int from, int to)> rate;     ///< rate between two endpoints [bytes/s]
  std::function<double(int from, int to)> latency;  ///< latency between two endpoints [s]
  /// XML. Only simulations read it, but StarPU calibrates if the file is missing.
  std::string platform = "<!-- measured without a calibration: no platform for simulation -->\n";
};

struct BusFile {
  std::string ending;  ///< the part of the file name that follows the host name
  std::string text;
};

/// The files that StarPU expects in the folder "bus" of its performance models. Write the last file last, because
/// StarPU checks only for that one. Numbers have no decimal point, because StarPU reads them in the program's locale.
std::vector<BusFile> bus_files(const Bus& bus);

/// A name for the folder of these files. Processes of one machine may see different devices, and use different ones;
/// each set of devices has its own folder.
/// @param gpus  the names of the GPUs
/// @param used  the numbers of those whose rates are known
std::string folder_name(const Bus& bus, const std::vector<std::string>& gpus, const std::vector<int>& used);

}  // namespace tessera::machine
