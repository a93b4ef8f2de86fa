// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "trace/run.hpp"

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

}  // namespace tessera::trace
