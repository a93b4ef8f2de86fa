// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/hpl_options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"

namespace tessera::hpl {

std::optional<Options> parse_options(int argc, char** argv, bool speaks) {
  CLI::App app(
      "Solves the systems of an HPL.dat with Tessera's LU with partial pivoting, and prints HPL's table and residuals. "
      "From the file, it uses N, NB (columns of a panel; 0: the library's choice), the output and the threshold. Exits "
      "with 1 if a scaled residual reaches the threshold.",
      "tessera-hpl");
  Options options;
  tools::TypedRuntime typed;
  std::string memory;
  app.add_option("FILE", options.file, "the input (HPL.dat)")->type_name("");
  tools::add_option(app, "--memory", memory, "KIND", "pinned or pageable (pinned with CUDA GPUs, otherwise pageable)");
  tools::add_runtime_options(app, typed, false);
  app.get_option("--tile")->description("columns of a panel, instead of every NB of the file");
  if (!tools::parse_command_line(app, argc, argv, speaks)) return std::nullopt;
  if (!memory.empty() && memory != "pinned" && memory != "pageable")
    throw tools::BadArgument("--memory", memory, "is not one of pinned, pageable");
  if (!memory.empty()) options.pinned = memory == "pinned";
  options.runtime = tools::parse_runtime(typed);
  return options;
}

Input read_input(const Options& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto status = fs::status(options.file, error);
  if (status.type() == fs::file_type::not_found)
    throw tools::BadArgument(options.file + ": no such file; docs/hpl.md has one to begin with");
  // A device may not end. A pipe may be a shell's <(command).
  if (status.type() != fs::file_type::none && !fs::is_regular_file(status) && !fs::is_fifo(status))
    throw tools::BadArgument("FILE", options.file, "is not a file");
  std::ifstream file(options.file);
  if (!file) throw tools::BadArgument("FILE", options.file, "cannot be read");
  auto input = read_input(file, options.file);
  if (options.runtime.tile > 0) input.panel_sizes = {options.runtime.tile};
  return input;
}

}  // namespace tessera::hpl
