// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_bench/mpi_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <tuple>

#include "runtime/ranks_of_node.hpp"
#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"

namespace tessera::mpi_bench {

namespace {

using tools::BadArgument, tools::add_number, tools::add_option, tools::largest_size;

/// Finds the routines, and checks that each exists for each type.
void parse_problems(const std::vector<std::string>& names, Options& options) {
  for (const auto& name : names) options.routines.push_back(&routine_named(name));
  for (const auto& type : options.types) {
    if (type.size() != 1 || std::string("sdcz").find(type) == std::string::npos)
      throw BadArgument("--type", type, "is not one of s, d, c, z");
    for (const auto* routine : options.routines)
      if (options.unroll_as < 0 && routine->is_for_complex_only() && type != "c" && type != "z")
        throw BadArgument("--routine", std::string(routine->name), "is for --type c and z");
  }
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  std::string grid, block;
  std::vector<std::string> names{"gemm"};
  bool early = false, late = false, gpu_grid = false;
  auto& blocks = options.control.blocks;
  CLI::App app(
      "Measures routines on matrices over many processes: mpirun -n N tessera-mpi-bench --grid PxQ. Process 0 "
      "prints the results.",
      "tessera-mpi-bench");
  add_option(app, "--grid", grid, "PxQ", "rows and columns of processes, e.g. 2x3")->required();
  std::string known;
  for (const auto& routine : routines()) known += fmt::format("{}{}", known.empty() ? "" : ", ", routine.name);
  add_option(app, "--routine", names, "NAME", known + " (gemm)")->delimiter(',');
  add_option(app, "--type", options.types, "T", "s, d, c, z (d)")->delimiter(',');
  add_option(app, "--size", options.sizes, "N", "order of the matrices (1000)")
      ->delimiter(',')
      ->check(tools::whole_number(1, largest_size));
  add_number(app, "--tile", options.tile, "N", 1, largest_size, "order of a tile (256; with GPUs, 2048)");
  add_number(app, "--repeat", options.repeat, "N", 1, largest_size, "measured calls, after an unmeasured one (3)");
  app.add_flag("--check", options.check, "check the results; exit with 1 if a result is wrong");
  app.add_flag("--numa-as-gpu", options.numa_as_gpu,
               "compute only on NUMA nodes other than the first, so tiles are copied as they would be to a GPU; "
               "needs STARPU_USE_NUMA=1");
  const auto general = app.option_defaults()->get_group();  // "Options", or "OPTIONS" since CLI11 2.5
  app.option_defaults()->group("Limits of what travels");
  add_option(app, "--block", block, "BxC",
             "gemm: tiles in each process's part of a block of C, e.g. 4x4 (chosen to fit memory)");
  add_number(app, "--chunk", blocks.chunk, "D", 1, largest_size, "gemm: terms of a chunk (chosen to fit memory)");
  add_number(app, "--look-ahead", blocks.ahead, "L", 1, largest_size,
             "gemm: chunks by which inputs may be sent ahead (1 if C is one block, otherwise 2)");
  app.add_flag("--send-early", early,
               "gemm and solves: send inputs as soon as they are ready, even if there is little memory");
  app.add_flag("--hold-back", late, "gemm and solves: hold inputs back even if all fit into the memory");
  app.add_flag("--gpu-grid", gpu_grid, "gemm: GPUs of a process form a grid, instead of owning columns of C");
  app.option_defaults()->group(general);
  add_number(app, "--unroll-as", options.unroll_as, "RANK", 0, std::numeric_limits<int>::max(),
             "measure only how long process RANK takes to submit a call on matrices of --size tiles in each direction; "
             "start without mpirun, because the other processes do not exist");
  add_option(app, "--dump", options.dump, "FOLDER",
             "write what the process submits, sends and receives into FOLDER, a file for each call; needs --unroll-as");
  add_option(app, "--json", options.json, "FILE",
             "write the results to FILE, one JSON object per line (-: standard output)");
  app.get_option("--hold-back")->excludes("--send-early");
  if (!tools::parse_command_line(app, argc, argv, runtime::launched_rank() == 0)) return {};
  std::tie(options.p, options.q) = tools::parse_pair("--grid", grid);
  const Index processes = Index{options.p} * options.q;
  if (processes > std::numeric_limits<int>::max())
    throw BadArgument("--grid", grid, fmt::format("has {} processes, more than MPI can number", processes));
  if (!block.empty()) std::tie(blocks.rows, blocks.columns) = tools::parse_pair("--block", block);
  if (early || late) blocks.holds_back = late;
  options.control.by_columns = !gpu_grid;
  parse_problems(names, options);
  if (options.unroll_as >= processes)
    throw BadArgument("--unroll-as", std::to_string(options.unroll_as),
                      fmt::format("is none of the grid's processes, which are 0 to {}", processes - 1));
  if (app.count("--dump") > 0 && options.unroll_as < 0) throw BadArgument("--dump", options.dump, "needs --unroll-as");
  return options;
}

}  // namespace tessera::mpi_bench
