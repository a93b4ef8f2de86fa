// SPDX-License-Identifier: BSD-3-Clause
// tessera-mpi-bench measures routines on matrices over many processes, and counts what they send.
#include <fmt/format.h>
#include <mpi.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <tessera/runtime.hpp>

#include "common/whole_file.hpp"
#include "mpi_bench/measure.hpp"
#include "mpi_bench/mpi_options.hpp"
#include "mpi_bench/simulated.hpp"
#include "mpi_bench/unrolling.hpp"
#include "shared/exit_code.hpp"
#include "shared/json_lines.hpp"
#include "shared/one_of_many.hpp"

namespace {

using namespace tessera;
using namespace tessera::mpi_bench;

int unroll(const Options& options) {
  tools::JsonLines json(options.json);
  json.note(fmt::format("{:12} {:>6} {:>6} {:>10} {:>8} {:>8} {:>10} {:>10}", "routine", "tiles", "grid", "own tasks",
                        "sent", "received", "handles ms", "call ms"));
  for (const auto* routine : options.routines)
    for (const Index tiles : options.sizes) {
      const auto result = unroll_alone(*routine, options.p, options.q, options.unroll_as, tiles, options.control,
                                       !options.dump.empty());
      if (!options.dump.empty())
        common::write_whole(std::filesystem::path(options.dump) / fmt::format("{}-{}.txt", routine->name, tiles),
                            result.dump);
      json.note(fmt::format("{:12} {:6} {:>6} {:10} {:8} {:8} {:10.1f} {:10.1f}", routine->name, tiles, options.grid(),
                            result.tasks, result.sent, result.received, 1e3 * result.handles, 1e3 * result.seconds));
      json.write({{"routine", routine->name},
                  {"tiles", tiles},
                  {"p", options.p},
                  {"q", options.q},
                  {"rank", options.unroll_as},
                  {"own_tasks", result.tasks},
                  {"tiles_sent", result.sent},
                  {"tiles_received", result.received},
                  {"handles_seconds", result.handles},
                  {"call_seconds", result.seconds}});
    }
  return tools::Success;
}

/// The residual is relative to a bound, and actual errors are far below the bound.
constexpr double largest_residual = 1;

/// Prints how gemm is cut.
nlohmann::ordered_json report_cut(const tools::JsonLines& json, const Options& options, const Problem::Cut& cut) {
  const auto& blocks = cut.blocks;
  json.note(fmt::format("  blocks {}x{} ({}x{} of them), chunks {} ({}), look-ahead {}{}", blocks.rows, blocks.columns,
                        blocks.down, blocks.across, blocks.chunk, blocks.chunks, blocks.ahead,
                        blocks.holds_back ? "" : ", nothing is held back"));
  return {{"b", blocks.rows},
          {"c", blocks.columns},
          {"d", blocks.chunk},
          {"look_ahead", blocks.ahead},
          {"blocks", blocks.down * blocks.across},
          {"chunks", blocks.chunks},
          {"holds_back", blocks.holds_back},
          {"gpus_by_columns", options.control.by_columns},
          {"case", std::string(1, cut.loads.memory_case)}};
}

/// Prints what the devices of a process copy, if the model predicts it.
nlohmann::ordered_json report_devices(const tools::JsonLines& json, const std::optional<Problem::Cut>& cut,
                                      const Result& result) {
  const auto& [from_host, from_peers, to_host] = result.loads;
  nlohmann::ordered_json device = {{"count", result.devices},
                                   {"memory", result.device_memory},
                                   {"bytes_from_host", from_host},
                                   {"bytes_from_peers", from_peers}};
  if (!cut) {
    device["bytes_to_host"] = to_host;
    return device;
  }
  const auto& loads = cut->loads;
  const double model = loads.inputs + loads.result, even_model = loads.even_inputs + loads.result;
  json.note(
      fmt::format("  loaded by each of {} devices a process: {:.3f} MB, {:.3f} of it from peers; model ({}): "
                  "{:.3f}, with even columns {:.3f}; back: {:.3f} of {:.3f}",
                  result.devices, 1e-6 * (from_host + from_peers), 1e-6 * from_peers, loads.memory_case, 1e-6 * model,
                  1e-6 * even_model, 1e-6 * to_host, 1e-6 * loads.result));
  device["bytes_loaded_model"] = model, device["bytes_loaded_model_even"] = even_model;
  device["bytes_to_host"] = to_host, device["bytes_to_host_model"] = loads.result;
  return device;
}

/// Prints one measurement. @return  whether its result is correct
bool report(tools::JsonLines& json, const Options& options, const std::string& name, Index n, const Problem& problem,
            const Result& result) {
  const bool right = !result.residual || *result.residual <= largest_residual;
  const double gflops = 1e-9 * problem.flops() / result.seconds;
  json.note(fmt::format("{:12} {:8} {:6} {:>6} {:10.3f} {:10.3f} {:22.3f} {:9.3f}  {}", name, n, options.tile,
                        options.grid(), 1e3 * result.seconds, gflops, 1e-6 * result.mean_received(),
                        1e-6 * problem.model_bytes(),
                        result.residual ? fmt::format("{:.2g}{}", *result.residual, right ? "" : " WRONG") : ""));
  nlohmann::ordered_json object = {{"routine", name},
                                   {"n", n},
                                   {"tile", options.tile},
                                   {"p", options.p},
                                   {"q", options.q},
                                   {"seconds", result.seconds},
                                   {"gflops", gflops},
                                   {"bytes_received", result.received},
                                   {"bytes_received_model", problem.model_bytes()}};
  const auto cut = problem.cut();
  if (cut) object["cut"] = report_cut(json, options, *cut);
  if (result.devices > 0) object["device"] = report_devices(json, cut, result);
  if (result.residual) object["check"] = {{"residual", *result.residual}, {"passed", right}};
  json.write(object);
  return right;
}

/// Opens the file of --json in process 0. If that fails, all processes throw: an exception in one of them would end the
/// others with MPI's exit code. @return  empty in the other processes
std::optional<tools::JsonLines> open_json(const Grid& grid, const std::string& file) {
  std::optional<tools::JsonLines> json;
  std::string problem;
  try {
    if (grid.rank() == 0) json.emplace(file);
  } catch (const tools::BadArgument& error) {
    problem = error.what();
  }
  int length = static_cast<int>(problem.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, grid.comm());
  problem.resize(static_cast<std::size_t>(length));
  MPI_Bcast(problem.data(), length, MPI_CHAR, 0, grid.comm());
  if (!problem.empty()) throw tools::BadArgument(problem);
  return json;
}

int run(int argc, char** argv) {
  auto options = parse_options(argc, argv);
  if (!options) return tools::Success;
  if (options->unroll_as != -1) return unroll(*options);
  if (simulated && (options->check || options->numa_as_gpu))
    throw tools::BadArgument("--check and --numa-as-gpu cannot be simulated");
  if (simulated && options->p > 1)
    for (const auto* routine : options->routines)
      if (routine->has_pivots())
        throw tools::BadArgument("--grid", options->grid(),
                                 fmt::format("cannot be simulated for {}: it must have one row", routine->name));
  send_sizes_only();
  tools::yield_when_idle();
  const Grid grid(options->p, options->q);
  tell_of_machine();
  if (options->tile == 0) options->tile = gpu_count() > 0 ? 2048 : 256;
  if (options->numa_as_gpu) use_devices_only();
  auto json = open_json(grid, options->json);
  if (json) {
    json->note(fmt::format("{:12} {:>8} {:>6} {:>6} {:>10} {:>10} {:>22} {:>9}  {}", "routine", "n", "tile", "grid",
                           "ms", "GFLOP/s", "received: mean [MB]", "model", options->check ? "residual" : ""));
  }
  bool right = true;
  for (const auto* routine : options->routines)
    for (const auto& type : options->types)
      for (const Index n : options->sizes) {
        const auto problem = make_problem(*routine, type.front(), grid, n, options->tile, options->control);
        const auto result = measure(grid, *problem, options->repeat, options->check);
        if (json)
          right = report(*json, *options, fmt::format("{}{}", type, routine->name), n, *problem, result) && right;
      }
  return right ? tools::Success : tools::CheckFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return tessera::tools::exit_code_of(
      "tessera-mpi-bench", [&] { return run(argc, argv); }, tessera::tools::print_error_once);
}
