// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tessera::tools {

/// What `--json` asks for: one object a line.
class JsonLines {
 public:
  /// @param file  "": nowhere, "-": to standard output
  /// @throws BadArgument if it cannot be written
  explicit JsonLines(const std::string& file);

  /// Where the text for people goes: standard output, or standard error when the objects take that.
  std::FILE* text() const { return to_stdout_ ? stderr : stdout; }

  /// @throws RuntimeError if it cannot be written
  void write(const nlohmann::ordered_json& object);

 private:
  bool to_stdout_;
  std::ofstream file_;
};

}  // namespace tessera::tools
