// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/starpu_variables.hpp"

namespace tessera::machine {
struct Machine;
}

namespace tessera::runtime {

/// Records a trace of everything that StarPU does from its start to its shutdown. The folder gets two files:
/// `prof_file_0` is written by StarPU's FxT at shutdown; `run.json` describes the run and contains StarPU's counts.
/// tessera-trace reads both.
class Recording {
 public:
  /// @pre           StarPU is not running
  /// @param folder  created if it does not exist. A later session of the same process records into `folder`-2 and so on
  /// @throws ArgumentError if the folder cannot be written or already holds a trace, or if this StarPU cannot record
  explicit Recording(const std::filesystem::path& folder);

  /// Adds the variables that StarPU reads when it starts.
  void announce_in(common::StarpuVariables& variables) const;
  /// Adds the variables that name the trace file. FxT reads them again when StarPU-MPI starts.
  void name_file_in(common::StarpuVariables& variables) const;
  /// Call this just before StarPU starts, with the variables in force.
  static void choose_events();
  /// Call this after StarPU has started.
  void begin(const machine::Machine& machine, const std::string& policy);
  /// Waits for all tasks, then stops recording until `resume`.
  void pause();
  void resume();
  /// Call this just before StarPU shuts down.
  void end();
  /// Call this after StarPU has shut down.
  void close();

 private:
  /// Adds StarPU's current counts (sign 1), or subtracts counts that do not belong to a recorded part of the run (sign
  /// −1).
  void count(int sign);
  /// Writes run.json.
  /// @return the reason why it could not be written, or ""
  std::string write(bool complete) const;

  std::filesystem::path folder_;
  bool on_ = false;
  std::map<std::pair<int, int>, std::int64_t> bytes_;  ///< bytes copied while recording, by source and target node
  std::vector<std::int64_t> tasks_;                    ///< number of tasks executed while recording, by worker
  std::vector<std::size_t> used_;                      ///< bytes on each node when recording last resumed
  int interruptions_ = 0;                              ///< pauses between recorded tasks
  std::string json_ = "{}";                            ///< run.json without the fields that are known only at the end
};

}  // namespace tessera::runtime
