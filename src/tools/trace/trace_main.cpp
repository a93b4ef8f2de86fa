// SPDX-License-Identifier: BSD-3-Clause
// tessera-trace writes a report on a recorded run.
#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "common/environment.hpp"
#include "common/temporary_folder.hpp"
#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "trace/input/read_run.hpp"
#include "trace/output/outputs.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tessera;
using namespace tessera::trace;
using tools::BadArgument;

/// Validated command line arguments.
struct Options {
  std::vector<fs::path> folders;  ///< one run, or two to compare
  fs::path output;                ///< a folder; for a comparison, a file

  bool compares() const { return folders.size() == 2; }
};

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

/// @return nothing if --help was given, after printing the help
std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app("Writes a report on a recorded run.", "tessera-trace");
  app.footer(footer);
  std::string folder, output;
  std::vector<std::string> compared;
  app.add_option("FOLDER", folder, "the folder of the recorded run")->type_name("");
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

/// Without a home that can be written, Fontconfig has no folder for its cache, and prints errors when a picture is
/// drawn.
void give_fontconfig_a_cache(const fs::path& folder) {
  const auto home = common::environment("HOME");
  if (common::environment("XDG_CACHE_HOME").empty() && (home.empty() || access(std::string(home).c_str(), W_OK) != 0))
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
}

Explained explain(const fs::path& folder, const fs::path& scratch) {
  auto warnings = convert(folder, scratch);
  Explained explained;
  explained.run = read_run(folder, scratch);
  explained.run.warnings.insert(explained.run.warnings.end(), warnings.begin(), warnings.end());
  explained.analysis = analyse(explained.run);
  return explained;
}

void report(const Options& options) {
  const auto& output = options.output;
  std::error_code error;
  fs::create_directories(output, error);
  if (error) throw RuntimeError(fmt::format("{}: the folder cannot be created: {}", output.string(), error.message()));
  const common::TemporaryFolder scratch("tessera-trace");
  give_fontconfig_a_cache(scratch.path());
  std::vector<Explained> runs;
  runs.push_back(explain(options.folders.front(), scratch.path()));
  const auto& explained = runs.front();
  write_for_vite(output / "paje.trace", explained.run);
  write_page(output / "report.html", runs);
  write_svg(output / "report.svg", explained);
  write_png(output / "report.png", explained);
  write_tasks_csv(output / "tasks.csv", explained.run);
  write_transfers_csv(output / "transfers.csv", explained.run);
  write_chrome_trace(output / "trace.json", explained);
  fmt::print("{}\nreport: {}\n", summary(explained), (output / "report.html").string());
}

void compare(const Options& options) {
  std::vector<Explained> runs;
  for (const auto& folder : options.folders) {
    const common::TemporaryFolder scratch("tessera-trace");
    runs.push_back(explain(folder, scratch.path()));
    runs.back().run.title = fmt::format("{}: {}", folder.string(), runs.back().run.title);
  }
  write_page(options.output, runs);
  fmt::print("{}\nreport: {}\n", comparison(runs[0], runs[1]), options.output.string());
}

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) return tools::Success;
  if (options->compares()) compare(*options);
  else report(*options);
  return tools::Success;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit then fails, as on a full disk
  return tools::exit_code_of("tessera-trace", [&] { return run(argc, argv); });
}
