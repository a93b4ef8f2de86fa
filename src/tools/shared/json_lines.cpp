// SPDX-License-Identifier: BSD-3-Clause
#include "shared/json_lines.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include <tessera/error.hpp>

#include "shared/exit_code.hpp"

namespace tessera::tools {

JsonLines::JsonLines(const std::string& file) : to_stdout_(file == "-") {
  if (file.empty() || to_stdout_) return;
  errno = 0;
  file_.open(file);
  if (!file_) throw BadArgument("--json", file, fmt::format("cannot be written: {}", std::strerror(errno)));
}

void JsonLines::note(const std::string& line) const {
  auto* stream = to_stdout_ ? stderr : stdout;
  fmt::print(stream, "{}\n", line);
  std::fflush(stream);
}

void JsonLines::write(const nlohmann::ordered_json& object) {
  if (to_stdout_) {
    fmt::print("{}\n", object.dump());
    if (std::fflush(stdout) != 0) throw RuntimeError("standard output cannot be written");
  } else if (file_.is_open()) {
    file_ << object.dump() << std::endl;
    if (!file_) throw RuntimeError("the file of --json cannot be written");
  }
}

}  // namespace tessera::tools
