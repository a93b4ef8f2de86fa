// SPDX-License-Identifier: BSD-3-Clause
// tessera-bench measures the routines of Tessera and of other libraries.
#include <algorithm>

#include "bench/measurements.hpp"
#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"

namespace {

using namespace tessera;
using namespace tessera::bench;

int run(int argc, char** argv) {
  auto options = parse_options(argc, argv);
  if (!options) return tools::Success;
  if (options->host_copies) {
    Progress progress(tools::with_environment({}).progress);
    measure_host_copies(*options, progress);
    return tools::Success;
  }
  const auto machine = look_at_machine(std::ranges::any_of(options->gpus, [](int gpus) { return gpus != 0; }));
  resolve(*options, machine);

  Progress progress(tools::with_environment({}).progress);
  if (options->overhead > 0) {
    measure_overhead(*options, progress);
    return tools::Success;
  }
  Report report(*options, progress);
  Limits limits(machine, options->cpus, *options->memory, progress);
  if (options->demo) choose_demo(*options, machine, limits);
  measure_limits(*options, limits);
  report.begin(*options, machine, limits);
  const auto results = (options->demo ? run_demo(*options, machine, limits, report, progress)
                                      : run_campaign(*options, machine, limits, report, progress));
  return std::ranges::any_of(results, &Result::failed) ? tools::CheckFailed : tools::Success;
}

}  // namespace

int main(int argc, char** argv) {
  return tools::exit_code_of("tessera-bench", [&] { return run(argc, argv); });
}
