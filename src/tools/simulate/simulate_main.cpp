// SPDX-License-Identifier: BSD-3-Clause
// tessera-simulate runs Tessera on described machines in simulated time.
#include <fmt/format.h>

#include <tessera/error.hpp>

#include "common/temporary_folder.hpp"
#include "machine/starpu_files.hpp"
#include "shared/exit_code.hpp"
#include "shared/trace_option.hpp"
#include "simulate/simulate_report.hpp"
#include "simulate/simulation.hpp"
#include "workload/regrets.hpp"

#undef main  // starpu.h renames the main of a simulating program; this main only starts such programs

namespace {

using namespace tessera;
using namespace tessera::simulate;

/// What ran, for messages.
std::string name_of(const Options& options, const Run& run) {
  if (!options.program.empty()) return options.program.front() + " under " + run.policy;
  return fmt::format("{}{} {} under {}", run.problem.type, run.routine->name(), run.problem.n,
                     run.policy.empty() ? "the library's policy" : run.policy);
}

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) return tools::Success;
  const common::TemporaryFolder folder("tessera-simulate");
  const Scratch scratch = folder.path();
  machine::write_starpu_files(options->machine, scratch, host_name, *options->memory == bench::Memory::Pageable);
  Report report(*options);
  report.begin();
  int result = tools::Success;
  run_all(*options, runs_of(*options), scratch, [&](const Run& one, const Outcome& outcome) {
    // Tiles that fit on no GPU are not an alternative.
    const bool may_fail = options->sweep && !bench::is_choice({one.gpus, one.tile}, options->gpus.front());
    if (outcome.bad_argument && !may_fail) throw tools::BadArgument(outcome.error);
    if (!outcome.explanation.empty()) return report.explain(outcome);
    if (outcome.error.empty()) {
      report.add(one, outcome);
      if (one.trace.empty()) return;
      const auto recording = tools::explain_recording(one.trace);
      report.note(fmt::format("recorded: {}; report: {}", recording.time, recording.page.string()));
      return;
    }
    fmt::print(stderr, "tessera-simulate: {}: {}\n", name_of(*options, one), outcome.error);
    if (!may_fail) result = tools::RuntimeFailed;
  });
  report.end();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return tools::exit_code_of("tessera-simulate", [&] { return run(argc, argv); });
}
