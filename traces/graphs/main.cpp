// SPDX-License-Identifier: BSD-3-Clause
// Task graphs for comparing scheduling policies. The program uses StarPU without Tessera; `tessera-simulate --program`
// runs it on described machines. StarPU's headers rename its `main`.
#include <dlfcn.h>
#include <fmt/format.h>
#include <starpu.h>

#include <CLI/CLI.hpp>

#include "graphs/graphs.hpp"
#include "shared/command_line.hpp"
#include "shared/exit_code.hpp"

namespace {

/// Finds the policy's function for the hint at run time, because StarPU loads the policy's library.
graphs::Hint find_hint() {
  const char* library = std::getenv("STARPU_SCHED_LIB");
  void* const policy = library != nullptr ? dlopen(library, RTLD_NOW) : nullptr;
  void* const hint = policy != nullptr ? dlsym(policy, "tessera_sched_wont_use") : nullptr;
  if (hint == nullptr) throw std::runtime_error("--last-uses: the policy takes no such hints; tessera does");
  return reinterpret_cast<graphs::Hint>(hint);
}

int run(int argc, char** argv) {
  CLI::App app("Submits a graph of tasks to StarPU.", "graphs");
  std::string name;
  graphs::Size size{12, 1024, 1, nullptr};
  bool last_uses = false;
  int calls = 1;
  std::string known;
  for (const auto& graph : graphs::all()) known += fmt::format("\n  {}: {}", graph.name, graph.text);
  app.add_option("GRAPH", name, "one of:" + known)->required();
  app.add_option("--tiles", size.tiles, "tiles in a row of a matrix (12)")->check(CLI::Range(1, 256));
  app.add_option("--tile", size.tile, "order of a tile (1024)")->check(CLI::Range(1, 1 << 15));
  app.add_option("--seed", size.seed, "of a random order (1)");
  app.add_flag("--last-uses", last_uses, "tell the policy which task is the last to use a tile");
  app.add_option("--calls", calls, "run the graph this often, and print the time of each (1)")
      ->check(CLI::Range(1, 1000));
  if (!tessera::tools::parse_command_line(app, argc, argv)) return tessera::tools::Success;
  const auto& all = graphs::all();
  const auto graph = std::ranges::find(all, name, &graphs::Graph::name);
  if (graph == all.end()) throw tessera::tools::BadArgument("GRAPH", name, "is not a graph; there are:" + known);
  if (last_uses) size.wont_use = find_hint();
  if (starpu_init(nullptr) != 0) throw std::runtime_error("StarPU does not start");
  for (int call = 1; call <= calls; call++) {
    const double begin = starpu_timing_now();
    graph->run(size);
    if (calls > 1) fmt::print("call {}: {:.4g} s\n", call, 1e-6 * (starpu_timing_now() - begin));
  }
  starpu_shutdown();
  return tessera::tools::Success;
}

}  // namespace

int main(int argc, char** argv) {
  return tessera::tools::exit_code_of("graphs", [&] { return run(argc, argv); });
}
