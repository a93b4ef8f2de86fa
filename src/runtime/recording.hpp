// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/environment.hpp"

namespace tessera::detail {

class Session;

/// A trace of all that StarPU does, from its start to its end: `prof_file_0`, which StarPU's FxT writes when it shuts
/// down, and run.json, which says what ran and what StarPU has counted. tessera-trace explains them.
class Recording {
 public:
  /// To be made before StarPU starts: it takes its settings from the environment.
  /// @param folder  is made if it is not there. A further session of the same process records into `folder`-2 and so on
  /// @throws ArgumentError  the folder cannot be written, or holds a trace already, or this StarPU records none
  explicit Recording(const std::filesystem::path& folder);

  /// StarPU runs.
  void begin(const Session& session);
  /// Leaves out what happens until `resume`.
  void pause();
  void resume();
  /// StarPU is about to shut down.
  void end();
  /// It has.
  void close();

 private:
  /// Adds StarPU's counts, or takes off what they were before.
  void count(int sign);
  /// @return why not, or ""
  std::string write(bool complete) const;

  std::filesystem::path folder_;
  std::vector<TemporaryVariable> settings_;
  const Session* session_ = nullptr;
  bool on_ = false;
  std::map<std::pair<int, int>, std::int64_t> bytes_;  ///< while it was on
  std::vector<std::int64_t> tasks_;                    ///< by worker, while it was on
  std::vector<std::size_t> used_;                      ///< bytes on each node when it was last resumed
  int interruptions_ = 0;                              ///< pauses between recorded tasks
  std::string json_ = "{}";                            ///< run.json but for what is known at the end only
};

}  // namespace tessera::detail
