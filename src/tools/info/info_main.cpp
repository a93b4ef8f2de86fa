// SPDX-License-Identifier: BSD-3-Clause
// tessera-info shows what Tessera finds on this machine and which tiles it chooses. With --blas, it shows the BLAS
// calls of a program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include <tessera/error.hpp>

#include "blas_profile/blas_run.hpp"
#include "info/facts.hpp"
#include "info/machine_file.hpp"
#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"
#include "workload/explanation.hpp"
#include "workload/problem_options.hpp"

namespace {

using namespace tessera;
using namespace tessera::info;

struct Options {
  RuntimeOptions runtime;
  std::vector<Index> sizes;
  std::string types;
  bench::ChosenProblems calls;  ///< the calls whose plans are explained
  bool measure = false, json = false, describe = false;
  std::optional<DistributedProduct> distributed;
  std::optional<std::vector<std::string>> program;  ///< the program for --blas, and its arguments
};

/// The arguments before and after --blas. Those after it belong to the program, so CLI11 must not see them.
struct Split {
  int own = 0;
  std::optional<std::vector<std::string>> program;
};

Split split_at_blas(int argc, char** argv) {
  const auto end = argv + argc;
  const auto at = std::find(argv, end, std::string_view("--blas"));
  if (at == end) return {argc, std::nullopt};
  return {static_cast<int>(at - argv), std::vector<std::string>(at + 1, end)};
}

void check_blas(const CLI::App& app, const Split& split) {
  if (app.count("--blas") > 0) throw tools::BadArgument("--blas: PROGRAM follows after a space, without '='");
  if (!split.program) return;
  if (split.program->empty()) throw tools::BadArgument("--blas: PROGRAM is missing");
  for (const auto* option : app.get_options())
    if (option->count() > 0 && option->get_name() != "--json")
      throw tools::BadArgument(option->get_name() +
                               " cannot be used with --blas; arguments of the program follow after --blas");
}

void check_describe(const CLI::App& app) {
  if (app.count("--describe") == 0) return;
  for (const auto* option : app.get_options())
    if (option->count() > 0 && option->get_name() != "--describe" && option->get_name() != "--gpus")
      throw tools::BadArgument(option->get_name() +
                               ": cannot be used with --describe, which measures the whole machine");
}

std::optional<DistributedProduct> parse_product(const std::string& grid, const bench::TypedProblem& typed) {
  if (grid.empty()) return std::nullopt;
  DistributedProduct product;
  std::tie(product.p, product.q) = tools::parse_pair("--grid", grid, " of processes");
  if (typed.m == 0) throw tools::BadArgument("--grid: --m is missing");
  product.m = typed.m, product.n = typed.n > 0 ? typed.n : typed.m, product.k = typed.k > 0 ? typed.k : typed.m;
  return product;
}

/// Parses the calls to explain. Without calls, everything else is shown.
void parse_calls(const CLI::App& app, const bench::TypedProblem& typed, const std::string& grid, Options& options) {
  options.types = bench::parse_types(typed.types);
  options.distributed = parse_product(grid, typed);
  if (options.distributed) return;
  bench::parse_problem_options(app, typed, options.calls);
  options.sizes.clear();
  for (const auto& problem : options.calls.problems)
    if (problem.type == options.types.front()) options.sizes.push_back(problem.n);
  // The table without explanations has only products of square matrices in pinned memory.
  const auto is_given = [&](const char* option) { return app.count(option) > 0; };
  const auto is_cube = [](const bench::Problem& p) { return p.m == p.n && p.n == p.k; };
  if (std::ranges::all_of(options.calls.problems, is_cube) &&
      std::ranges::none_of(std::array{"--routine", "--n", "--trans-a", "--trans-b", "--beta", "--memory", "--chain"},
                           is_given))
    options.calls = {};
}

/// @return nothing if --help was given
std::optional<Options> parse(int argc, char** argv) {
  CLI::App app(
      "Shows the devices that Tessera uses, their links, and the tiles that it would choose. With --routine, it "
      "explains the plans of calls.",
      "tessera-info");
  Options options;
  tools::TypedRuntime typed;
  bench::TypedProblem problem;
  problem.sizes = {"256", "1024", "4096", "16384", "32768"};
  bench::add_problem_options(app, problem);
  tools::add_runtime_options(app, typed, false);
  app.add_flag("--measure", options.measure, "also measure the links now");
  app.add_flag("--json", options.json, "print one JSON object instead of text");
  app.add_flag("--describe", options.describe,
               "instead: measure this machine and print its description for tessera-simulate --platform");
  std::string grid;
  app.add_option(
         "--grid", grid,
         "also show how a product is divided among PxQ processes, each with the devices of this one; needs --m, "
         "and --n and --k unless they equal m")
      ->type_name("PxQ")
      ->group("A product over many processes");
  std::string glued;
  app.add_option(
         "--blas", glued,
         "run PROGRAM under libtessera_blas.so and show its BLAS calls; the rest of the line belongs to PROGRAM")
      ->option_text("PROGRAM [ARGUMENT...]")
      ->group("A program that calls BLAS");
  auto split = split_at_blas(argc, argv);
  if (!tools::parse_command_line(app, split.own, argv)) return std::nullopt;
  check_blas(app, split);
  check_describe(app);
  options.program = std::move(split.program);
  parse_calls(app, problem, grid, options);
  options.runtime = tools::parse_runtime(typed);
  return options;
}

/// Looks at the machine. If no Runtime can start there, that is part of the output and not an error.
void look(const Options& options, Facts& facts) {
  try {
    if (options.measure && options.runtime.gpus != 0)
      if (const auto probe = device::gpu::probe(options.runtime.gpus); !probe.usable.empty())
        facts.measured = measure_links(probe.usable);
    const Runtime runtime(options.runtime);
    facts.running = look_at_runtime(facts.software.visible_gpus);
    for (const auto& [routine, problem] : options.calls.calls())
      facts.plans.push_back(bench::explain(*routine, *problem));
    if (options.calls.routines.empty())
      for (const char type : options.types)
        for (const Index n : options.sizes) facts.products.push_back(plan_product(type, n));
    if (options.distributed)
      for (const char type : options.types) facts.distributed.push_back(plan_distributed(type, *options.distributed));
  } catch (const ArgumentError&) {
    throw;
  } catch (const Error& error) {
    facts.why_not_running = error.what();
  }
}

int run(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) return tools::Success;
  if (options->program) return blas_profile::run_blas(*options->program, options->json);
  if (options->describe) {
    fmt::print("{}", machine_file(measure_machine(options->runtime.gpus)));
    return tools::Success;
  }
  Facts facts;
  facts.software = look_at_software();
  look(*options, facts);
  (options->json ? print_json : print_text)(facts);
  return facts.running ? tools::Success : tools::RuntimeFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return tools::exit_code_of("tessera-info", [&] { return run(argc, argv); });
}
