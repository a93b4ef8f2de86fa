// SPDX-License-Identifier: BSD-3-Clause
#include "bench/options.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "bench/peers.hpp"
#include "common/bad_argument.hpp"
#include "common/runtime_options.hpp"

namespace tessera::bench {

namespace {

using tools::BadArgument;

/// The command line as it was typed.
struct Typed {
  std::vector<std::string> routines{"gemm"}, types{"d"}, against;
  std::vector<Index> sizes{4096};
  Index m = 0, n = 0, k = 0;
  std::string trans_a = "n", trans_b = "n", side, uplo, diag, alpha = "1.1", beta = "0.3", memory;
  Index ld_pad = 0;
  std::uint64_t seed = 1;
};

CLI::Option* add_list(CLI::App& app, const std::string& name, auto& variable, const std::string& text) {
  return app.add_option(name, variable, text)->delimiter(',')->allow_extra_args(false);
}

void add_problem(CLI::App& app, Typed& typed) {
  const auto size = tools::whole_number(0, 2147483647);
  const auto letter = [&](const char* name, std::string& variable, const char* text) {
    app.add_option(name, variable, text)->type_name("X");
  };
  add_list(app, "--routine", typed.routines, "routines, or 'all' (gemm)")->type_name("NAME");
  add_list(app, "--type", typed.types, "s, d, c, z (d)")->type_name("X");
  auto* sizes = add_list(app, "--size", typed.sizes, "m = n = k, several one after another (4096)");
  sizes->type_name("N")->check(size);
  for (const auto& [name, variable] : {std::pair{"--m", &typed.m}, {"--n", &typed.n}, {"--k", &typed.k}})
    app.add_option(name, *variable, "instead of --size, all of them")->type_name("N")->check(size)->excludes(sizes);
  letter("--trans-a", typed.trans_a, "n, t or c: op(A) is A, its transpose or conjugate transpose (n)");
  letter("--trans-b", typed.trans_b, "the same for B");
  letter("--side", typed.side, "l or r: the side of the matrix that is not general");
  letter("--uplo", typed.uplo, "u or l: the triangle that is used");
  letter("--diag", typed.diag, "u or n: unit diagonal or not");
  app.add_option("--alpha", typed.alpha, "a number, or RE,IM (1.1)")->type_name("X");
  app.add_option("--beta", typed.beta, "a number, or RE,IM (0.3)")->type_name("X");
  app.add_option("--ld-pad", typed.ld_pad, "elements between two columns (0)")->type_name("P")->check(size);
  app.add_option("--memory", typed.memory, "pinned or pageable (pinned if there are GPUs)")->type_name("KIND");
  app.add_option("--seed", typed.seed, "of the random operands (1)")->type_name("N");
}

void add_running(CLI::App& app, Options& options, Typed& typed, tools::TypedRuntime& runtime) {
  tools::add_runtime_options(app, runtime, true);
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
        app.add_flag("--demo", options.demo, "one DGEMM over all devices, checked, compared, explained")})
    option->group("How it is measured");
}

char one_of(const std::string& option, const std::string& value, const std::string& letters) {
  if (value.size() == 1 && letters.find(value) != std::string::npos) return value.front();
  throw BadArgument(option, value, fmt::format("is not one of {}", fmt::join(letters, ", ")));
}

Op parse_op(const std::string& option, const std::string& value) {
  const char letter = one_of(option, value, "ntc");
  return letter == 'n' ? Op::NoTrans : letter == 't' ? Op::Trans : Op::ConjTrans;
}

std::complex<double> parse_scalar(const std::string& option, const std::string& text) {
  double parts[2] = {0, 0};
  const char* at = text.c_str();
  for (auto& part : parts) {
    char* end = nullptr;
    part = std::strtod(at, &end);
    const bool last = &part == &parts[1] || *end == '\0';
    if (end == at || *end != (last ? '\0' : ','))
      throw BadArgument(option, text, "must be a number, or two with a comma between them, e.g. 1.5,-0.25");
    if (last) break;
    at = end + 1;
  }
  return {parts[0], parts[1]};
}

std::vector<const Routine*> parse_routines(const std::vector<std::string>& names) {
  std::vector<const Routine*> chosen;
  std::string known = "all";
  for (const auto& routine : routines()) known += ", " + routine->name();
  for (const auto& name : names) {
    const auto before = chosen.size();
    for (const auto& routine : routines())
      if (name == "all" || name == routine->name()) chosen.push_back(routine.get());
    if (chosen.size() == before) throw BadArgument("--routine", name, "is not a routine; known: " + known);
  }
  return chosen;
}

/// An option that is given must mean something to one of the routines.
void require_taken(const CLI::App& app, const std::vector<const Routine*>& routines) {
  const std::pair<const char*, bool Takes::*> optional[] = {
      {"--trans-a", &Takes::trans_a}, {"--trans-b", &Takes::trans_b}, {"--side", &Takes::side},
      {"--uplo", &Takes::uplo},       {"--diag", &Takes::diag},       {"--k", &Takes::k}};
  for (const auto& [name, takes] : optional) {
    const auto is_taken = [takes = takes](const Routine* routine) { return routine->takes().*takes; };
    if (app.count(name) == 0 || std::ranges::any_of(routines, is_taken)) continue;
    std::string names;
    for (const auto* routine : routines) names += (names.empty() ? "" : ", ") + routine->name();
    throw BadArgument(fmt::format("{}: none of the chosen routines takes it ({})", name, names));
  }
}

std::vector<Problem> parse_problems(const CLI::App& app, const Typed& typed, const Options& options) {
  Problem common;
  common.op_a = parse_op("--trans-a", typed.trans_a), common.op_b = parse_op("--trans-b", typed.trans_b);
  if (!typed.side.empty()) common.side = one_of("--side", typed.side, "lr");
  if (!typed.uplo.empty()) common.uplo = one_of("--uplo", typed.uplo, "ul");
  if (!typed.diag.empty()) common.diag = one_of("--diag", typed.diag, "un");
  common.alpha = parse_scalar("--alpha", typed.alpha), common.beta = parse_scalar("--beta", typed.beta);
  common.ld_pad = typed.ld_pad, common.seed = typed.seed;

  std::vector<Problem> shapes;
  if (app.count("--m") + app.count("--n") + app.count("--k") > 0) {
    const bool needs_k = std::ranges::any_of(options.routines, [](const auto* routine) { return routine->takes().k; });
    for (const auto& [name, needed] : {std::pair{"--m", true}, {"--n", true}, {"--k", needs_k}})
      if (needed && app.count(name) == 0)
        throw BadArgument(
            fmt::format("{} is missing: without --size, --m, --n{} are needed", name, needs_k ? " and --k" : ""));
    common.m = typed.m, common.n = typed.n, common.k = typed.k;
    shapes.push_back(common);
  } else {
    for (const Index size : typed.sizes) {
      common.m = common.n = common.k = size;
      shapes.push_back(common);
    }
  }
  std::vector<Problem> problems;
  for (const auto& type : typed.types)
    for (auto problem : shapes) {
      problem.type = one_of("--type", type, "sdcz");
      const bool real = problem.type == 's' || problem.type == 'd';
      if (real && (problem.alpha.imag() != 0 || problem.beta.imag() != 0))
        throw BadArgument(problem.alpha.imag() != 0 ? "--alpha" : "--beta",
                          problem.alpha.imag() != 0 ? typed.alpha : typed.beta,
                          "is complex, but --type " + type + " is real");
      problems.push_back(problem);
    }
  return problems;
}

void parse_rest(const Typed& typed, const tools::TypedRuntime& runtime, Options& options) {
  if (!typed.memory.empty() && typed.memory != "pinned" && typed.memory != "pageable")
    throw BadArgument("--memory", typed.memory, "is not one of pinned, pageable");
  if (!typed.memory.empty()) options.pinned = typed.memory == "pinned";
  for (const auto& peer : typed.against) {
    if (peer == "cublasxt") options.against_cublasxt = true;
    else if (peer == "openblas") options.against_openblas = true;
    else throw BadArgument("--against", peer, "is not one of cublasxt, openblas");
  }
  if (options.xt_blocks.empty()) options.xt_blocks = {2048, 4096, 8192};
  options.cpus = runtime.cpus, options.tile = runtime.tile;
  if (!runtime.gpus.empty()) options.gpus = runtime.gpus;
  options.policies = tools::parse_policies(runtime);
  options.placements = tools::parse_placements(runtime);
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app("Measures Tessera, and other libraries beside it, against what the machine can do.", "tessera-bench");
  app.option_defaults()->group("What is computed");
  Options options;
  Typed typed;
  tools::TypedRuntime runtime;
  add_problem(app, typed);
  add_running(app, options, typed, runtime);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw BadArgument(error.what());
    app.exit(error);
    return std::nullopt;
  }
  options.routines = parse_routines(typed.routines);
  require_taken(app, options.routines);
  options.problems = parse_problems(app, typed, options);
  for (const auto* routine : options.routines)
    for (const auto& problem : options.problems)
      if (routine->types().find(problem.type) == std::string::npos && typed.routines.front() != "all")
        throw BadArgument("--type", std::string(1, problem.type),
                          fmt::format("does not exist for {} ({})", routine->name(), routine->types()));
  for (const auto* routine : options.routines)
    for (const auto& problem : options.problems) operand_bytes(*routine, problem);
  parse_rest(typed, runtime, options);
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
