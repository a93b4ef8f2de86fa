// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "problems.hpp"
#include "runtime/ranks_of_node.hpp"
#include "shared/bad_argument.hpp"
#include "shared/command_line.hpp"

namespace tessera::mpi_bench {

namespace {

using tools::BadArgument;

/// Parses rows and columns, such as 2x3.
std::pair<int, int> parse_pair(const char* option, const std::string& text) {
  int rows = 0, columns = 0, end = 0;
  if (std::sscanf(text.c_str(), "%dx%d%n", &rows, &columns, &end) != 2 ||
      static_cast<std::size_t>(end) != text.size() || rows < 1 || columns < 1)
    throw BadArgument(option, text, "must be rows and columns, e.g. 2x3");
  return {rows, columns};
}

void require_at_least_1(const char* option, Index value) {
  if (value < 1) throw BadArgument(option, std::to_string(value), "must be at least 1");
}

/// Checks the routines, and that each exists for each type.
void check_problems(const Options& options) {
  for (const auto& routine : options.routines) require_routine(routine);
  for (const auto& type : options.types) {
    if (type.size() != 1 || std::string("sdcz").find(type) == std::string::npos)
      throw BadArgument("--type", type, "is not one of s, d, c, z");
    for (const auto& routine : options.routines)
      if (options.unroll_as < 0 && is_for_complex_only(routine) && type != "c" && type != "z")
        throw BadArgument("--routine", routine, "is for --type c and z");
  }
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  std::string grid, block;
  bool early = false, late = false, gpu_grid = false;
  auto& blocks = options.control.blocks;
  CLI::App app(
      "Measures routines on matrices over many processes: mpirun -n N tessera-mpi-bench --grid PxQ. Process 0 "
      "prints the results.",
      "tessera-mpi-bench");
  app.add_option("--grid", grid, "rows and columns of processes, e.g. 2x3")->type_name("PxQ")->required();
  std::string names;
  for (const char* routine : routines) names += std::string(names.empty() ? "" : ", ") + routine;
  app.add_option("--routine", options.routines, names + " (gemm)")->delimiter(',')->type_name("NAME");
  app.add_option("--type", options.types, "s, d, c, z (d)")->delimiter(',')->type_name("T");
  app.add_option("--size", options.sizes, "order of the matrices (1000)")->delimiter(',')->type_name("N");
  app.add_option("--tile", options.tile, "order of a tile (256; with GPUs, 2048)")->type_name("N");
  app.add_option("--repeat", options.repeat, "measured calls, after an unmeasured one (3)")->type_name("N");
  app.add_flag("--check", options.check, "check the results; exit with 1 if a result is wrong");
  app.add_flag("--numa-as-gpu", options.numa_as_gpu,
               "compute only on NUMA nodes other than the first, so tiles are copied as they would be to a GPU; "
               "needs STARPU_USE_NUMA=1");
  for (auto* option :
       {app.add_option("--block", block,
                       "tiles in each process's part of a block of C, e.g. 4x4 (chosen to fit memory)")
            ->type_name("BxC"),
        app.add_option("--chunk", blocks.chunk, "terms of a chunk (chosen to fit memory)")->type_name("D"),
        app.add_option("--look-ahead", blocks.ahead,
                       "chunks by which inputs may be sent ahead (1 if C is one block, otherwise 2)")
            ->type_name("L"),
        app.add_flag("--send-early", early, "send inputs as soon as they are ready, even if there is little memory"),
        app.add_flag("--hold-back", late, "hold inputs back even if all fit into the memory"),
        app.add_flag("--gpu-grid", gpu_grid, "GPUs of a process form a grid, instead of owning columns of C")})
    option->group("Limits of gemm");
  app.add_option("--unroll-as", options.unroll_as,
                 "measure only how long process RANK takes to submit a call on matrices of --size tiles in each "
                 "direction; start without mpirun, because the other processes do not exist")
      ->type_name("RANK");
  app.add_option(
         "--dump", options.dump,
         "write what the process submits, sends and receives into FOLDER, a file for each call; needs --unroll-as")
      ->type_name("FOLDER");
  app.add_option("--json", options.json, "write the results to FILE, one JSON object per line (-: standard output)")
      ->type_name("FILE");
  app.get_option("--hold-back")->excludes("--send-early");
  if (!tools::parse_command_line(app, argc, argv, detail::launched_rank() == 0)) return {};
  std::tie(options.p, options.q) = parse_pair("--grid", grid);
  if (!block.empty()) std::tie(blocks.rows, blocks.columns) = parse_pair("--block", block);
  if (early || late) blocks.holds_back = late;
  options.control.by_columns = !gpu_grid;
  if (app.count("--tile") > 0) require_at_least_1("--tile", options.tile);
  require_at_least_1("--repeat", options.repeat);
  if (app.count("--chunk") > 0) require_at_least_1("--chunk", blocks.chunk);
  if (app.count("--look-ahead") > 0) require_at_least_1("--look-ahead", blocks.ahead);
  for (const Index n : options.sizes) require_at_least_1("--size", n);
  check_problems(options);
  if (app.count("--unroll-as") > 0 && (options.unroll_as < 0 || options.unroll_as >= options.p * options.q))
    throw BadArgument("--unroll-as", std::to_string(options.unroll_as), "must be one of the grid's processes");
  if (app.count("--dump") > 0 && options.unroll_as < 0) throw BadArgument("--dump", options.dump, "needs --unroll-as");
  return options;
}

}  // namespace tessera::mpi_bench
