// SPDX-License-Identifier: BSD-3-Clause
#include "bench/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "shared/bad_argument.hpp"
#include "shared/command_line.hpp"
#include "shared/runtime_options.hpp"
#include "shared/trace_option.hpp"
#include "workload/other_libraries.hpp"
#include "workload/problem_options.hpp"

namespace tessera::bench {

namespace {

using tools::BadArgument;

/// The command line as it was typed.
struct Typed {
  TypedProblem problem;
  tools::TypedRuntime runtime;
  std::vector<std::string> against;
};

void add_running(CLI::App& app, Options& options, Typed& typed) {
  tools::add_runtime_options(app, typed.runtime, true);
  for (auto* option :
       {add_list(app, "--against", typed.against, "cublasxt, openblas: measured beside ours")->type_name("NAME"),
        add_list(app, "--xt-block", options.xt_blocks, "block sizes for cuBLAS-XT; the best counts (2048,4096,8192)")
            ->type_name("NB")
            ->check(tools::whole_number(1, 65536)),
        app.add_option("--repeat", options.repeat, "calls that count (5)")
            ->type_name("R")
            ->check(tools::whole_number(1, 1000000)),
        app.add_option("--warmup", options.warmup, "calls between the first one and those (1)")
            ->type_name("W")
            ->check(tools::whole_number(0, 1000000)),
        app.add_flag("--check", options.check, "compare with an oracle; exit with 1 if the error is over the bound"),
        app.add_option("--json", options.json,
                       "one JSON object a measurement; '-': to standard output, the table to standard error")
            ->type_name("FILE"),
        app.add_option("--trace", options.trace,
                       "record one more call of each measurement of ours, and write a report there that explains it")
            ->type_name("FOLDER"),
        app.add_flag("--statistics", options.statistics,
                     "below each of our rows, what links, workers and the policy did"),
        app.add_flag("--demo", options.demo, "one DGEMM over all devices, checked, compared, explained"),
        app.add_option("--overhead", options.overhead,
                       "instead: what it costs to submit, push, pop and drain a task, of N that are queued and do "
                       "nothing (11 KB each)")
            ->type_name("N")
            ->check(tools::whole_number(1, 10000000))})
    option->group("How it is measured");
}

/// No routine runs: what describes one, or its measurement, is refused.
void require_no_routine(const CLI::App& app) {
  const std::vector<std::string> others{"--tile",  "--against",    "--xt-block", "--check",
                                        "--trace", "--statistics", "--demo"};
  for (const auto* option : app.get_options())
    if (option->count() > 0 && (option->get_group() == app.get_option("--size")->get_group() ||
                                std::ranges::find(others, option->get_name()) != others.end()))
      throw BadArgument(option->get_name() + ": means nothing beside --overhead, which runs no routine");
}

void parse_running(const Typed& typed, Options& options) {
  for (const auto& peer : typed.against) {
    if (peer == "cublasxt") options.against_cublasxt = true;
    else if (peer == "openblas") options.against_openblas = true;
    else throw BadArgument("--against", peer, "is not one of cublasxt, openblas");
  }
  if (options.xt_blocks.empty()) options.xt_blocks = {2048, 4096, 8192};
  options.cpus = typed.runtime.cpus, options.tile = typed.runtime.tile;
  if (!typed.runtime.gpus.empty()) options.gpus = typed.runtime.gpus;
  options.policies = tools::parse_policies(typed.runtime);
  options.placements = tools::parse_placements(typed.runtime);
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app("Measures Tessera, and other libraries beside it, against what the machine can do.", "tessera-bench");
  app.option_defaults()->group("What is computed");
  Options options;
  Typed typed;
  add_problem_options(app, typed.problem);
  add_running(app, options, typed);
  if (!tools::parse_command_line(app, argc, argv)) return std::nullopt;
  if (options.overhead > 0) require_no_routine(app);
  if (app.count("--trace") > 0) tools::require_empty_folder("--trace", options.trace);
  parse_problem_options(app, typed.problem, options);
  parse_running(typed, options);
  return options;
}

void resolve(Options& options, const Machine& machine) {
  const int found = static_cast<int>(machine.gpus.size());
  const auto because = machine.why_not_more_gpus.empty() ? "" : " (" + machine.why_not_more_gpus + ")";
  RuntimeOptions from_environment;
  from_environment.cpus = options.cpus;
  from_environment = tools::with_environment(from_environment);
  options.cpus = from_environment.cpus;
  for (int& gpus : options.gpus) {
    if (gpus < 0) gpus = from_environment.gpus;
    if (gpus > found)
      throw BadArgument("--gpus", std::to_string(gpus),
                        fmt::format("is more than the {} of this machine{}", found, because));
    if (gpus < 0) gpus = found;
  }
  const bool any = std::ranges::any_of(options.gpus, [](int gpus) { return gpus > 0; });
  if (options.against_cublasxt && !CublasXt::available())
    throw BadArgument("--against: cublasxt is not possible, this program was built without CUDA");
  if (options.against_cublasxt && !any)
    throw BadArgument("--against: cublasxt needs a GPU, and none is used" + because);
  if (options.pinned.value_or(false) && found == 0)
    throw BadArgument("--memory", "pinned", "needs a GPU that pins it, and there is none" + because);
  if (options.cpus == 0 && std::ranges::find(options.gpus, 0) != options.gpus.end())
    throw BadArgument("--cpus", "0", "leaves nothing to compute on: there is no GPU" + because);
  if (!options.pinned) options.pinned = any;
}

}  // namespace tessera::bench
