// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tessera::trace {

/// The parts of StarPU's trace for ViTE that its other records lack. Times are seconds after the start of the trace.
/// Nodes and workers have StarPU's numbers.
struct PajeTrace {
  struct Worker {
    std::string device;  ///< "CPU", "CUDA"
    int number = 0;      ///< number of the device among those of its kind
    int node = 0;
  };
  /// A copy from one node to another.
  struct Transfer {
    std::string_view kind;  ///< F: fetch, TF: prefetch for a task, PF: prefetch, IF: copy while the link is idle
    int from = -1, to = -1;
    std::uint64_t handle = 0, bytes = 0;
    int x = 0, y = 0;  ///< 0 if the tile has no coordinates
    double start = 0, end = 0;
    bool evicts = false;  ///< it began while StarPU freed a full memory
  };
  struct Registration {
    double time = 0;
    std::uint64_t handle = 0;
    bool begins = true;  ///< false: it ends
  };
  struct MemoryUse {
    double time = 0;
    int node = 0;
    double bytes = 0;
  };

  std::map<int, Worker> workers;
  int nodes = 0;
  std::map<std::string, std::uint32_t> colours;  ///< 0xRRGGBB, by in_quotes(name), for codelets with a colour
  std::vector<Transfer> transfers;  ///< in the order of their starts; only transfers with a recorded start and end
  std::vector<Registration> registrations;
  std::vector<MemoryUse> memory;
  int flushes = 0;      ///< times that a full buffer was written while the program waited
  double flushing = 0;  ///< total seconds of these writes
  double end = 0;       ///< time of the last event
  bool whole = false;   ///< the trace includes the shutdown of the workers
};

/// @throws RuntimeError if a line does not match the file's definitions
PajeTrace read_paje(const std::filesystem::path& file);

}  // namespace tessera::trace
