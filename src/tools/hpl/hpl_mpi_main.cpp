// SPDX-License-Identifier: BSD-3-Clause
// What tessera-hpl becomes under mpirun: the systems of an HPL.dat, solved by many processes.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

#include <tessera/distributed.hpp>

#include "hpl/hpl_options.hpp"
#include "hpl/hpl_report.hpp"
#include "hpl/random_system.hpp"
#include "runtime/ranks_of_node.hpp"
#include "shared/exit_code.hpp"
#include "shared/formatting.hpp"
#include "shared/one_of_many.hpp"
#include "workload/parallel.hpp"

namespace {

using namespace tessera;
using namespace tessera::hpl;
using tools::BadArgument;

/// The grids of the file, each of which must have all processes.
std::vector<ProcessGrid> grids_of(const Options& options) {
  std::ifstream file(options.file);
  auto grids = read_grids(file, options.file);
  const int processes = runtime::launched_ranks();
  for (const auto& [p, q] : grids)
    if (Index{p} * q != processes)
      throw BadArgument(
          fmt::format("{}, lines 11 and 12: P = {} and Q = {} need {} processes, but {} are started: mpirun -n {}",
                      options.file, p, q, Index{p} * q, processes, Index{p} * q));
  return grids;
}

/// [A b], of which each process has panels.
class System {
 public:
  System(const Grid& grid, Index n, Index width)
      : system_(n), width_(width), grid_(grid), A_(grid, n, n + 1, {n, width}) {
    bench::parallel_for(A_.local_n(), 16, [&](Index begin, Index end) {
      for (Index j = begin; j < end; j++) system_.generate(A_.global_column(j), 0, n, A_.local() + j * A_.ld());
    });
  }

  /// Factorizes A, whose last column becomes L⁻¹ P b.
  Index factorize() {
    const auto pivoted = getrf(A_);
    A_.wait();
    return pivoted.info.wait();
  }
  /// Solves with U, panel by panel from the last one. The right-hand side goes from process to process.
  /// @return  the solution, in all processes
  std::vector<double> solve() const {
    const Index n = system_.order();
    std::vector<double> y(static_cast<std::size_t>(n));
    int holder = A_.owner(0, n / width_);
    if (grid_.rank() == holder) std::copy_n(column(n), n, y.data());
    for (Index k = (n - 1) / width_; k >= 0; k--) {
      pass(y, std::exchange(holder, A_.owner(0, k)), A_.owner(0, k));
      if (grid_.rank() != holder) continue;
      const Index begin = k * width_, end = std::min(begin + width_, n);
      for (Index j = end - 1; j >= begin; j--) {
        double& x = y[static_cast<std::size_t>(j)];
        x /= column(j)[j];
        subtract(y, j, begin, j);
      }
      bench::parallel_for(begin, 1024, [&](Index first, Index last) {
        for (Index j = begin; j < end; j++) subtract(y, j, first, last);
      });
    }
    MPI_Bcast(y.data(), static_cast<int>(n), MPI_DOUBLE, holder, MPI_COMM_WORLD);
    return y;
  }
  const RandomSystem& random() const { return system_; }

 private:
  /// A column of this process.
  const double* column(Index j) const { return A_.local() + (j / width_ / grid_.q() * width_ + j % width_) * A_.ld(); }
  /// Subtracts x(j) U(·, j) from rows [begin, end) of y.
  void subtract(std::vector<double>& y, Index j, Index begin, Index end) const {
    const double x = y[static_cast<std::size_t>(j)];
    const double* const u = column(j);
    double* const to = y.data();
    for (Index i = begin; i < end; i++) to[i] -= u[i] * x;
  }
  void pass(std::vector<double>& y, int from, int to) const {
    constexpr int tag = 1;
    if (from == to) return;
    const auto n = static_cast<int>(y.size());
    if (grid_.rank() == from) MPI_Send(y.data(), n, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
    if (grid_.rank() == to) MPI_Recv(y.data(), n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  RandomSystem system_;
  Index width_;
  Grid grid_;
  DistributedMatrix<double> A_;
};

/// Several panels for each process, if the file leaves the choice.
Index width_for(Index n, Index nb, int processes) {
  if (nb > 0) return std::min(panel_for(n, nb), n);
  constexpr Index panels_of_process = 8, multiple = 32, widest_on_cores = 128, widest_on_gpus = 2048;
  const Index wanted = n / (processes * panels_of_process) / multiple * multiple;
  return std::min(n, std::clamp(wanted, multiple, gpu_count() > 0 ? widest_on_gpus : widest_on_cores));
}

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv, runtime::launched_rank() == 0);
  if (!options) return tools::Success;
  if (options->pinned) throw BadArgument("--memory cannot be chosen for several processes");
  const auto input = read_input(*options);
  const auto grids = grids_of(*options);
  tools::yield_when_idle();
  auto runtime = options->runtime;
  runtime.tile = 0;
  const Grid grid(1, runtime::launched_ranks(), MPI_COMM_WORLD, runtime);  // each panel is in one process
  std::optional<Output> output;
  std::optional<Report> report;
  if (grid.rank() == 0) {
    output.emplace(open_output(input));
    report.emplace(output->get(), input.threshold);
    report->begin(input, fmt::format("{} processes; this one has {} GPUs", grid.q(), gpu_count()), ignored_variants);
  }
  for (const auto& [p, q] : grids)
    for (const Index n : input.sizes)
      for (const Index nb : input.panel_sizes) {
        Solved solved{.n = n, .asked = nb, .panel = width_for(n, nb, grid.q()), .p = p, .q = q};
        System system(grid, n, solved.panel);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        solved.info = system.factorize();
        std::vector<double> x;
        if (solved.info == 0) x = system.solve();
        const double mine = MPI_Wtime() - begin;
        MPI_Reduce(&mine, &solved.seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (!report) continue;
        if (report->checks() && solved.info == 0) solved.residual = scaled_residual(system.random(), x.data());
        report->add(solved);
      }
  int code = tools::Success;
  if (report) {
    report->end();
    code = report->exit_code();
  }
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return tools::exit_code_of(
      "tessera-hpl", [&] { return run(argc, argv); }, tools::print_error_once);
}
