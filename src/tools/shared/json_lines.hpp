// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

  /// Prints a line of text to standard output, or to standard error if standard output is reserved for the objects.
  void note(const std::string& line) const;

  /// @throws RuntimeError if it cannot be written
  void write(const nlohmann::ordered_json& object);

 private:
  bool to_stdout_;
  std::ofstream file_;
};

}  // namespace tessera::tools
