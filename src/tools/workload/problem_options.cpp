// SPDX-License-Identifier: BSD-3-Clause
#include "workload/problem_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"

namespace tessera::bench {

using tools::BadArgument, tools::add_number, tools::add_option, tools::largest_size;

void add_problem_options(CLI::App& app, TypedProblem& typed) {
  std::string known;
  for (const auto& routine : routines()) known += routine->name() + ", ";
  add_list(app, "--routine", typed.routines, known + "or 'all' (gemm)")->type_name("NAME");
  add_list(app, "--type", typed.types, "s, d, c, z, or 'all' (d)")->type_name("X");
  auto* sizes = add_list(app, "--size", typed.sizes,
                         fmt::format("m = n = k, or MxN, or MxNxK; the sizes of a list run one after another ({})",
                                     fmt::join(typed.sizes, ",")));
  sizes->type_name("N");
  for (const auto& [name, variable] : {std::pair{"--m", &typed.m}, {"--n", &typed.n}, {"--k", &typed.k}})
    add_number(app, name, *variable, "N", 0, largest_size,
               "replaces --size; give all the sizes that the routine takes (posv: n, and k right-hand sides)")
        ->excludes(sizes);
  add_option(app, "--trans,--trans-a", typed.trans_a, "X",
             "n, t or c: op(A) is A, its transpose or conjugate transpose (n)");
  add_option(app, "--trans-b", typed.trans_b, "X", "the same for op(B)");
  add_option(app, "--side", typed.side, "X", "l or r: side of the symmetric or triangular matrix (l)");
  add_option(app, "--uplo", typed.uplo, "X", "u or l: the triangle that is referenced (l)");
  add_option(app, "--diag", typed.diag, "X", "u or n: unit diagonal or not (n)");
  add_option(app, "--alpha", typed.alpha, "X", "a number, or RE,IM (1.1)");
  add_option(app, "--beta", typed.beta, "X", "a number, or RE,IM (0.3)");
  add_number(app, "--ld-pad", typed.ld_pad, "P", 0, largest_size, "elements of padding between columns (0)");
  add_number(app, "--chain", typed.chain, "N", 1, 1000,
             "gemm: number of calls on the same matrices, with a single wait at the end (1)");
  add_option(app, "--memory", typed.memory, "KIND",
             "pinned, pageable, managed, device or spread: operands in host memory, in CUDA's managed memory, in the "
             "memory of the first GPU, or each tile on the GPU that owns it, where results stay (pinned; in "
             "tessera-bench without CUDA GPUs, pageable)");
  add_number(app, "--seed", typed.seed, "N", 0, std::numeric_limits<Index>::max(), "seed of the random operands (1)");
}

namespace {

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
      throw BadArgument(option, text, "must be a number, or two numbers separated by a comma, e.g. 1.5,-0.25");
    if (last) break;
    at = end + 1;
  }
  return {parts[0], parts[1]};
}

/// Parses N, MxN or MxNxK. For MxN, k is n.
std::tuple<Index, Index, Index> parse_size(const std::string& text) {
  std::vector<Index> numbers;
  for (const char* at = text.c_str();; at++) {
    Index number = 0;
    const auto [end, error] = std::from_chars(at, text.c_str() + text.size(), number);
    const bool wrong = error != std::errc{} || number < 0 || number > largest_size || numbers.size() == 3;
    if (wrong || (*end != 'x' && *end != '\0'))
      throw BadArgument("--size", text, fmt::format("must be N, MxN or MxNxK with numbers from 0 to {}", largest_size));
    numbers.push_back(number);
    if (*end == '\0') break;
    at = end;
  }
  return {numbers.front(), numbers[numbers.size() > 1 ? 1 : 0], numbers.back()};
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

/// Removes problems that no chosen routine supports, and routines that support no chosen problem. Only 'all' may lead
/// to such combinations.
void keep_what_exists(const TypedProblem& typed, ChosenProblems& chosen) {
  const auto has_all = [](const std::vector<std::string>& names) {
    return std::ranges::find(names, "all") != names.end();
  };
  const bool all = has_all(typed.routines) || has_all(typed.types);
  std::string first_reason;
  for (const auto* routine : chosen.routines)
    for (const auto& problem : chosen.problems)
      if (const auto reason = routine->why_not(problem); !reason.empty()) {
        if (!all) throw BadArgument(reason);
        if (first_reason.empty()) first_reason = reason;
      }
  const auto exists = [](const Routine* routine, const Problem& problem) { return routine->why_not(problem).empty(); };
  std::erase_if(chosen.routines, [&](const Routine* routine) {
    return std::ranges::none_of(chosen.problems, [&](const Problem& problem) { return exists(routine, problem); });
  });
  std::erase_if(chosen.problems, [&](const Problem& problem) {
    return std::ranges::none_of(chosen.routines, [&](const Routine* routine) { return exists(routine, problem); });
  });
  if (chosen.routines.empty()) throw BadArgument(first_reason);
}

/// Requires that each given option applies to one of the chosen routines.
void require_taken(const CLI::App& app, const std::vector<const Routine*>& routines) {
  const std::pair<const char*, bool Takes::*> optional[] = {{"--trans-a", &Takes::trans_a},
                                                            {"--trans-b", &Takes::trans_b},
                                                            {"--side", &Takes::side},
                                                            {"--uplo", &Takes::uplo},
                                                            {"--diag", &Takes::diag},
                                                            {"--m", &Takes::m},
                                                            {"--k", &Takes::k},
                                                            {"--beta", &Takes::beta}};
  for (const auto& [name, takes] : optional) {
    const auto is_taken = [takes = takes](const Routine* routine) { return routine->takes().*takes; };
    if (app.count(name) == 0 || std::ranges::any_of(routines, is_taken)) continue;
    std::string names;
    for (const auto* routine : routines) names += (names.empty() ? "" : ", ") + routine->name();
    throw BadArgument(fmt::format("{}: not used by any of the chosen routines ({})", name, names));
  }
}

std::vector<Problem> parse_problems(const CLI::App& app, const TypedProblem& typed, const ChosenProblems& chosen) {
  Problem common;
  common.op_a = parse_op("--trans-a", typed.trans_a), common.op_b = parse_op("--trans-b", typed.trans_b);
  common.side = one_of("--side", typed.side, "lr") == 'l' ? Side::Left : Side::Right;
  common.uplo = one_of("--uplo", typed.uplo, "ul") == 'l' ? Uplo::Lower : Uplo::Upper;
  common.diag = one_of("--diag", typed.diag, "un") == 'n' ? Diag::NonUnit : Diag::Unit;
  common.alpha = parse_scalar("--alpha", typed.alpha), common.beta = parse_scalar("--beta", typed.beta);
  common.ld_pad = typed.ld_pad, common.chain = typed.chain, common.seed = typed.seed;
  common.memory = chosen.memory.value_or(Memory::Pinned);

  std::vector<Problem> shapes;
  if (app.count("--m") + app.count("--n") + app.count("--k") > 0) {
    const auto taken = [&](bool Takes::*takes) {
      return std::ranges::any_of(chosen.routines, [=](const auto* routine) { return routine->takes().*takes; });
    };
    std::vector<std::string> needed{"--n"};
    if (taken(&Takes::m)) needed.insert(needed.begin(), "--m");
    if (taken(&Takes::k)) needed.emplace_back("--k");
    for (const auto& name : needed)
      if (app.count(name) == 0)
        throw BadArgument(fmt::format("{} is missing: without --size, {} are needed", name, fmt::join(needed, ", ")));
    common.m = typed.m, common.n = typed.n, common.k = typed.k;
    shapes.push_back(common);
  } else {
    for (const auto& size : typed.sizes) {
      std::tie(common.m, common.n, common.k) = parse_size(size);
      shapes.push_back(common);
    }
  }
  std::vector<Problem> problems;
  for (const char type : parse_types(typed.types))
    for (auto problem : shapes) {
      problem.type = type;
      problems.push_back(problem);
    }
  return problems;
}

}  // namespace

std::string parse_types(const std::vector<std::string>& names) {
  std::string types;
  for (const auto& name : names) types += name == "all" ? "sdcz" : std::string(1, one_of("--type", name, "sdcz"));
  return types;
}

void require_plain_sweep(const CLI::App& app, std::initializer_list<const char*> others, std::size_t numbers_of_gpus) {
  for (const char* other : others)
    if (app.count(other) > 0) throw BadArgument(std::string(other) + ": cannot be used with --sweep");
  if (numbers_of_gpus > 1) throw BadArgument("--gpus: --sweep takes one number, and compares fewer GPUs with it");
}

void parse_problem_options(const CLI::App& app, const TypedProblem& typed, ChosenProblems& chosen) {
  chosen.routines = parse_routines(typed.routines);
  require_taken(app, chosen.routines);
  if (!typed.memory.empty()) {
    const auto found = std::ranges::find(names_of_memories, typed.memory);
    if (found == names_of_memories.end())
      throw BadArgument("--memory", typed.memory, fmt::format("is not one of {}", fmt::join(names_of_memories, ", ")));
    chosen.memory = static_cast<Memory>(found - names_of_memories.begin());
  }
  chosen.problems = parse_problems(app, typed, chosen);
  keep_what_exists(typed, chosen);
  for (const auto* routine : chosen.routines)
    for (const auto& problem : chosen.problems) operand_bytes(*routine, problem);
}

}  // namespace tessera::bench
