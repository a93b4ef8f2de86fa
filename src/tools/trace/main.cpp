// SPDX-License-Identifier: BSD-3-Clause
// tessera-trace writes a report on a recorded run.
#include <fmt/format.h>

#include <csignal>
#include <vector>

#include <tessera/error.hpp>

#include "common/temporary_folder.hpp"
#include "shared/exit_code.hpp"
#include "trace/input/read_run.hpp"
#include "trace/options.hpp"
#include "trace/output/outputs.hpp"
#include "trace/output/summary.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tessera;
using namespace tessera::trace;

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
  const TemporaryFolder scratch("tessera-trace");
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
    const TemporaryFolder scratch("tessera-trace");
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
