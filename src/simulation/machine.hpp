// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cost_curve.hpp"

/// A machine that is described instead of measured, for simulations. docs/laboratory.md explains the files.
namespace tessera::simulation {

struct GpuKind {
  std::string name;
  double memory = 0;                                 ///< bytes
  double memory_rate = 0;                            ///< of its own memory [bytes/s]
  double task_overhead = 0;                          ///< what a task costs besides its kernel [s]
  std::map<std::string, detail::CostCurve> kernels;  ///< by tile operation, double precision; always has gemm
  detail::CostCurve column;                          ///< copying a column of a tile from the host; may be empty
  std::map<char, double> types;                      ///< by type: time for the same flops, relative to d

  /// Seconds of a tile task.
  /// @param flops  as its codelet counts them; add and scale count elements
  double task_seconds(const std::string& operation, char type, double flops) const;
  /// Best rate of gemm tiles without overhead [flop/s].
  double best_rate(char type) const;
};

/// What everything that enters or leaves a group of GPUs has to go through.
struct SharedLink {
  std::vector<int> gpus;
  double in = 0, out = 0;  ///< bytes/s
  bool contains(int gpu) const;
};

struct PeerLink {
  enum class Way {
    None,    ///< no direct access: a copy goes over the host
    NvLink,  ///< wires of their own
    Bus      ///< the wires that lead to the host, as with PCIe
  };
  Way way = Way::None;
  double rate = 0;     ///< bytes/s
  double latency = 0;  ///< s
};

struct Gpu {
  std::size_t kind = 0;    ///< in Machine::kinds
  double in = 0, out = 0;  ///< from and to the host [bytes/s]
  double latency = 0;      ///< s
};

struct Machine {
  std::string name;
  int cores = 0;
  double core_rate = 0;  ///< double precision [flop/s]
  std::vector<GpuKind> kinds;
  std::vector<Gpu> gpus;
  std::vector<SharedLink> shared;
  std::vector<std::vector<PeerLink>> peers;  ///< [from][to]

  int gpu_count() const { return static_cast<int>(gpus.size()); }
  const GpuKind& kind_of(int gpu) const { return kinds[gpus[static_cast<std::size_t>(gpu)].kind]; }
  const PeerLink& peer(int from, int to) const {
    return peers[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  /// Host to the first `count` GPUs, all at once; and back [bytes/s].
  double total_in(int count) const { return total(count, &Gpu::in, &SharedLink::in); }
  double total_out(int count) const { return total(count, &Gpu::out, &SharedLink::out); }

 private:
  double total(int count, double Gpu::*own, double SharedLink::*limit) const;
};

/// @throws RuntimeError naming the file, the field, its value and what is allowed
Machine read_machine(const std::filesystem::path& file);

/// The machine of this process, read once from the file that TESSERA_PLATFORM names.
/// @throws RuntimeError if it is not set, or as above
const Machine& described_machine();

}  // namespace tessera::simulation
