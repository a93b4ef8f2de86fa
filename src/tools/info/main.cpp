// SPDX-License-Identifier: BSD-3-Clause
// tessera-info shows what Tessera finds on this machine and which tiles it chooses. With --blas, it shows the BLAS
// calls of a program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>

#include <tessera/error.hpp>

#include "blas_profile/blas_run.hpp"
#include "info/facts.hpp"
#include "info/machine_file.hpp"
#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"

namespace {

using namespace tessera;
using namespace tessera::info;

struct Options {
  RuntimeOptions runtime;
  std::vector<Index> sizes{256, 1024, 4096, 16384, 32768};
  std::string types = "d";
  bool measure = false, json = false, describe = false;
  std::optional<DistributedProduct> distributed;
  std::optional<std::vector<std::string>> program;  ///< the program for --blas, and its arguments
};

/// The arguments, split at --blas. CLI11 does not see those after it, because they belong to the program.
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

/// The options for a product over many processes.
struct TypedProduct {
  std::string grid;
  Index m = 0, n = 0, k = 0;
};

void add_product_options(CLI::App& app, TypedProduct& typed) {
  for (auto* option :
       {app.add_option("--grid", typed.grid,
                       "also show how a product is divided among PxQ processes, each with the devices of this machine")
            ->type_name("PxQ"),
        app.add_option("--m", typed.m, "rows of C, with --grid")
            ->type_name("M")
            ->check(tools::whole_number(1, 2147483647)),
        app.add_option("--n", typed.n, "columns of C (M)")->type_name("N")->check(tools::whole_number(1, 2147483647)),
        app.add_option("--k", typed.k, "terms of the sums (M)")
            ->type_name("K")
            ->check(tools::whole_number(1, 2147483647))})
    option->group("A product over many processes");
}

std::optional<DistributedProduct> parse_product(const TypedProduct& typed) {
  if (typed.grid.empty()) {
    if (typed.m > 0 || typed.n > 0 || typed.k > 0) throw tools::BadArgument("--m, --n and --k need --grid");
    return std::nullopt;
  }
  DistributedProduct product;
  int end = 0;
  if (std::sscanf(typed.grid.c_str(), "%dx%d%n", &product.p, &product.q, &end) != 2 ||
      static_cast<std::size_t>(end) != typed.grid.size() || product.p < 1 || product.q < 1)
    throw tools::BadArgument("--grid", typed.grid, "must be rows and columns of processes, as 2x3");
  if (typed.m == 0) throw tools::BadArgument("--grid: --m is missing");
  product.m = typed.m, product.n = typed.n > 0 ? typed.n : typed.m, product.k = typed.k > 0 ? typed.k : typed.m;
  return product;
}

/// @return  empty if --help was given
std::optional<Options> parse(int argc, char** argv) {
  CLI::App app("Shows the devices that Tessera uses, their links, and the tiles that it would choose.", "tessera-info");
  Options options;
  tools::TypedRuntime typed;
  std::vector<std::string> types{"d"};
  app.add_option("--size", options.sizes, "sizes n to choose tiles for (256,1024,4096,16384,32768)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N")
      ->check(tools::whole_number(0, 2147483647));
  app.add_option("--type", types, "s, d, c, z (d)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("X")
      ->check(CLI::IsMember({"s", "d", "c", "z"}).description(""));
  tools::add_runtime_options(app, typed, false);
  app.add_flag("--measure", options.measure, "also measure the links now");
  app.add_flag("--json", options.json, "print one JSON object instead of text");
  app.add_flag("--describe", options.describe,
               "instead: measure this machine and print its description for tessera-simulate --platform");
  TypedProduct product;
  add_product_options(app, product);
  std::string glued;
  app.add_option("--blas", glued,
                 "run PROGRAM under libtessera_blas.so and show its BLAS calls; the rest of the line belongs to it")
      ->option_text("PROGRAM [ARGUMENT...]")
      ->group("A program that calls BLAS");
  auto split = split_at_blas(argc, argv);
  if (!tools::parse_command_line(app, split.own, argv)) return std::nullopt;
  check_blas(app, split);
  check_describe(app);
  options.program = std::move(split.program);
  options.distributed = parse_product(product);
  options.types.clear();
  for (const auto& type : types) options.types += type;
  options.runtime.cpus = typed.cpus, options.runtime.tile = typed.tile;
  if (!typed.gpus.empty()) options.runtime.gpus = typed.gpus.back();
  options.runtime.policy = tools::parse_policies(typed).front();
  options.runtime.placement = tools::parse_placements(typed).front();
  return options;
}

/// If no runtime can start on a machine, that is part of the output, not an error.
void look(const Options& options, Facts& facts) {
  try {
    if (options.measure && options.runtime.gpus != 0)
      if (const auto probe = gpu::probe(options.runtime.gpus); !probe.usable.empty())
        facts.measured = measure_links(probe.usable);
    const Runtime runtime(options.runtime);
    facts.running = look_at_runtime(facts.software.visible_gpus);
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
