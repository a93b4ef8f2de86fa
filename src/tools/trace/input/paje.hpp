// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tessera::trace {

/// What StarPU writes for ViTE, as far as its records do not say it. Times are seconds after the trace began; nodes and
/// workers have StarPU's numbers.
struct PajeTrace {
  struct Worker {
    std::string device;  ///< "CPU", "CUDA"
    int number = 0;      ///< of the device among those of its kind
    int node = 0;
  };
  /// From one node to another.
  struct Transfer {
    std::string_view kind;  ///< F: fetch, TF: prefetch for a task, PF: prefetch, IF: when the link is idle
    int from = -1, to = -1;
    std::uint64_t handle = 0, bytes = 0;
    int x = 0, y = 0;  ///< 0 if the tile has no coordinates
    double start = 0, end = 0;
    bool evicts = false;  ///< it began while StarPU emptied a full memory
  };
  struct Registration {
    double time = 0;
    std::uint64_t handle = 0;
    bool begins = true;  ///< else it ends
  };
  struct MemoryUse {
    double time = 0;
    int node = 0;
    double bytes = 0;
  };

  std::map<int, Worker> workers;
  int nodes = 0;
  std::map<std::string, std::uint32_t> colours;  ///< 0xRRGGBB of kinds of tasks that have one of their own
  std::vector<Transfer> transfers;  ///< in the order of their starts; only those of which start and end were recorded
  std::vector<Registration> registrations;
  std::vector<MemoryUse> memory;
  int flushes = 0;      ///< how many times a full buffer was written while the program waited
  double flushing = 0;  ///< seconds in all
  double end = 0;       ///< the time of the last event
  bool whole = false;   ///< it goes on until the workers have been shut down
};

/// @throws RuntimeError  a line is not what the file's own definitions say
PajeTrace read_paje(const std::filesystem::path& file);

}  // namespace tessera::trace
