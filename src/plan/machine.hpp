// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tessera/types.hpp>

#include "codelets/codelet.hpp"
#include "machine/cost_curve.hpp"
#include "tuning.hpp"

namespace tessera::detail {
struct Machine;
}

namespace tessera::plan {

/// Copying a column of a tile between host and GPU, by its bytes [s]. A column is one piece of host memory.
struct ColumnTimes {
  detail::CostCurve idle, computing;  ///< while the GPU does nothing else, and while it computes; empty: as its link
};

/// A GPU and its link to the host.
struct Gpu {
  std::map<std::string, detail::CostCurve> kernels;  ///< by tile operation: seconds over flops; always contains gemm
  double memory_rate = 0;                            ///< of its own memory [bytes/s]
  double overhead = 0;                               ///< of a task, besides its kernel [s]
  double in_rate = 0, out_rate = 0;                  ///< [bytes/s]
  double latency = 0;                                ///< of a copy [s]
  bool half_duplex = false;                          ///< whether copies in both directions share the link
  ColumnTimes in, out;
  bool alike_first = true;  ///< whether it is like GPU 0
  /// Whether a step of panels takes as long as its triangle and its products. Described GPUs take it for a product.
  bool steps_have_parts = false;

  /// Seconds of a task.
  /// @param element_size  bytes: operations on memory count elements as flops
  /// @param products      the flops of it that are products
  double task_seconds(const char* operation, double flops, double element_size, double products = 0) const;
};

/// A link that copies to and from several GPUs share.
struct SharedLink {
  unsigned gpus = 0;       ///< one bit for each
  double in = 0, out = 0;  ///< [bytes/s]
};

struct PeerLink {
  double rate = 0;     ///< [bytes/s]; 0: none
  double latency = 0;  ///< [s]
  bool bus = false;    ///< whether the copies use the links to the host
};

/// What a rehearsal knows of a machine, for one element type: rates that were measured when the session began, or that
/// the description of a simulated machine gives.
struct Machine {
  std::vector<Gpu> gpus;
  std::vector<SharedLink> shared;
  std::vector<std::vector<PeerLink>> peers;  ///< [from][to]
  double memory = 0;                         ///< bytes of each GPU that tiles may fill; 0: not known
  double element_size = 8, flops_per_multiply_add = 2;
  bool blocked_triangles = true;  ///< whether GPUs invert the diagonal blocks of triangles
  RuntimeCosts runtime;

  int gpu_count() const noexcept { return static_cast<int>(gpus.size()); }
  const PeerLink& peer(int from, int to) const {
    return peers[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  /// Whether StarPU copies from one GPU to another rather than from the host.
  bool is_peer(int from, int to) const {
    return peer(from, to).rate >= 0.99 * gpus[static_cast<std::size_t>(to)].in_rate;
  }
};

/// The model of the session's machine. It is made when a call first asks for it, and kept.
template <Scalar T>
const Machine& model_of(const detail::Machine& machine);

}  // namespace tessera::plan
