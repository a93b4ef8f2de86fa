// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tessera::tools {

/// The file of `--json`: one object per line.
class JsonLines {
 public:
  /// @param file  "": no file, "-": standard output
  /// @throws BadArgument if it cannot be written
  explicit JsonLines(const std::string& file);

  /// The stream for text: standard output, or standard error if the objects take standard output.
  std::FILE* text() const { return to_stdout_ ? stderr : stdout; }

  /// @throws RuntimeError if it cannot be written
  void write(const nlohmann::ordered_json& object);

 private:
  bool to_stdout_;
  std::ofstream file_;
};

}  // namespace tessera::tools
