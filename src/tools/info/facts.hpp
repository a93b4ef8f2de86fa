// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/runtime.hpp>

#include "algorithms/plan.hpp"
#include "devices/gpu.hpp"
#include "devices/places.hpp"
#include "tile/process_blocks.hpp"

namespace tessera::info {

/// Facts that are known before StarPU starts.
struct Software {
  std::string tessera, starpu, starpu_library, starpu_features;
  std::string blas, blas_library;
  std::string blas_advice;           ///< how to get a faster BLAS; "": nothing to say
  int blas_threads = 1;              ///< the BLAS's own choice
  std::string cache, cache_trouble;  ///< cache_trouble: why measurements cannot be kept; "": they can
  std::vector<std::string> visible_gpus;
  bool with_cuda = false, with_opencl = false;  ///< whether this build of Tessera supports them
};

/// Rates between memories. Rows are sources, columns are destinations.
struct Links {
  std::vector<std::string> nodes;
  std::vector<std::vector<double>> bytes_per_second;  ///< 0: no such link
  std::vector<std::vector<double>> seconds_latency;   ///< 0: unknown
  double h2d_together = 0, d2h_together = 0;          ///< all links at once [bytes/s]; 0: unknown
};

/// The host's memories, and the devices attached to them.
struct HostNodes {
  std::vector<device::Topology::Node> nodes;
  std::vector<std::pair<std::string, device::Place>> devices;  ///< with their names
};

/// What the Runtime reports after it has started.
struct Running {
  std::vector<Device> devices;
  std::vector<std::string> unused;
  std::string cores;  ///< how cores are used alongside GPUs, and why; "": nothing to report
  std::string policy, placement;
  Links links;  ///< according to StarPU's model
  HostNodes host;
};

/// The plan for C ← A B + C with n×n matrices.
struct PlannedProduct {
  char type = 'd';
  Index n = 0;
  algorithms::Plan plan;
};

/// A product over a grid of processes, each on a machine like this one.
struct DistributedProduct {
  int p = 1, q = 1;
  Index m = 0, n = 0, k = 0;
};

/// How a distributed product is cut, and what the model of the paper predicts for it.
struct PlannedDistributedProduct {
  char type = 'd';
  DistributedProduct product;
  Index tile = 0;
  tile::ProcessModel processes;
  tile::ProcessBlocks blocks;
  tile::ProcessLoads loads;
};

struct Facts {
  Software software;
  std::optional<Running> running;
  std::string why_not_running;
  std::optional<Links> measured;
  std::vector<PlannedProduct> products;
  std::vector<PlannedDistributedProduct> distributed;
  std::vector<nlohmann::ordered_json> plans;  ///< explained
};

Software look_at_software();

/// Measures copies between the host and `devices`, several hundred MiB each. @pre no Runtime exists
Links measure_links(const std::vector<device::gpu::Info>& devices);

/// @pre a Runtime exists
Running look_at_runtime(const std::vector<std::string>& visible_gpus);
PlannedProduct plan_product(char type, Index n);
PlannedDistributedProduct plan_distributed(char type, const DistributedProduct& product);

void print_text(const Facts& facts);
void print_json(const Facts& facts);

}  // namespace tessera::info
