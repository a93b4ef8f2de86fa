// SPDX-License-Identifier: BSD-3-Clause
#include "operation_times.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "devices/row_moves.hpp"
#include "machine/machine_rates.hpp"
#include "one_gpu.hpp"

namespace tessera::plan {

namespace {

constexpr Index smallest_timed = 256, largest_timed = 4096;

/// Seconds and flops of each operation on tiles of order n; empty if one failed.
std::map<std::string, device::CostCurve::Point> time_operations(const machine::Machine& machine, char type, Index n) {
  OneGpu gpu(machine);
  tile::Ops<OneGpu> to(machine, gpu, type);
  const NearIdentity matrix(type, n, n);
  const OnGpu first(to, matrix, matrix), second(to, matrix, matrix);
  const auto &A = first.tile(), &B = second.tile();
  codelets::InfoValue info;
  std::map<std::string, device::CostCurve::Point> times;
  const auto time = [&](const char* operation, int length, auto run) {
    if (gpu.failed()) return;
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
  const NearIdentity columns(type, n, smallest_timed), square(type, smallest_timed, smallest_timed);
  const OnGpu few(to, columns, square);
  const auto& X = few.tile();
  time("trmm_steps", several, [&] { to.trmm(Side::Left, Op::NoTrans, A, Uplo::Lower, Diag::NonUnit, 1, X); });
  time("trsm_steps", several, [&] { to.trsm(Side::Left, Op::NoTrans, divisor, 1, X); });
  for (const char* const steps : {"trmm_steps", "trsm_steps"}) times[steps].amount = static_cast<double>(n);
  if (gpu.failed()) return {};
  return times;
}

using Accesses = std::vector<tile::Access>;
using Points = std::map<std::string, std::vector<device::CostCurve::Point>>;
constexpr auto R = STARPU_R, W = STARPU_W, RW = STARPU_RW;

/// Times operations on panels of some rows and columns.
class PanelTimer {
 public:
  PanelTimer(const machine::Machine& machine, char type, Index rows, Index columns, Points& points)
      : gpu_(machine), to_(machine, gpu_, type), type_(type), rows_(rows), columns_(columns), points_(points),
        blocked_(tile::is_blocked(machine, columns)), matrix_(type, rows, columns), square_(type, columns, columns) {}

  /// @return  whether all have succeeded
  bool time() {
    time_lu();
    time_qr();
    return !gpu_.failed();
  }

 private:
  /// A panel of an LU factorization, which is factorized when it is used.
  struct Factors {
    OnGpu panel;
    sinks::TemporaryTile pivots, inverses;

    void add_to(Accesses& accesses, starpu_data_access_mode mode) const {
      accesses.push_back({panel.tile().handle, mode});
      for (const auto& result : {pivots.handle(), inverses.handle()})
        if (result != nullptr) accesses.push_back({result, mode == RW ? W : mode});
    }
  };
  OnGpu panel() { return {to_, matrix_, square_}; }
  Factors factors() {
    Factors made{panel(), {device::PivotTile::elements(columns_), 1, sizeof(int)}, {}};
    if (blocked_) made.inverses = {device::diagonal_block, 2 * columns_, common::size_of(type_)};
    return made;
  }
  device::Work work(Index multiply_adds) const {
    return {common::flops_of_multiply_add(type_) * static_cast<double>(multiply_adds), type_};
  }

  void factorization(starpu_codelet& codelet, const Accesses& accesses, const auto& args) {
    const double seconds = chain(gpu_, 1, [&] { gpu_.submit(codelet, std::span(accesses), args); });
    points_[codelet.name + (' ' + std::to_string(columns_))].push_back({static_cast<double>(rows_), seconds});
  }
  void update(starpu_codelet& codelet, const Accesses& accesses, const auto& args) {
    constexpr int several = 8;            // StarPU prepares the next task while one runs
    constexpr double long_enough = 0.01;  // [s]; so that the preparation does not matter
    const auto run = [&] { gpu_.submit(codelet, std::span(accesses), args); };
    double seconds = chain(gpu_, 1, run);
    if (seconds < long_enough) seconds = chain(gpu_, several, run) / several;
    points_[codelet.name].push_back({args.work.flops, seconds});
  }

  void time_lu() {
    codelets::InfoValue info;
    const auto first = factors(), second = factors();
    const auto third = panel();
    const tile::Access updated{third.tile().handle, RW};
    const codelets::GetrfArgs of_panel{work(rows_ * columns_ * columns_ / 2), 0, 1, 0, blocked_, &info};
    const codelets::PanelUpdateArgs of_update{work(rows_ * columns_ * columns_), 0, 1, blocked_};
    Accesses factorized, used, beside;
    first.add_to(factorized, RW), first.add_to(used, R), second.add_to(beside, RW);
    beside.insert(beside.end(), used.begin(), used.end());
    beside.push_back(updated);
    used.insert(used.begin() + 2, updated);
    factorization(codelets::getrf(type_), factorized, of_panel);
    update(codelets::panel_update(type_), used, of_update);
    factorization(codelets::getrf_beside_updates(type_), beside,
                  codelets::GetrfBesideUpdatesArgs{of_panel.work, of_panel, of_update, 1});
  }

  void time_qr() {
    const auto first = panel(), second = panel();
    const sinks::TemporaryTile factors(columns_, 1, common::size_of(type_)),
        block(columns_, 2 * columns_, common::size_of(type_));
    const codelets::ReflectorArgs of_panel{work(rows_ * columns_ * columns_), 0};
    const codelets::LarfbArgs of_update{work((2 * rows_ + columns_) * columns_ * columns_), 0, Side::Left, true};
    const Accesses factorized{{first.tile().handle, RW}, {factors.handle(), W}, {block.handle(), W}},
        used{{first.tile().handle, R}, {block.handle(), R}, {second.tile().handle, RW}};
    factorization(codelets::geqrf(type_), factorized, of_panel);
    update(codelets::larfb(type_), used, of_update);
  }

  OneGpu gpu_;
  tile::Ops<OneGpu> to_;
  char type_;
  Index rows_, columns_;
  Points& points_;
  bool blocked_;
  NearIdentity matrix_, square_;
};

/// Adds the operations on panels. For a factorization, the name also has the columns of the panel, as in "getrf 256",
/// and the curve is a function of its rows.
/// @return  whether all have succeeded
bool time_panels(const machine::Machine& machine, char type, std::map<std::string, device::CostCurve>& curves) {
  Points points;
  // In order of flops for updates, and of rows for factorizations.
  for (const Index columns : {256, 1024})
    for (const Index rows : {4 * columns, 16 * columns})
      if (!PanelTimer(machine, type, rows, columns, points).time()) return false;
  for (auto& [operation, of_it] : points) curves[operation] = device::CostCurve(std::move(of_it));
  return true;
}

std::map<std::string, device::CostCurve> curves_of_operations(const machine::Machine& machine, char type) {
  constexpr double long_enough = 0.01;  // [s]; the next order may take eight times as long
  std::map<std::string, std::vector<device::CostCurve::Point>> points;
  double longest = 0;
  for (Index n = smallest_timed; n <= largest_timed && longest < long_enough; n *= 2) {
    const auto times = time_operations(machine, type, n);
    if (times.empty()) return {};
    for (const auto& [operation, point] : times) {
      points[operation].push_back(point);
      longest = std::max(longest, point.seconds);
    }
  }
  std::map<std::string, device::CostCurve> curves;
  for (auto& [operation, of_it] : points) curves[operation] = device::CostCurve(std::move(of_it));
  if (!time_panels(machine, type, curves)) return {};
  return curves;
}

[[maybe_unused]] const bool is_set = (machine::planning().time_operations = plan::time_operations, true);

}  // namespace

std::map<std::string, device::CostCurve> time_operations(const machine::Machine& machine, char type) {
  // StarPU would wait forever for memory that a small GPU does not have.
  constexpr double needed = 4.0 * largest_timed * largest_timed * sizeof(std::complex<double>);
  if (machine.gpu_memory > 0 && machine.gpu_memory < needed) return {};
  return curves_of_operations(machine, type);
}

}  // namespace tessera::plan
