// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulate_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <tessera/error.hpp>

#include "runtime/start_options.hpp"
#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"
#include "shared/trace_option.hpp"
#include "simulate/platforms.hpp"
#include "workload/problem_options.hpp"
#include "workload/regrets.hpp"

namespace tessera::simulate {

namespace {

namespace fs = std::filesystem;
using tools::BadArgument, tools::add_number, tools::add_option;

/// Command line arguments before they are validated.
struct Typed {
  bench::TypedProblem problem;
  tools::TypedRuntime runtime;
  std::string platform;
  std::string program;
  std::vector<std::string> arguments;
};

void add_options(CLI::App& app, Options& options, Typed& typed) {
  bench::add_problem_options(app, typed.problem);
  add_option(app, "--platform", typed.platform, "NAME|FILE",
             "the machine: a name from traces/platforms, or a file in the same format")
      ->required()
      ->group("What it runs on");
  tools::add_runtime_options(app, typed.runtime, true);
  app.get_option("--cpus")->description(
      "number of CPU workers (without GPUs all cores; with GPUs the choice of the policy tessera, and none under other "
      "policies and placement scheduler)");
  add_option(app, "--program", typed.program, "EXE",
             "instead of calls of Tessera: simulate a StarPU program that was built with the simulating StarPU. "
             "--policy, --gpus, --cpus, --gpu-memory and --type (of its elements) apply. Its arguments follow '--'");
  app.add_option("ARGUMENT", typed.arguments, "an argument of the program");
  app.option_defaults()->group("How it is reported");
  add_number(app, "--gpu-memory", options.gpu_memory, "MiB", 1, 1 << 30,
             "how much memory of each GPU may be used (90 %)");
  add_number(app, "--slices", options.slices, "N", 1, 1024,
             "gemm in N slices of the rows of A and of the columns of B, as in Itu et al., instead of tiles");
  add_number(app, "--beside", options.beside, "N", 1, 1 << 20,
             "simulate each call alongside an endless loop of calls of the same routine and this size; the work of the "
             "GPUs includes both");
  add_number(app, "--jobs", options.jobs, "N", 1, 1024, "simulations that run at the same time (number of cores)");
  app.add_flag("--explain", options.explain,
               "instead: print the plan of each call, the next best candidates, and what bounds them");
  app.add_flag("--sweep", options.sweep,
               "also simulate each call on fewer GPUs and in square tiles, and compare the library's choice with the "
               "best");
  app.add_flag("--brief", options.brief, "print one line per simulation, without details of each GPU");
  add_option(app, "--json", options.json, "FILE",
             "write one JSON object per simulation; '-': to standard output, the table to standard error");
  add_option(app, "--trace", options.trace, "FOLDER", "record each simulation in FOLDER, with a report on it");
  add_option(app, "--dump", options.dump, "FOLDER",
             "write what the call of each simulation submits into FOLDER: a line for each task and each request for a "
             "tile");
  app.option_defaults()->group("What is computed");
}

/// Why a routine cannot be simulated on the machine's GPUs that are used; "" if it can.
std::string why_not_simulated(const bench::Routine& routine, const Options& options) {
  if (!routine.can_be_simulated()) return "cannot be simulated: no machine says how long its tile operations take";
  if (!routine.factorizes_panels()) return "";
  if (options.machine.panel_rate > 0 && routine.has_panels_for_cores())
    return options.cpus == 0 ? "cannot be simulated without CPU workers, which factorize panels" : "";
  for (int gpu = 0; gpu < std::ranges::max(options.gpus); gpu++)
    if (const auto& kind = options.machine.kind_of(gpu); !kind.panels)
      return "cannot be simulated on " + options.machine.name + ", whose description has no panels_us for " + kind.name;
  return "";
}

/// Removes the routines that cannot be simulated. Only the name 'all' can have selected them.
void keep_what_can_be_simulated(const std::vector<std::string>& named, Options& options) {
  std::erase_if(options.routines, [&](const bench::Routine* routine) {
    const auto why = why_not_simulated(*routine, options);
    if (why.empty()) return false;
    if (std::ranges::find(named, routine->name()) == named.end()) return true;
    throw BadArgument("--routine", routine->name(), why);
  });
}

void require_plain_product(const CLI::App& app, const Options& options) {
  for (const char* other : {"--chain", "--tile", "--beside", "--trans-a", "--trans-b", "--ld-pad"})
    if (app.count(other) > 0) throw BadArgument(std::string(other) + ": cannot be used with --slices");
  if (options.routines.size() != 1 || options.routines.front()->name() != "gemm")
    throw BadArgument("--routine: --slices is for gemm only");
  for (const auto& problem : options.problems)
    if (problem.k < 1 || options.slices > std::min(problem.m, problem.n))
      throw BadArgument("--slices", std::to_string(options.slices), "is more than the matrix has rows or columns");
}

/// Refuses a policy that was compiled for StarPU on real machines: its locks would stop the only thread of a
/// simulation. Such a policy calls the C library's lock functions directly, because the headers of that StarPU do.
void require_simulating(const std::string& policy_library) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(policy_library, error))
    return;  // parse_policies refuses it; a device may not end
  std::ifstream file(policy_library, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.find(std::string("\0pthread_mutex_lock\0", 20)) != bytes.npos)
    throw BadArgument("--policy-library", policy_library,
                      "calls pthread_mutex_lock: it was not compiled for a StarPU that simulates; see "
                      "docs/own-policy.md");
}

/// @throws BadArgument if the program cannot be run, or if options are given that do not apply to programs
void parse_program(const CLI::App& app, const Typed& typed, Options& options) {
  if (typed.program.empty()) {
    if (!typed.arguments.empty()) throw BadArgument("'" + typed.arguments.front() + "': arguments need a --program");
    return;
  }
  const std::vector<std::string> applying{"--platform", "--policy",     "--policy-library", "--gpus",
                                          "--cpus",     "--gpu-memory", "--type",           "--jobs",
                                          "--brief",    "--json",       "--program",        "ARGUMENT"};
  for (const auto* option : app.get_options())
    if (option->count() > 0 && std::ranges::find(applying, option->get_name()) == applying.end())
      throw BadArgument(option->get_name() + ": cannot be used with --program");
  if (bench::parse_types(typed.problem.types).size() > 1)
    throw BadArgument("--type: a --program has elements of one type");
  std::error_code error;
  const auto file = fs::canonical(typed.program, error);
  if (error || !fs::is_regular_file(file) || access(file.c_str(), X_OK) != 0)
    throw BadArgument("--program", typed.program, "is not a program");
  options.program = typed.arguments;
  options.program.insert(options.program.begin(), file);
}

void parse(const CLI::App& app, const Typed& typed, Options& options) {
  parse_program(app, typed, options);
  bench::parse_problem_options(app, typed.problem, options);
  options.settle(options.memory.value_or(bench::Memory::Pinned));
  if (*options.memory == bench::Memory::Managed)
    throw BadArgument("--memory", "managed", "cannot be simulated: CUDA decides where its pages are");
  if (options.slices > 0) require_plain_product(app, options);
  if (options.slices > 0 && *options.memory == bench::Memory::Spread)
    throw BadArgument("--memory", "spread", "cannot be used with --slices");
  options.platform = find_platform(typed.platform);
  options.machine = read_platform(options.platform);
  if (*options.memory == bench::Memory::Pageable && !options.machine.staging)
    throw BadArgument("--memory", "pageable",
                      "cannot be simulated on " + typed.platform + ", whose description has no field staging");
  options.gpus = typed.runtime.gpus;
  const int most = options.machine.gpu_count();
  if (options.gpus.empty()) options.gpus = {most};
  for (const int gpus : options.gpus)
    if (gpus > most)
      throw BadArgument("--gpus", std::to_string(gpus), fmt::format("exceeds the {} GPUs of {}", most, typed.platform));
  if (*options.memory == bench::Memory::Device && std::ranges::find(options.gpus, 0) != options.gpus.end())
    throw BadArgument("--memory", "device", "needs a GPU, but --gpus is 0");
  options.cpus = typed.runtime.cpus, options.tile = typed.runtime.tile;
  keep_what_can_be_simulated(typed.problem.routines, options);
  if (options.sweep)
    bench::require_plain_sweep(
        app, {"--tile", "--policy", "--placement", "--slices", "--beside", "--trace", "--dump", "--explain"},
        options.gpus.size());
  if (options.cpus > options.machine.cores)
    throw BadArgument("--cpus", std::to_string(options.cpus),
                      fmt::format("exceeds the {} cores of {}", options.machine.cores, typed.platform));
  if (options.cpus == 0 && std::ranges::find(options.gpus, 0) != options.gpus.end())
    throw BadArgument("--cpus", "0", "leaves no device together with --gpus 0");
  require_simulating(typed.runtime.policy_library);
  options.policies = tools::parse_policies(typed.runtime);
  if (!options.program.empty() && options.policies.front().empty()) options.policies = {"tessera"};
  if (!typed.runtime.placements.empty()) options.placements = tools::parse_placements(typed.runtime);
  else if (const auto set = runtime::with_environment({}).placement; set != Placement::Automatic)
    options.placements = {set};  // the number of CPU workers depends on the placement, see runs_of
  if (app.count("--trace") > 0) tools::require_empty_folder("--trace", options.trace);
  if (app.count("--dump") > 0) tools::require_empty_folder("--dump", options.dump);
}

/// The default placement of a policy. For `tessera`, the library chooses. StarPU's policies place the tasks themselves,
/// so the library must not.
Placement suitable_placement(const std::string& policy) {
  return policy.empty() || policy == "tessera" ? Placement::Automatic : Placement::Scheduler;
}

std::string name_of(const Run& run) {
  const auto& p = run.problem;
  return fmt::format("{}{}-{}x{}x{}-{}gpu-{}-{}", p.type, run.routine->name(), p.m, p.n, p.k, run.gpus,
                     run.policy.empty() ? "default" : run.policy, tools::placement_name(run.placement));
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app("Runs Tessera on a described machine, in simulated time.", "tessera-simulate");
  app.option_defaults()->group("What is computed");
  Options options;
  options.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Typed typed;
  add_options(app, options, typed);
  if (!tools::parse_command_line(app, argc, argv)) return std::nullopt;
  parse(app, typed, options);
  return options;
}

std::vector<Run> runs_of(const Options& options) {
  std::vector<Run> runs;
  const auto cpus_beside = [&](int gpus) {
    return options.cpus >= 0 ? options.cpus : gpus > 0 ? 0 : options.machine.cores;
  };
  // With its own policy and placement, the library decides itself.
  const auto cpus_of_call = [&](int gpus, const std::string& policy, Placement placement) {
    const bool decides =
        options.cpus < 0 && gpus > 0 && (policy.empty() || policy == "tessera") && placement != Placement::Scheduler;
    return decides ? -1 : cpus_beside(gpus);
  };
  if (!options.program.empty()) {
    for (const int gpus : options.gpus)
      for (const auto& policy : options.policies)
        runs.push_back(
            {nullptr, options.problems.front(), gpus, cpus_beside(gpus), policy, Placement::Scheduler, {}, {}});
    return runs;
  }
  std::vector<bench::Alternative> ways;
  for (const int gpus : options.gpus) ways.push_back({gpus, 0});
  if (options.sweep) ways = bench::alternatives(options.gpus.front());
  for (const auto& [routine, problem] : options.calls())
    for (const auto& way : ways)
      for (const auto& policy : options.policies) {
        if (!bench::suits(way, *problem)) continue;
        auto placements = options.placements;
        if (placements.empty()) placements = {suitable_placement(policy)};
        for (const auto placement : placements) {
          const int cpus = cpus_of_call(way.gpus, policy, placement);
          const Index tile = options.tile > 0 ? options.tile : way.tile;
          runs.push_back({routine, *problem, way.gpus, cpus, policy, placement, {}, {}, tile});
        }
      }
  if (!options.trace.empty()) {
    tools::RecordingFolders folders(options.trace, runs.size());
    for (auto& run : runs) run.trace = folders.next(name_of(run));
  }
  if (!options.dump.empty())
    for (std::size_t i = 0; i < runs.size(); i++)
      runs[i].dump = fs::path(options.dump) / (std::to_string(i) + "-" + name_of(runs[i]) + ".txt");
  return runs;
}

}  // namespace tessera::simulate
