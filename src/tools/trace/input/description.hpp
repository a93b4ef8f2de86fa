// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/input/paje.hpp"
#include "trace/recorded_run.hpp"

namespace tessera::trace {

/// The contents of run.json: Tessera's description of a recorded run.
struct RunJson {
  std::string command;  ///< words separated by spaces
  std::string machine, policy;
  bool simulated = false;
  bool complete = true;                          ///< the program has ended
  int interruptions = 0;                         ///< times that recording was paused and resumed
  std::map<std::string, std::uint32_t> colours;  ///< 0xRRGGBB by tile operation
  std::map<int, Worker> workers;
  std::map<int, Node> nodes;
  std::map<int, double> used;  ///< bytes in use by node when recording was resumed
  Counted counted;
};

/// @return nothing if the file does not exist
/// @throws RuntimeError if Tessera did not write the file
std::optional<RunJson> read_run_json(const std::filesystem::path& folder);

/// Fills in `nodes` and `workers`. Names come from Tessera's description of the run or, without one, from the kind of
/// device.
/// @param workers  minimum number of workers: the beginning of the trace, which lists them, may be lost
void add_devices(Run& run, const PajeTrace& trace, const RunJson& run_json, int workers);

/// "gemm, add: 240 tasks on 4 GPUs"
std::string title_of(const Run& run);

/// "4 GPUs, 1 CPU worker"
std::string machine_of(const Run& run);

/// Reasons why the report is incomplete or inexact, as sentences.
/// @param folder    the folder of the recording
/// @param unended   tasks without a recorded end
std::vector<std::string> warnings_of(const std::filesystem::path& folder, const PajeTrace& trace,
                                     const RunJson& run_json, std::size_t unended);

}  // namespace tessera::trace
