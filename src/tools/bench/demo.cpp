// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "shared/formatting.hpp"

namespace tessera::bench {

using tools::significant;

namespace {

constexpr Index largest = 32768;
constexpr double seconds_of_a_call = 1.0;
constexpr std::size_t text_width = 90;

/// Chooses n so that the product takes about a second at `rate` and its operands take a quarter of the free memory.
Index choose_size(double rate, double free_memory, Index step) {
  const double by_time = std::cbrt(rate * seconds_of_a_call / 2);
  const double by_memory = std::sqrt(free_memory / 4 / (3 * sizeof(double)));
  const auto size = std::min(largest, static_cast<Index>(std::min(by_time, by_memory)));
  return std::max(step, size / step * step);
}

std::string compare(const Result& ours, const Result& other, const std::string& name) {
  const double ratio = ours.rate() / other.rate();
  const auto words = ratio > 1.05    ? fmt::format("{:.2f} times the rate of", ratio)
                     : ratio >= 0.95 ? std::string("as fast as")
                                     : fmt::format("{:.0f} % of the rate of", 100 * ratio);
  return fmt::format("That is {} {}, which computed the same product at {}.", words, name, say_rate(other.rate()));
}

std::string say_devices(const Result& ours, const Machine& machine) {
  if (ours.gpus > 0) return machine.names(ours.gpus) + " at once";
  if (ours.cpus < machine.cores) return fmt::format("{} of the {} cores of this machine", ours.cpus, machine.cores);
  return machine.cores == 1 ? "the one core of this machine"
                            : fmt::format("the {} cores of this machine", machine.cores);
}

std::string say_check(const Result& r) {
  if (!r.check) return "";
  if (r.failed())
    return fmt::format(
        "But the result is WRONG: its error is {:.1e}, but rounding explains at most {:.1e}. Please report "
        "this.",
        r.check->error, r.check->bound);
  return fmt::format(
      "The result was checked: its error is {:.1e} relative to the terms of the sums, and rounding explains at most "
      "{:.1e}.",
      r.check->error, r.check->bound);
}

const Result* find(const std::vector<Result>& results, const std::string& library, bool on_gpus) {
  for (const auto& result : results)
    if (result.library == library && (result.gpus > 0) == on_gpus) return &result;
  return nullptr;
}

/// The fraction of the limit that was reached. Short measurements are a few percent inaccurate, so values near 1 are
/// not printed as a percentage.
std::string say_fraction(const Result& r) {
  const double fraction = r.fraction_of_limit();
  const auto part = fraction > 0.995 ? std::string("all") : fmt::format("{:.0f} %", 100 * fraction);
  return fmt::format("{} of the machine's limit, as measured in this run", part);
}

std::string explain(const std::vector<Result>& results, const Machine& machine) {
  const auto& ours = results.front();
  const bool gpus = ours.gpus > 0;
  const Index n = ours.problem.n;
  // What cores compute beside GPUs is cut into other tiles.
  const auto tiles = gpus && !ours.bytes_min_h2d
                         ? std::string("tiles")
                         : fmt::format("{} tiles", ((n - 1) / ours.tile_m + 1) * ((n - 1) / ours.tile_n + 1));
  auto text = fmt::format(
      "What you saw: Tessera multiplied two {0} x {0} matrices of doubles in host memory on {1}. It divided the result "
      "into {2}, and StarPU scheduled the tile tasks{3}. The time includes the copies back to host memory. At "
      "{4} "
      "Tessera reached {5}. ",
      n, say_devices(ours, machine), tiles, gpus ? " and moved the data" : "", say_rate(ours.rate()),
      say_fraction(ours));
  if (gpus && ours.activity) {
    text += fmt::format("{} GB were copied from the host to the GPUs", tools::gigabytes(ours.bytes()->h2d));
    if (ours.bytes_min_h2d)
      text += fmt::format("; the compulsory minimum is {} GB", tools::gigabytes(*ours.bytes_min_h2d));
    text += ". ";
  }
  if (const auto* xt = find(results, "cublasxt", true)) text += compare(ours, *xt, "NVIDIA's cuBLAS-XT") + " ";
  if (const auto* blas = find(results, "openblas", false), *on_cores = find(results, "tessera", false);
      blas != nullptr && on_cores != nullptr) {
    if (gpus)
      text += fmt::format("The cores alone, with n = {}, reach {} with Tessera and {} with OpenBLAS. ", blas->problem.n,
                          say_rate(on_cores->rate()), say_rate(blas->rate()));
    else text += compare(ours, *blas, "OpenBLAS") + " ";
    constexpr double disturbed = 0.8;
    if (!gpus && std::max(ours.fraction_of_limit(), blas->fraction_of_limit()) < disturbed)
      text += "Both are far from the limit: other programs seem to use the cores. ";
  }
  return tools::wrapped(text + say_check(ours), text_width);
}

/// A word for the shell.
std::string quoted(const std::string& word) {
  if (word.find_first_of(" \t&;()$`\"\\*?[]#~<>|!'") == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Commands to try next, one per line, so that they can be copied as they are. Names programs in the way the user did,
/// because they may not be in PATH, and only programs that exist.
std::string advise(const Result& ours) {
  namespace fs = std::filesystem;
  const fs::path bench = program_invocation_name;
  std::error_code unreadable;
  const auto here = fs::read_symlink("/proc/self/exe", unreadable).parent_path();
  const auto folder = bench.has_parent_path() ? bench.parent_path() : here;
  auto text = std::string("Next:");
  const auto find = [&](const fs::path& program) -> fs::path {
    for (const auto& from : {folder, here})
      if (fs::exists(from / program, unreadable)) {
        auto path = (from / program).lexically_normal();
        return path.has_parent_path() ? path : "." / path;
      }
    return {};
  };
  const auto add = [&](const fs::path& program, const std::string& arguments, const char* purpose) {
    text += fmt::format("\n  # {}\n  {}{}", purpose, quoted(program.string()), arguments);
  };
  if (ours.gpus > 0) {
    const auto counts = ours.gpus > 1 ? fmt::format(" --gpus 1,{}", ours.gpus) : "";
    const auto sizes = counts + fmt::format(" --size {},{}", ours.problem.n / 4, ours.problem.n / 2);
    add(bench, sizes, "other sizes");
    if (ours.problem.memory == Memory::Pinned)
      add(bench, sizes + " --memory pageable", "the same in memory that is not pinned");
  } else {
    add(bench, " --size 256,1024,2048 --against openblas --check", "other sizes");
  }
  if (const auto info = find("tessera-info"); !info.empty())
    add(bench.has_parent_path() ? info : "tessera-info", "",
        "the devices of this machine, their links and the tiles that Tessera chooses");
  for (const auto* examples : {".", TESSERA_EXAMPLES_FROM_PROGRAMS})
    if (const auto example = find(fs::path(examples) / "01_gemm"); !example.empty()) {
      add(example, "", "the smallest program, examples/01_gemm.cpp");
      break;
    }
  return text;
}

}  // namespace

void choose_demo(Options& options, const Machine& machine, Limits& limits) {
  const int gpus = options.gpus.front();
  options.gpus = {gpus};
  options.routines.clear();
  for (const auto& routine : routines())
    if (routine->name() == "gemm") options.routines = {routine.get()};
  limits.measure('d', gpus, largest);
  Problem problem;
  problem.m = problem.n = problem.k = choose_size(limits.rate('d', gpus), machine.free_memory, gpus > 0 ? 1024 : 500);
  options.problems = {problem};
  options.settle(*options.memory);
  options.policies.resize(1), options.placements.resize(1);
  options.tile = 0, options.repeat = 3, options.warmup = 1;
  options.check = true;
  options.against_openblas = gpus == 0;
  options.against_cublasxt = gpus > 0 && machine.has_cuda(), options.against_cublas = options.against_cusolver = false;
  options.xt_blocks = {
      8192};  // best block on one and on four H200 for the sizes of a demo; trying all of them takes minutes
}

std::vector<Result> run_demo(const Options& options, const Machine& machine, Limits& limits, Report& report,
                             Progress& progress) {
  auto results = run_campaign(options, machine, limits, report, progress);
  if (options.gpus.front() > 0 && options.cpus != 0) {
    // OpenBLAS would need minutes for the product that takes fast GPUs a second, so it gets another one.
    auto on_cores = options;
    on_cores.gpus = {0};
    on_cores.settle(Memory::Pageable);
    on_cores.trace.clear();  // one report is enough
    on_cores.against_cublasxt = on_cores.against_cusolver = false, on_cores.against_openblas = true;
    limits.measure('d', 0, largest);
    auto& problem = on_cores.problems.front();
    problem.m = problem.n = problem.k = choose_size(limits.rate('d', 0), machine.free_memory, 500);
    for (auto& result : run_campaign(on_cores, machine, limits, report, progress)) results.push_back(std::move(result));
  }
  report.note("\n" + explain(results, machine));
  if (!options.trace.empty())
    report.note("\nThe work of each core and GPU over time: " + options.trace + "/report.html");
  report.note("\n" + advise(results.front()));
  return results;
}

}  // namespace tessera::bench
