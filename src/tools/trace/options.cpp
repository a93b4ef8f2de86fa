// SPDX-License-Identifier: BSD-3-Clause
#include "trace/options.hpp"

#include <CLI/CLI.hpp>
#include <string>

#include "shared/bad_argument.hpp"
#include "shared/command_line.hpp"

namespace tessera::trace {

namespace {

namespace fs = std::filesystem;
using tools::BadArgument;

constexpr const char* footer =
    "FOLDER is the folder given to --trace of tessera-bench or tessera-simulate, or to TESSERA_TRACE. For other "
    "StarPU programs, record with STARPU_FXT_TRACE=1 STARPU_FXT_PREFIX=FOLDER. The files written are report.html (the "
    "report), report.svg and report.png, tasks.csv and transfers.csv, paje.trace for ViTE, and trace.json for "
    "Perfetto.";

void check(const Options& options) {
  if (options.folders.empty()) throw BadArgument("FOLDER is missing: name the folder of the recorded run");
  for (const auto& folder : options.folders)
    if (!fs::is_directory(folder)) throw BadArgument("FOLDER", folder.string(), "is not a folder");
  std::error_code error;
  if (options.compares() && fs::is_directory(options.output, error))
    throw BadArgument("--output", options.output.string(), "is a folder; a comparison is written to a file");
  if (!options.compares() && fs::exists(options.output, error) && !fs::is_directory(options.output, error))
    throw BadArgument("--output", options.output.string(), "is not a folder");
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app("Writes a report on a recorded run.", "tessera-trace");
  app.footer(footer);
  std::string folder, output;
  std::vector<std::string> compared;
  app.add_option("FOLDER", folder, "the folder of the recorded run")->option_text("");
  app.add_option("--output", output,
                 "folder of the report (FOLDER); for a comparison, its file (compare.html in the second folder)")
      ->option_text("DIR|FILE");
  app.add_option("--compare", compared, "show two runs on one page, with a table of differences")
      ->option_text("FOLDER FOLDER")
      ->expected(2);
  if (!tools::parse_command_line(app, argc, argv)) return std::nullopt;
  if (!folder.empty() && !compared.empty())
    throw BadArgument("--compare", compared[0] + " " + compared[1],
                      "takes two folders, but there is a third: " + folder);
  Options options;
  options.folders.assign(compared.begin(), compared.end());
  if (!folder.empty()) options.folders.emplace_back(folder);
  options.output = output;
  if (output.empty()) options.output = options.compares() ? options.folders[1] / "compare.html" : fs::path(folder);
  check(options);
  return options;
}

}  // namespace tessera::trace
