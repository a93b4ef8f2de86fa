// SPDX-License-Identifier: BSD-3-Clause
// tessera-simulate runs Tessera on described machines in simulated time.
#include <fmt/format.h>

#include <tessera/error.hpp>

#include "common/temporary_folder.hpp"
#include "machine/simulation/starpu_files.hpp"
#include "shared/exit_code.hpp"
#include "shared/trace_option.hpp"
#include "simulate/processes.hpp"
#include "simulate/program/program_report.hpp"
#include "simulate/report.hpp"

#undef main  // starpu.h renames the main of a simulating program; this main only starts such programs

namespace {

using namespace tessera;
using namespace tessera::simulate;

int run_program(const Options& options, const Scratch& scratch) {
  ProgramReport report(options);
  report.begin();
  int result = tools::Success;
  run_all(options, runs_of(options), scratch, [&](const Run& one, const Outcome& outcome) {
    if (outcome.bad_argument) throw tools::BadArgument(outcome.error);
    if (outcome.error.empty()) return report.add(one, outcome);
    fmt::print(stderr, "tessera-simulate: {} under {}: {}\n", options.program.front(), one.policy, outcome.error);
    result = tools::RuntimeFailed;
  });
  return result;
}

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) return tools::Success;
  const TemporaryFolder folder("tessera-simulate");
  const Scratch scratch{folder.path()};
  simulation::write_starpu_files(options->machine, scratch.folder, Scratch::host,
                                 *options->memory == bench::Memory::Pageable);
  if (!options->program.empty()) return run_program(*options, scratch);
  Report report(*options);
  report.begin();
  int result = tools::Success;
  run_all(*options, runs_of(*options), scratch, [&](const Run& one, const Outcome& outcome) {
    if (outcome.bad_argument && !options->sweep) throw tools::BadArgument(outcome.error);
    if (!outcome.explanation.empty()) return report.explain(outcome);
    if (outcome.error.empty()) {
      report.add(one, outcome);
      if (!one.trace.empty()) report.note("recorded; report: " + tools::explain_recording(one.trace).string());
      return;
    }
    fmt::print(stderr, "tessera-simulate: {}{} {} under {}: {}\n", one.problem.type, one.routine->name(), one.problem.n,
               one.policy.empty() ? "the library's policy" : one.policy, outcome.error);
    if (!options->sweep) result = tools::RuntimeFailed;  // tiles that fit on no GPU are not an alternative
  });
  report.end();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return tools::exit_code_of("tessera-simulate", [&] { return run(argc, argv); });
}
