// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/hpl_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <tessera/error.hpp>

#include "hpl/random_system.hpp"
#include "shared/exit_code.hpp"
#include "shared/formatting.hpp"
#include "workload/other_libraries.hpp"

namespace tessera::hpl {

namespace {

const std::string thick(80, '='), thin(80, '-');

std::string listed(const std::vector<Index>& values) {
  std::string text;
  for (const Index value : values) text += fmt::format(" {:>7}", value == 0 ? "chosen" : std::to_string(value));
  return text;
}

}  // namespace

double Solved::gigaflops() const {
  const auto order = static_cast<double>(n);
  return (2.0 / 3 * order + 1.5) * order * order / seconds * 1e-9;
}

Output open_output(const Input& input) {
  constexpr auto stays_open = [](std::FILE* /*file*/) { return 0; };
  if (input.device == Input::Device::StandardOutput) return {stdout, stays_open};
  if (input.device == Input::Device::StandardError) return {stderr, stays_open};
  Output file(std::fopen(input.output.c_str(), "w"), std::fclose);
  if (file == nullptr)
    throw RuntimeError(
        fmt::format("the output file {} cannot be written: {}", tools::excerpt(input.output), std::strerror(errno)));
  return file;
}

void Report::begin(const Input& input, const std::string& machine, const char* ignored) {
  fmt::print(output_, "{}\ntessera-hpl {}: HPL's benchmark, solved by Tessera's LU with partial pivoting\n{}\n{}\n\n",
             thick, TESSERA_VERSION, machine, thick);
  fmt::print(output_, "N      :{}\nNB     :{}\n", listed(input.sizes), listed(input.panel_sizes));
  fmt::print(output_, "NB is the number of columns in a panel, at least N/1024.{}\n\n",
             input.says_more ? fmt::format(" Ignored: {}.", ignored) : "");
  if (checks())
    fmt::print(output_,
               "- The matrix A is randomly generated for each test.\n"
               "- The following scaled residual check will be computed:\n"
               "      ||Ax-b||_oo / ( eps * ( || x ||_oo * || A ||_oo + || b ||_oo ) * N )\n"
               "- The relative machine precision (eps) is taken to be       {:>20.6e}\n"
               "- Computational tests pass if scaled residuals are less than        {:>12.1f}\n\n",
               0x1p-53, threshold_);
  fmt::print(output_, "{}\nT/V                N    NB     P     Q               Time                 Gflops\n{}\n",
             thick, thin);
}

void Report::add(const Solved& solved) {
  if (solved.asked > 0 && solved.panel > solved.asked)
    fmt::print(output_, "NB = {} is below N/1024: panels have {} columns.\n", solved.asked, solved.panel);
  // HPL's letters for the variant: row-major processes, look-ahead of one panel, right-looking. Zeros do not apply.
  fmt::print(output_, "WR10R0R0{:>12} {:>5} {:>5} {:>5} {:>18.2f}    {:>19.4e}\n", solved.n, solved.panel, solved.p,
             solved.q, solved.seconds, solved.gigaflops());
  if (solved.info != 0) {
    fmt::print(output_, "Error code returned by solve is {}, skip\n", solved.info);
    skipped_++;
  } else if (!checks()) {
    passed_++;
  } else {
    const bool passes = solved.residual < threshold_;  // false for NaN
    (passes ? passed_ : failed_)++;
    fmt::print(output_, "{}\n||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)={:>17.8e} ...... {}\n{}\n", thin,
               solved.residual, passes ? "PASSED" : "FAILED", thick);
  }
  std::fflush(output_);
}

void Report::end() {
  fmt::print(output_, "\nFinished {:>6} tests with the following results:\n", passed_ + failed_ + skipped_);
  if (checks())
    fmt::print(output_,
               "         {:>6} tests completed and passed residual checks,\n"
               "         {:>6} tests completed and failed residual checks,\n",
               passed_, failed_);
  else fmt::print(output_, "         {:>6} tests completed without checking,\n", passed_);
  fmt::print(output_, "         {:>6} tests skipped because of illegal input values.\n{}\n\nEnd of Tests.\n{}\n",
             skipped_, thin, thick);
  if (std::fflush(output_) != 0 || std::ferror(output_) != 0) throw RuntimeError("the output cannot be written");
}

int Report::exit_code() const { return failed_ + skipped_ > 0 ? tools::CheckFailed : tools::Success; }

Index panel_for(Index n, Index nb) {
  constexpr Index most_panels = 1024;
  return nb == 0 ? 0 : std::max(nb, (n + most_panels - 1) / most_panels);
}

void solve_all(const Input& input, const Solver& solver, double* A, double* b, Report& report) {
  using Clock = std::chrono::steady_clock;
  for (const Index n : input.sizes)
    for (const Index nb : input.panel_sizes) {
      Solved solved{.n = n, .asked = nb, .panel = solver.prepare(n, panel_for(n, nb))};
      const RandomSystem system(n);
      {
        const bench::PauseWorkers pause;
        system.fill(A, b);
      }
      const auto begin = Clock::now();
      solved.info = solver.solve(n, A, b);
      solved.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (report.checks() && solved.info == 0) {
        const bench::PauseWorkers pause;
        solved.residual = scaled_residual(system, b);
      }
      report.add(solved);
    }
}

}  // namespace tessera::hpl
