// SPDX-License-Identifier: BSD-3-Clause
#include "bench/bench_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"
#include "shared/trace_option.hpp"
#include "workload/other_libraries.hpp"
#include "workload/problem_options.hpp"
#include "workload/regrets.hpp"

namespace tessera::bench {

namespace {

using tools::BadArgument, tools::add_number, tools::add_option;

/// Command line arguments before they are validated.
struct Typed {
  TypedProblem problem;
  tools::TypedRuntime runtime;
  std::vector<std::string> against;
};

void add_running(CLI::App& app, Options& options, Typed& typed) {
  tools::add_runtime_options(app, typed.runtime, true);
  app.option_defaults()->group("How it is measured");
  add_list(app, "--against", typed.against,
           "cublas, cublasxt, cusolver or openblas: other libraries to measure. cublas computes on one GPU, and needs "
           "--memory device or managed. cusolver computes factorizations and inverses on one GPU. On several, "
           "cuSOLVERMg computes potrf and getrf, in the fastest of several block sizes")
      ->type_name("NAME");
  add_list(app, "--xt-block", options.xt_blocks,
           "block sizes tried with cuBLAS-XT; the fastest is reported (2048,4096,8192)")
      ->type_name("NB")
      ->check(tools::whole_number(1, 65536));
  add_number(app, "--repeat", options.repeat, "R", 1, 1000000, "measured calls (5)");
  add_number(app, "--warmup", options.warmup, "W", 0, 1000000,
             "unmeasured calls after the first, which is not measured either (1)");
  app.add_flag("--check", options.check,
               "compare results with an independent computation; exit with 1 if an error exceeds its bound");
  add_option(app, "--json", options.json, "FILE",
             "write one JSON object per measurement; '-': to standard output, the table to standard error");
  add_option(app, "--trace", options.trace, "FOLDER",
             "record one more call of each Tessera measurement in FOLDER, with a report on it");
  app.add_flag("--statistics", options.statistics,
               "print statistics of links, workers and the policy below each Tessera row");
  app.add_flag(
      "--sweep", options.sweep,
      "also measure each call on fewer GPUs and in square tiles, and compare the library's choice with the best");
  app.add_flag("--demo", options.demo, "run one DGEMM over all devices, check it, compare it and explain the result");
  app.add_flag("--host-copies", options.host_copies,
               "instead: measure how fast one or more threads copy within host memory, and how many copies of pageable "
               "memory per second their queues can handle");
  add_number(app, "--overhead", options.overhead, "N", 1, 10000000,
             "instead: measure the cost of submitting, pushing, popping and draining a task, with N empty tasks queued "
             "(11 KB each)");
  app.option_defaults()->group("What is computed");
}

/// Refuses options that describe a routine or its measurement.
/// @param mode  the option that selects another kind of measurement
void require_no_routine(const CLI::App& app, const std::string& mode) {
  const std::vector<std::string> others{"--tile",  "--against",    "--xt-block", "--check",
                                        "--trace", "--statistics", "--demo",     "--sweep"};
  for (const auto* option : app.get_options())
    if (option->count() > 0 && (option->get_group() == app.get_option("--size")->get_group() ||
                                std::ranges::find(others, option->get_name()) != others.end()))
      throw BadArgument(option->get_name() + ": cannot be used with " + mode + ", which runs no routine");
}

void parse_running(const Typed& typed, Options& options) {
  for (const auto& peer : typed.against) {
    if (peer == "cublas") options.against_cublas = true;
    else if (peer == "cublasxt") options.against_cublasxt = true;
    else if (peer == "cusolver") options.against_cusolver = true;
    else if (peer == "openblas") options.against_openblas = true;
    else throw BadArgument("--against", peer, "is not one of cublas, cublasxt, cusolver, openblas");
  }
  if (options.xt_blocks.empty()) options.xt_blocks = {2048, 4096, 8192};
  options.cpus = typed.runtime.cpus, options.tile = typed.runtime.tile;
  if (!typed.runtime.gpus.empty()) options.gpus = typed.runtime.gpus;
  options.policies = tools::parse_policies(typed.runtime);
  options.placements = tools::parse_placements(typed.runtime);
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app("Measures Tessera and other libraries, and compares them with the limits of the machine.",
               "tessera-bench");
  app.option_defaults()->group("What is computed");
  Options options;
  Typed typed;
  add_problem_options(app, typed.problem);
  add_running(app, options, typed);
  if (!tools::parse_command_line(app, argc, argv)) return std::nullopt;
  if (options.overhead > 0) require_no_routine(app, "--overhead");
  if (options.host_copies) {
    require_no_routine(app, "--host-copies");
    if (options.overhead > 0) throw BadArgument("--host-copies: cannot be used with another measurement");
  }
  if (app.count("--trace") > 0) tools::require_empty_folder("--trace", options.trace);
  parse_problem_options(app, typed.problem, options);
  parse_running(typed, options);
  if (options.demo && options.memory && !Problem{.memory = *options.memory}.in_host_memory())
    throw BadArgument("--memory", typed.problem.memory,
                      "cannot be used with --demo, whose operands are in host memory");
  if (options.sweep)
    require_plain_sweep(app, {"--tile", "--policy", "--placement", "--against", "--trace", "--demo"},
                        options.gpus.size());
  return options;
}

namespace {

/// @param has_cuda  whether CUDA drives one of the GPUs in use
void settle_memory(Options& options, bool has_cuda, const std::string& because) {
  const auto memory = options.memory.value_or(has_cuda ? Memory::Pinned : Memory::Pageable);
  const auto refuse = [&](const std::string& why) { throw BadArgument("--memory", name_of(memory), why); };
  if (memory != Memory::Pageable && memory != Memory::Spread && !has_cuda)
    refuse("needs a CUDA GPU, but none is used" + because);
  if (memory == Memory::Device &&
      (options.against_openblas || std::ranges::find(options.gpus, 0) != options.gpus.end()))
    refuse("cannot be accessed by OpenBLAS or by cores alone");
  if (memory == Memory::Spread &&
      (options.against_cublas || options.against_cublasxt || options.against_cusolver || options.against_openblas))
    refuse("cannot be accessed by other libraries: they need whole matrices");
  if (options.against_cublas && memory != Memory::Device && memory != Memory::Managed)
    throw BadArgument("--against: cublas computes where the operands are, so it needs --memory device or managed");
  options.settle(memory);
}

}  // namespace

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
                        fmt::format("exceeds the {} GPUs of this machine{}", found, because));
    if (gpus < 0) gpus = found;
  }
  if (options.sweep) options.gpus = gpu_counts(options.gpus.front());
  const bool any = std::ranges::any_of(options.gpus, [](int gpus) { return gpus > 0; });
  for (const auto& [name, wanted] : {std::pair{"cublas", options.against_cublas},
                                     {"cublasxt", options.against_cublasxt},
                                     {"cusolver", options.against_cusolver}}) {
    if (wanted && !CublasXt::available())
      throw BadArgument(fmt::format("--against: {} is not available: this program was built without CUDA", name));
    if (wanted && !(any && machine.has_cuda()))
      throw BadArgument(fmt::format("--against: {} needs a CUDA GPU, but none is used{}", name, because));
  }
  settle_memory(options, any && machine.has_cuda(), because);
  if (options.cpus == 0 && std::ranges::find(options.gpus, 0) != options.gpus.end())
    throw BadArgument("--cpus", "0", "leaves no device: there is no GPU either" + because);
}

}  // namespace tessera::bench
