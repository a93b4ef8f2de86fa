// SPDX-License-Identifier: BSD-3-Clause
// tessera-mpi-bench measures routines on matrices over many processes, and counts what they send.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "problems.hpp"
#include "shared/bad_argument.hpp"
#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "shared/json_lines.hpp"
#include "unrolling.hpp"

namespace {

using namespace tessera;
using tools::BadArgument;

struct Options {
  std::string grid, json;
  std::vector<std::string> routines = {"gemm"}, types = {"d"};
  std::vector<Index> sizes = {1000};
  Index tile = 256;
  int repeat = 3;
  bool check = false;
  int unroll_as = -1;
};

/// @return nothing if --help or --version was given
std::optional<Options> parse(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Measures routines on matrices over many processes: mpirun -n N tessera-mpi-bench --grid PxQ. Process 0 "
      "prints.",
      "tessera-mpi-bench");
  app.add_option("--grid", options.grid, "processes in rows and columns, as 2x3")->type_name("PxQ")->required();
  app.add_option("--routine", options.routines, "gemm, trsm, potrf (gemm)")->delimiter(',')->type_name("NAME");
  app.add_option("--type", options.types, "s, d, c, z (d)")->delimiter(',')->type_name("T");
  app.add_option("--size", options.sizes, "order of the matrices (1000)")->delimiter(',')->type_name("N");
  app.add_option("--tile", options.tile, "order of a tile (256)")->type_name("N");
  app.add_option("--repeat", options.repeat, "measured calls, after one that is not (3)")->type_name("N");
  app.add_flag("--check", options.check, "check the results; exit status 1 if one is wrong");
  app.add_option("--unroll-as", options.unroll_as,
                 "measure only what it costs process RANK to go through a call on matrices of --size tiles in each "
                 "direction. Without mpirun: the other processes do not exist")
      ->type_name("RANK");
  app.add_option("--json", options.json, "write the results to FILE, one JSON object per line (-: standard output)")
      ->type_name("FILE");
  if (!tools::parse_command_line(app, argc, argv)) return {};
  if (options.tile < 1) throw BadArgument("--tile", std::to_string(options.tile), "must be at least 1");
  if (options.repeat < 1) throw BadArgument("--repeat", std::to_string(options.repeat), "must be at least 1");
  for (const Index n : options.sizes)
    if (n < 1) throw BadArgument("--size", std::to_string(n), "must be at least 1");
  for (const auto& type : options.types)
    if (type.size() != 1) throw BadArgument("--type", type, "is none of s, d, c, z");
  return options;
}

struct Shape {
  int p = 0, q = 0;
};
Shape shape_of(const Options& options) {
  int p = 0, q = 0, end = 0;
  if (std::sscanf(options.grid.c_str(), "%dx%d%n", &p, &q, &end) != 2 ||
      static_cast<std::size_t>(end) != options.grid.size())
    throw BadArgument("--grid", options.grid, "must be rows and columns, as 2x3");
  return {p, q};
}

int unroll(const Options& options) {
  const auto [p, q] = shape_of(options);
  if (p < 1 || q < 1) throw BadArgument("--grid", options.grid, "must have rows and columns");
  if (options.unroll_as < 0 || options.unroll_as >= p * q)
    throw BadArgument("--unroll-as", std::to_string(options.unroll_as), "must be one of the grid's processes");
  tools::JsonLines json(options.json);
  json.note(fmt::format("{:8} {:>6} {:>6} {:>10} {:>8} {:>8} {:>10} {:>10}", "routine", "tiles", "grid", "own tasks",
                        "sent", "received", "handles ms", "call ms"));
  for (const auto& routine : options.routines)
    for (const Index tiles : options.sizes) {
      const auto result = mpi_bench::unroll_alone(routine, p, q, options.unroll_as, tiles);
      json.note(fmt::format("{:8} {:6} {:>6} {:10} {:8} {:8} {:10.1f} {:10.1f}", routine, tiles, options.grid,
                            result.tasks, result.sent, result.received, 1e3 * result.handles, 1e3 * result.seconds));
      json.write({{"routine", routine},
                  {"tiles", tiles},
                  {"p", p},
                  {"q", q},
                  {"rank", options.unroll_as},
                  {"own_tasks", result.tasks},
                  {"tiles_sent", result.sent},
                  {"tiles_received", result.received},
                  {"handles_seconds", result.handles},
                  {"call_seconds", result.seconds}});
    }
  return tools::Success;
}

/// One measurement, as far as all processes know it.
struct Result {
  double seconds = 0;                   ///< median of the calls, each until the last process has its result
  std::vector<std::uint64_t> received;  ///< bytes of a call, by process
  std::optional<double> residual;
};

std::vector<std::uint64_t> bytes_received(const Grid& grid, const std::vector<std::uint64_t>& before) {
  auto sent = grid.bytes_sent();
  std::transform(sent.begin(), sent.end(), before.begin(), sent.begin(), std::minus<>());
  std::vector<std::uint64_t> received(sent.size());
  MPI_Allreduce(sent.data(), received.data(), static_cast<int>(sent.size()), MPI_UINT64_T, MPI_SUM, grid.comm());
  return received;
}

Result measure(const Grid& grid, mpi_bench::Problem& problem, const Options& options) {
  std::vector<double> seconds;
  Result result;
  for (int call = 0; call <= options.repeat; call++) {
    problem.fill();
    grid.wait();
    const auto before = grid.bytes_sent();
    const auto start = std::chrono::steady_clock::now();
    problem.run();
    double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, grid.comm());
    if (call > 0) seconds.push_back(slowest);
    grid.wait();  // all messages are counted
    result.received = bytes_received(grid, before);
  }
  std::ranges::sort(seconds);
  result.seconds = seconds[seconds.size() / 2];
  if (options.check) result.residual = problem.residual();
  return result;
}

/// Errors of sums are far below the bound that this is relative to.
constexpr double largest_residual = 1;

int run(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) return tools::Success;
  if (options->unroll_as != -1) return unroll(*options);
  const auto [p, q] = shape_of(*options);
  const Grid grid(p, q);
  std::optional<tools::JsonLines> json;
  if (grid.rank() == 0) {
    json.emplace(options->json);
    json->note(fmt::format("{:8} {:>8} {:>6} {:>6} {:>10} {:>10} {:>22} {:>9}  {}", "routine", "n", "tile", "grid",
                           "ms", "GFLOP/s", "received: mean [MB]", "model", options->check ? "residual" : ""));
  }
  bool right = true;
  for (const auto& routine : options->routines)
    for (const auto& type : options->types)
      for (const Index n : options->sizes) {
        const auto problem = mpi_bench::make_problem(routine, type.front(), grid, n, options->tile);
        const auto result = measure(grid, *problem, *options);
        const bool good = !result.residual || *result.residual <= largest_residual;
        right = right && good;
        if (!json) continue;
        double mean = 0;
        for (const auto bytes : result.received)
          mean += static_cast<double>(bytes) / static_cast<double>(grid.p() * grid.q());
        json->note(fmt::format("{:8} {:8} {:6} {:>6} {:10.3f} {:10.3f} {:22.3f} {:9.3f}  {}", type + routine, n,
                               options->tile, options->grid, 1e3 * result.seconds,
                               1e-9 * problem->flops() / result.seconds, 1e-6 * mean, 1e-6 * problem->model_bytes(),
                               result.residual ? fmt::format("{:.2g}{}", *result.residual, good ? "" : " WRONG") : ""));
        nlohmann::ordered_json object = {{"routine", type + routine},
                                         {"n", n},
                                         {"tile", options->tile},
                                         {"p", grid.p()},
                                         {"q", grid.q()},
                                         {"seconds", result.seconds},
                                         {"gflops", 1e-9 * problem->flops() / result.seconds},
                                         {"bytes_received", result.received},
                                         {"bytes_received_model", problem->model_bytes()}};
        if (result.residual) object["check"] = {{"residual", *result.residual}, {"passed", good}};
        json->write(object);
      }
  return right ? tools::Success : tools::CheckFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return tessera::tools::exit_code_of("tessera-mpi-bench", [&] { return run(argc, argv); });
}
