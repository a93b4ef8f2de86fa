// SPDX-License-Identifier: BSD-3-Clause
// tessera-info: what Tessera found on this machine, and which tiles it would choose; with --blas, what it does under a
// program that calls BLAS.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include <tessera/error.hpp>

#include "blas_profile/blas_run.hpp"
#include "info/facts.hpp"
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
  bool measure = false, json = false;
  std::optional<std::vector<std::string>> program;  ///< that --blas runs, and its arguments
};

/// All that stands behind --blas is the program's, whatever it looks like: CLI11 does not get to see it.
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
  if (app.count("--blas") > 0) throw tools::BadArgument("--blas: PROGRAM stands behind it without a '='");
  if (!split.program) return;
  if (split.program->empty()) throw tools::BadArgument("--blas: PROGRAM is missing");
  for (const auto* option : app.get_options())
    if (option->count() > 0 && option->get_name() != "--json")
      throw tools::BadArgument(option->get_name() +
                               " does not go with --blas; what is for the program stands behind it");
}

/// @return nothing if only help was asked for
std::optional<Options> parse(int argc, char** argv) {
  CLI::App app("Shows the devices that Tessera uses, their links, and the tiles that it would choose.", "tessera-info");
  Options options;
  tools::TypedRuntime typed;
  std::vector<std::string> types{"d"};
  app.add_option("--size", options.sizes, "sizes n for which tiles are chosen (256,1024,4096,16384,32768)")
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
  app.add_flag("--measure", options.measure, "measure the links now, too");
  app.add_flag("--json", options.json, "one JSON object instead of text");
  std::string glued;
  app.add_option("--blas", glued,
                 "run a program under libtessera_blas.so, then show its BLAS calls; all behind --blas is the program's")
      ->option_text("PROGRAM [ARGUMENT...]")
      ->group("A program that calls BLAS");
  auto split = split_at_blas(argc, argv);
  if (!tools::parse_command_line(app, split.own, argv)) return std::nullopt;
  check_blas(app, split);
  options.program = std::move(split.program);
  options.types.clear();
  for (const auto& type : types) options.types += type;
  options.runtime.cpus = typed.cpus, options.runtime.tile = typed.tile;
  if (!typed.gpus.empty()) options.runtime.gpus = typed.gpus.back();
  options.runtime.policy = tools::parse_policies(typed).front();
  options.runtime.placement = tools::parse_placements(typed).front();
  return options;
}

/// Whatever keeps the runtime from starting is a fact to show.
void look(const Options& options, Facts& facts) {
  try {
    if (options.measure && options.runtime.gpus != 0)
      if (const auto probe = gpu::probe(options.runtime.gpus); !probe.usable.empty())
        facts.measured = measure_links(probe.usable);
    const Runtime runtime(options.runtime);
    facts.running = look_at_runtime(facts.software.visible_gpus);
    for (const char type : options.types)
      for (const Index n : options.sizes) facts.tiles.push_back(choose_tiles(type, n));
  } catch (const Error& error) {
    facts.why_not_running = error.what();
  }
}

int run(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) return tools::Success;
  if (options->program) return run_blas(*options->program, options->json);
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
