// SPDX-License-Identifier: BSD-3-Clause
// tessera-hpl solves the systems of an HPL.dat and prints HPL's output.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/lapack.hpp>

#include "hpl/hpl_options.hpp"
#include "hpl/hpl_report.hpp"
#include "hpl/random_system.hpp"
#include "plan/plans.hpp"
#include "routines/operands.hpp"
#include "runtime/process_session.hpp"
#include "runtime/ranks_of_node.hpp"
#include "runtime/session.hpp"
#include "shared/exit_code.hpp"
#include "shared/runtime_options.hpp"
#include "workload/found_machine.hpp"
#include "workload/memory.hpp"

namespace {

using namespace tessera;
using namespace tessera::hpl;
using tools::BadArgument;

/// Under mpirun, another program takes over: each process would solve all systems on the same devices.
/// @throws BadArgument if there is no such program
void give_way_to_many_processes(char** argv) {
  const int count = runtime::launched_ranks();
  if (count == 1) return;
  std::error_code unreadable;
  const auto other = std::filesystem::read_symlink("/proc/self/exe", unreadable).replace_filename("tessera-mpi-hpl");
  if (!unreadable) execv(other.c_str(), argv);
  throw BadArgument(
      fmt::format("{} processes are started, and {} is not there: it is built with MPI. One process uses all "
                  "devices of a machine; start it without mpirun or srun",
                  count, other.string()));
}

/// Bytes of A and b.
double bytes(Index n) { return 8 * static_cast<double>(n) * (static_cast<double>(n) + 1); }

void require_memory(Index n, const bench::Machine& machine) {
  if (bytes(n) > machine.free_memory)
    throw BadArgument(fmt::format("N = {} needs {:.1f} GB of host memory, but only {:.1f} GB are free", n,
                                  bytes(n) * 1e-9, machine.free_memory * 1e-9));
}

/// If no number of GPUs was given, uses all GPUs of the machine.
void resolve(Options& options, const bench::Machine& machine) {
  const int found = static_cast<int>(machine.gpus.size());
  const auto because = machine.why_not_more_gpus.empty() ? "" : " (" + machine.why_not_more_gpus + ")";
  int& gpus = options.runtime.gpus;
  if (gpus > found)
    throw BadArgument("--gpus", std::to_string(gpus),
                      fmt::format("exceeds the {} GPUs of this machine{}", found, because));
  if (gpus < 0) gpus = found;
  if (gpus == 0 && options.runtime.cpus == 0) throw BadArgument("--cpus", "0", "leaves no device" + because);
  if (options.pinned.value_or(false) && !machine.has_cuda())
    throw BadArgument("--memory", "pinned", "needs a CUDA GPU, but there is none" + because);
}

std::string describe(const bench::Machine& machine, int gpus) {
  if (gpus == 0) return fmt::format("{} CPU cores, no GPU", machine.cores);
  return fmt::format("{}, {} CPU cores", machine.names(gpus), machine.cores);
}

/// The library's gesv, with a new Runtime for each panel width.
class Gesv {
 public:
  Gesv(RuntimeOptions options, Index largest, bench::Memory memory)
      : options_(std::move(options)), largest_(largest), A_(static_cast<std::size_t>(8 * largest * largest), memory),
        b_(static_cast<std::size_t>(8 * largest), memory) {}

  double* A() const { return static_cast<double*>(A_.data()); }
  double* b() const { return static_cast<double*>(b_.data()); }

  Index prepare(Index n, Index wanted) {
    if (!runtime_ || wanted != options_.tile) {
      runtime_.reset();
      options_.tile = wanted;
      runtime_.emplace(options_);
      if (gpu_count() > 0) warm_up();
    }
    return plan::plan_getrf(routines::machine_for(*runtime::session(), {routines::memory_of(A(), n, n, n),
                                                                        routines::memory_of(b(), n, 1, n)}),
                            'd', n, n)
        .tile.n;
  }

  Index solve(Index n, double* A, double* b) {
    pivots_.resize(static_cast<std::size_t>(n));
    return gesv<double>(n, 1, A, n, pivots_.data(), b, n);
  }

 private:
  /// Runs a small system: GPUs load kernels and allocate memory when they are first used.
  void warm_up() {
    const RandomSystem system(std::min<Index>(largest_, 4096));
    system.fill(A(), b());
    solve(system.order(), A(), b());
  }

  RuntimeOptions options_;
  Index largest_;
  bench::HostMemory A_, b_;  // must outlive the Runtime, which may have registered this memory
  std::vector<Index> pivots_;
  std::optional<Runtime> runtime_;
};

int run(int argc, char** argv) {
  give_way_to_many_processes(argv);
  auto options = parse_options(argc, argv);
  if (!options) return tools::Success;
  const auto input = read_input(*options);
  options->runtime = tools::with_environment(options->runtime);
  const auto machine = bench::look_at_machine(options->runtime.gpus != 0);
  resolve(*options, machine);
  const Index largest = std::ranges::max(input.sizes);
  require_memory(largest, machine);
  const auto output = open_output(input);
  const int gpus = options->runtime.gpus;
  const bool pinned = options->pinned.value_or(gpus > 0 && machine.has_cuda());
  Gesv gesv(options->runtime, largest, pinned ? bench::Memory::Pinned : bench::Memory::Pageable);
  Report report(output.get(), input.threshold);
  report.begin(input, describe(machine, gpus));
  solve_all(input,
            {[&](Index n, Index wanted) { return gesv.prepare(n, wanted); },
             [&](Index n, double* A, double* b) { return gesv.solve(n, A, b); }},
            gesv.A(), gesv.b(), report);
  report.end();
  return report.exit_code();
}

}  // namespace

int main(int argc, char** argv) {
  return tools::exit_code_of("tessera-hpl", [&] { return run(argc, argv); });
}
