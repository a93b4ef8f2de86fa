// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

#include "codelets/codelet.hpp"
#include "devices/cost_curve.hpp"
#include "machine/machine_rates.hpp"
#include "tile/extents.hpp"
#include "tuning.hpp"

namespace tessera::machine {
struct Machine;
}

namespace tessera::plan {

/// Seconds to copy a column of a tile between host and GPU, as a function of its bytes. A column is one contiguous
/// piece of host memory.
struct ColumnTimes {
  device::CostCurve idle, computing;  ///< while the GPU is idle, and while it computes; empty: at the rate of the link
};

/// What a task does to a panel.
struct PanelWork {
  double rows = 0, columns = 0;  ///< of the panel that it factorizes; 0: none
  double moved = 0;              ///< elements that it writes to other rows
  bool operator==(const PanelWork&) const = default;
};

/// What determines the time of a task.
struct TaskWork {
  double flops;         ///< elements for a memory-bound operation
  double products = 0;  ///< flops of its matrix products, as far as these are counted separately
  double order = 0;     ///< of the triangle by which it multiplies or divides; 0: none
  PanelWork panel = {};
  bool operator==(const TaskWork&) const = default;
};

/// Seconds of a column of a panel that is factorized.
class PanelTimes {
 public:
  /// @param columns  of the panel
  /// @param by_rows  seconds of a column, as a function of the panel's rows
  void add(double columns, device::CostCurve by_rows) { curves_[columns] = std::move(by_rows); }
  /// Seconds of a panel.
  double seconds(double rows, double columns) const;
  /// The columns of the widest panel that was measured.
  double widest() const { return curves_.rbegin()->first; }

 private:
  std::map<double, device::CostCurve> curves_;  ///< by the columns of a panel
};

/// A GPU and its link to the host.
struct Gpu {
  std::map<std::string, device::CostCurve, std::less<>>
      kernels;                                            ///< by tile operation: seconds by flops; always has gemm
  std::map<std::string, PanelTimes, std::less<>> panels;  ///< by factorization of a panel; empty: not known
  double products_beside = 1;        ///< rate of products while a panel is factorized, relative to their rate alone
  double memory_rate = 0;            ///< bandwidth of the GPU's memory [bytes/s]
  double overhead = 0;               ///< of a task, on top of its kernel [s]
  double in_rate = 0, out_rate = 0;  ///< [bytes/s]
  double latency = 0;                ///< of a copy [s]
  bool half_duplex = false;          ///< whether copies in both directions share the link
  ColumnTimes in, out;
  ColumnTimes close;        ///< both ways, if the columns of the matrix are close together, see machine::MachineRates
  bool alike_first = true;  ///< whether it is of the same kind as GPU 0
  /// Whether a panel step is timed as its triangle plus its products. For described GPUs it is timed as a product.
  bool steps_have_parts = false;

  /// @param apart  distance between the starts of two columns of the matrix [bytes]
  const ColumnTimes& column_times(bool into_gpu, double apart) const {
    return apart <= machine::MachineRates::close && !close.idle.empty() ? close : into_gpu ? in : out;
  }
  /// Rough seconds to copy elements from the host in columns of a given height.
  /// @param rows  of the matrix
  /// @param busy  fraction of the time in which the GPU computes
  double copy_seconds(double elements, double height, double rows, double element_size, double busy) const;
  /// Seconds of a task.
  /// @param element_size  bytes
  double task_seconds(std::string_view operation, const TaskWork& work, double element_size) const;
  /// Seconds of a product.
  double product_seconds(double flops) const {
    using namespace std::string_view_literals;
    return overhead + kernels.find("gemm"sv)->second.seconds(flops);
  }

 private:
  double factorization_seconds(std::string_view operation, const TaskWork& work, double exchanges) const;
};

/// A link through which all copies enter and leave a group of GPUs.
struct SharedLink {
  unsigned gpus = 0;       ///< bit mask
  double in = 0, out = 0;  ///< [bytes/s]
  double both = 0;         ///< the sum of both directions at once [bytes/s]; 0: no further limit
};

struct PeerLink {
  double rate = 0;     ///< [bytes/s]; 0: none
  double latency = 0;  ///< [s]
  bool bus = false;    ///< whether the copies use the links to the host
};

/// Copies between GPUs and pageable memory go through buffers: threads of the host copy one piece of a tile while a
/// link copies another.
struct Staging {
  double rate = 0;          ///< of these threads, for all GPUs and both directions together [bytes/s]; 0: unknown
  double core_rate = 0;     ///< of one of them [bytes/s]; known if `rate` is
  bool in_pieces = false;   ///< whether each piece costs the link and the thread that drives the GPU what a copy does;
                            ///< simulated copies are not cut, but hold the link while a core fills the first buffer
  bool blocks = false;      ///< whether the thread that drives a GPU waits for the end of each copy, because copies are
                            ///< not posted
  std::size_t threads = 0;  ///< threads of the host, each of which then copies whole pieces, as the driving thread does
  double largest_streamed = 0;  ///< posted copies of tiles up to this size to a GPU bypass the caches [bytes]
  double rate_streamed = 0;     ///< `rate` for these [bytes/s]; known if `rate` is
};

/// What a rehearsal knows of a machine for one element type. The rates were measured when this session or an earlier
/// one began, or come from the description of a simulated machine.
struct Machine {
  std::vector<Gpu> gpus;
  Gpu core;  ///< a CPU core, which has no link
  int cpu_workers = 1;
  int sharing_cores = 0;      ///< CPU workers that may compute a part of a result beside the GPUs
  double lost_on_cores = 0;   ///< a core's product with few rows or columns takes as long as with so many more
  double error_of_cores = 0;  ///< the fraction by which a core may be slower or faster than predicted
  std::vector<SharedLink> shared;
  std::vector<std::vector<PeerLink>> peers;  ///< [from][to]
  double peers_together = 0;  ///< of all direct links of a GPU in one direction [bytes/s]; 0: as fast as each of them
  Staging staging;
  double memory = 0;  ///< bytes that tiles may fill on each GPU; 0: unknown
  double element_size = 8, flops_per_multiply_add = 2;
  RuntimeCosts runtime;

  double bytes(Index rows, Index columns) const {
    return element_size * static_cast<double>(rows) * static_cast<double>(columns);
  }
  double flops(const tile::TileExtents& product) const {
    return flops_per_multiply_add * static_cast<double>(product.m) * static_cast<double>(product.n) *
           static_cast<double>(product.k);
  }
  /// The number of products that GPUs compute in a second.
  /// @param count  number of GPUs, counted from the first
  /// @param size   flops of a product
  double products_per_second(int count, double size) const {
    double rate = 0, first = 0;
    for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(count); gpu++) {
      const double seconds = gpu > 0 && gpus[gpu].alike_first ? first : gpus[gpu].product_seconds(size);
      if (gpu == 0) first = seconds;
      rate += 1 / seconds;
    }
    return rate;
  }
  /// How much slower copies from the host are if all of these GPUs receive some at the same time.
  /// @param count  number of GPUs, counted from the first
  double crowding(int count) const {
    double most = 1;
    for (const auto& link : shared) {
      double rates = 0;
      for (int gpu = 0; gpu < count; gpu++)
        if ((link.gpus >> gpu & 1U) != 0) rates += gpus[static_cast<std::size_t>(gpu)].in_rate;
      most = std::max(most, rates / link.in);
    }
    return most;
  }
  int gpu_count() const noexcept { return static_cast<int>(gpus.size()); }
  const PeerLink& peer(int from, int to) const {
    return peers[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  /// Whether StarPU copies from another GPU instead of from the host.
  bool is_peer(int from, int to) const {
    return peer(from, to).rate >= 0.99 * gpus[static_cast<std::size_t>(to)].in_rate;
  }
};

/// The factor by which cores are assumed to be slower than predicted. If they end late, everything waits; if they are
/// given less, the GPUs compute more. To first order, the expected time of the call is least at this factor, if all
/// errors up to `error` are equally likely. It is never below 1, so cores are not assumed to be faster.
/// @param share  rate of the cores, relative to that of the GPUs
constexpr double caution(double error, double share) { return 1 + error * std::max(0.0, 1 - share) / (1 + share); }

/// Sets what a model says of the CPU cores.
void set_cores(Machine& model, const machine::Machine& machine, char type);

/// The model of the session's machine, built on first use and cached.
/// @param type  letter of the elements: s, d, c or z
const Machine& model_of(const machine::Machine& machine, char type);

/// The cost function of the codelets: the seconds of a task according to the model of its type; 0 if there is none yet.
double expected_seconds(const char* operation, const device::Work& work, int worker);

}  // namespace tessera::plan
