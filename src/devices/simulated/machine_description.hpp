// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "devices/cost_curve.hpp"
#include "devices/work.hpp"

/// A machine for simulations. A file describes it; docs/laboratory.md explains the format.
namespace tessera::device::simulated {

/// Seconds to copy a column of a tile between host and GPU, as a function of its bytes. A column is one contiguous
/// piece of host memory. Copies of short columns are slow, in particular while kernels run.
struct ColumnTimes {
  CostCurve idle, computing;  ///< while the GPU is idle, and while it computes
};

/// Factorizations of panels with pivoting: seconds per column, as a function of the panel's rows.
struct PanelTimes {
  /// The speed while products run concurrently on a part of the GPU.
  struct Beside {
    CostCurve columns;
    double products;  ///< the rate of these products, relative to their rate on the whole GPU
  };
  CostCurve alone;
  std::optional<Beside> beside;  ///< if absent, the GPU does not do both at the same time
};

struct GpuKind {
  std::string name;
  double memory = 0;                         ///< bytes
  double memory_rate = 0;                    ///< bandwidth of the GPU's memory [bytes/s]
  double task_overhead = 0;                  ///< time of a task in addition to its kernel [s]
  std::map<std::string, CostCurve> kernels;  ///< double precision, by tile operation; always has gemm
  std::optional<ColumnTimes> in, out;  ///< columns from and to the host; if absent, copies have the rate of the link
  std::optional<PanelTimes> panels;    ///< if absent, a panel takes as long as a gemm with as many flops
  std::map<std::string, CostCurve> codelets;  ///< codelets of programs, by name: seconds by bytes of data
  std::map<char, double> types;               ///< by type: the time for a given number of flops, relative to type d

  /// Seconds of a tile task. The flops of add, scale and laswp count elements.
  double task_seconds(const std::string& operation, const Work& work) const;
  /// The best rate of gemm tiles, without overhead [flop/s].
  double best_rate(char type) const;

 private:
  double product_seconds(const std::string& operation, char type, double flops) const;
  double factorization_seconds(const Work& work, double seconds_beside) const;
};

/// A link shared by all copies to or from a group of GPUs.
struct SharedLink {
  std::vector<int> gpus;
  double in = 0, out = 0;  ///< bytes/s
  double both = 0;         ///< the sum of both directions at once [bytes/s]; 0: no further limit
  bool contains(int gpu) const;
};

struct PeerLink {
  enum class Way {
    None,    ///< no direct access: copies go through the host
    NvLink,  ///< a direct link
    Bus      ///< the link to the host, as with PCIe
  };
  Way way = Way::None;
  double rate = 0;     ///< bytes/s
  double latency = 0;  ///< s
};

struct Gpu {
  std::size_t kind = 0;      ///< index into Machine::kinds
  double in = 0, out = 0;    ///< rates from and to the host [bytes/s]
  double latency = 0;        ///< s
  bool half_duplex = false;  ///< whether copies in both directions share the link
};

/// Copies between pageable memory and staging buffers on the host.
struct Staging {
  double rate = 0;       ///< rate of all copying threads together [bytes/s]
  double core_rate = 0;  ///< rate of one copying thread [bytes/s]
};

/// The network between MPI processes, each of which has its own machine.
struct Network {
  int processes_per_node = 1;
  double in = 0, out = 0;  ///< rates of a node [bytes/s]
  double inside = 0;       ///< rate between processes of one node, in each direction [bytes/s]
  double core = 0;         ///< total rate of the messages between nodes [bytes/s]; 0: not limited
  double latency = 0;      ///< s
};

struct Machine {
  std::string name;
  int cores = 0;
  double core_rate = 0;   ///< double precision [flop/s]
  double panel_rate = 0;  ///< rate of all cores together in a panel of LU [flop/s]; 0: GPUs factorize panels
  std::map<std::string, CostCurve> core_codelets;  ///< like `GpuKind::codelets`, for one core
  std::vector<GpuKind> kinds;
  std::vector<Gpu> gpus;
  std::vector<SharedLink> shared;
  std::optional<Staging> staging;            ///< if absent, operands in pageable memory cannot be simulated
  std::vector<std::vector<PeerLink>> peers;  ///< [from][to]
  double peers_together =
      0;  ///< rate of all direct links of a GPU together, in one direction [bytes/s]; 0: no common limit
  std::optional<Network> network;  ///< none: only one process can be simulated

  int gpu_count() const { return static_cast<int>(gpus.size()); }
  const GpuKind& kind_of(int gpu) const { return kinds[gpus[static_cast<std::size_t>(gpu)].kind]; }
  const PeerLink& peer(int from, int to) const {
    return peers[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  /// Total rate between the host and the first `count` GPUs while all of them copy [bytes/s].
  double total_in(int count) const { return total(count, &Gpu::in, &SharedLink::in); }
  double total_out(int count) const { return total(count, &Gpu::out, &SharedLink::out); }
  /// Total rate while all of them copy in both directions. Only on half-duplex links do the directions slow each other
  /// down.
  double total_both(int count) const;

 private:
  double total(int count, double Gpu::*own, double SharedLink::*limit) const;
};

/// The rate of cores in a type. They are twice as fast in single precision. A complex flop takes as long as a real one.
/// @param rate  in double precision
constexpr double rate_of_cores(char type, double rate) { return type == 's' || type == 'c' ? 2 * rate : rate; }

/// @throws RuntimeError that names the file, the field, its value and what is allowed
Machine read_machine(const std::filesystem::path& file);

/// The machine of this process, read once from the file that TESSERA_PLATFORM names.
/// @throws RuntimeError if the variable is not set or the file is invalid
const Machine& described_machine();

/// Whether all operands are in the memory of the first GPU or in pageable memory. Otherwise they are in pinned memory.
extern bool operands_are_on_a_gpu, operands_are_pageable;

}  // namespace tessera::device::simulated
