// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "trace/run.hpp"

namespace tessera::trace {

/// What Tessera says of a run that it has recorded: run.json.
struct Described {
  std::string command;  ///< its words
  std::string machine, policy;
  bool simulated = false;
  bool complete = true;                          ///< the program has ended
  int interruptions = 0;                         ///< times that recording was paused, and resumed
  std::map<std::string, std::uint32_t> colours;  ///< of the tile operations, 0xRRGGBB
  std::map<int, Worker> workers;
  std::map<int, Node> nodes;
  std::map<int, double> used;  ///< bytes on a node when recording was resumed
  Counted counted;
};

/// Nothing if it is not there.
/// @throws RuntimeError  it is not what Tessera writes
std::optional<Described> read_described(const std::filesystem::path& folder);

}  // namespace tessera::trace
