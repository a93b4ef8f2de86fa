// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tessera::detail {

/// A machine as StarPU's bus files describe it. Its ends are the host's NUMA nodes, then the GPUs, numbered from 0.
struct Bus {
  int cores = 1, numa_nodes = 1, gpus = 0;
  /// From one end to another one.
  std::function<double(int from, int to)> rate;     ///< [bytes/s]
  std::function<double(int from, int to)> latency;  ///< [s]
  /// XML, which only simulations read; StarPU calibrates if it is not there.
  std::string platform = "<!-- measured without a calibration: no platform for simulation -->\n";
};

struct BusFile {
  std::string ending;  ///< of the name, which begins with that of the host
  std::string text;
};

/// The files that StarPU wants to find in the folder "bus" of its performance models. The last one is the one that it
/// looks for. The numbers have no decimal point: StarPU reads them as the locale of the program says.
std::vector<BusFile> bus_files(const Bus& bus);

}  // namespace tessera::detail
