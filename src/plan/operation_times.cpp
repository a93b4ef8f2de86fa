// SPDX-License-Identifier: BSD-3-Clause
#include "operation_times.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "machine/machine_rates.hpp"
#include "one_gpu.hpp"
#include "panel_times.hpp"

namespace tessera::plan {

namespace {

constexpr Index smallest_timed = 256, largest_timed = 4096;

/// Seconds and flops of each operation on tiles of order n; empty if one failed.
std::map<std::string, detail::CostCurve::Point> time_operations(const detail::Machine& machine, char type, Index n) {
  OneGpu gpu(machine);
  tile::Ops<OneGpu> to(machine, gpu, type);
  const NearIdentity matrix(type, n, n);
  const OnGpu first(to, matrix, matrix), second(to, matrix, matrix);
  const auto &A = first.tile(), &B = second.tile();
  codelets::InfoValue info;
  std::map<std::string, detail::CostCurve::Point> times;
  const auto time = [&](const char* operation, int length, auto run) {
    const double seconds = chain(gpu, length, run) / length;
    times[operation] = {gpu.flops(), seconds};
  };
  // A task on the diagonal starts on an idle GPU. For other operations, StarPU prepares the next task while one runs.
  constexpr int alone = 1, several = 8;
  time("potrf", alone, [&] { to.potrf(A, Uplo::Lower, 0, &info); });
  time("getrf_nopiv", alone, [&] { to.getrf_nopiv(A, Uplo::Lower, 0, &info); });
  time("diagonal_blocks", alone, [&] { to.diagonal_blocks(A, 0, Uplo::Lower, Diag::NonUnit); });
  time("trmm", several, [&] { to.trmm(Side::Left, Op::NoTrans, A, Uplo::Lower, Diag::NonUnit, 1, B); });
  const auto divisor = to.divisor(A, Uplo::Lower);
  time("trsm", several, [&] { to.trsm(Side::Left, Op::NoTrans, divisor, 1, B); });
  if (!gpu.failed()) return times;
  codelets::take_failure(A.handle), codelets::take_failure(B.handle);
  return {};
}

std::map<std::string, detail::CostCurve> curves_of_operations(const detail::Machine& machine, char type) {
  constexpr double long_enough = 0.01;  // [s]; the next order may take eight times as long
  std::map<std::string, std::vector<detail::CostCurve::Point>> points;
  double longest = 0;
  for (Index n = smallest_timed; n <= largest_timed && longest < long_enough; n *= 2) {
    const auto times = time_operations(machine, type, n);
    if (times.empty()) return {};
    for (const auto& [operation, point] : times) {
      points[operation].push_back(point);
      longest = std::max(longest, point.seconds);
    }
  }
  std::map<std::string, detail::CostCurve> curves;
  for (auto& [operation, of_it] : points) curves[operation] = detail::CostCurve(std::move(of_it));
  if (!time_panels(machine, type, curves)) return {};
  return curves;
}

[[maybe_unused]] const bool is_set = (detail::set_operation_timer(plan::time_operations), true);

}  // namespace

std::map<std::string, detail::CostCurve> time_operations(const detail::Machine& machine, char type) {
  // StarPU would wait forever for memory that a small GPU does not have.
  constexpr double needed = 4.0 * largest_timed * largest_timed * sizeof(std::complex<double>);
  if (machine.gpu_memory > 0 && machine.gpu_memory < needed) return {};
  return curves_of_operations(machine, type);
}

}  // namespace tessera::plan
