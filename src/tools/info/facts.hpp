// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

#include "gpu.hpp"
#include "tile_size.hpp"

namespace tessera::info {

/// What can be said without starting anything.
struct Software {
  std::string tessera, starpu, starpu_library, starpu_features;
  std::string blas, blas_library;
  int blas_threads = 1;  ///< that it uses by itself
  std::string cache;
  std::vector<std::string> visible_gpus;
  bool with_cuda = false;  ///< Tessera itself
};

/// Rates between memories, by row the source and by column the destination.
struct Links {
  std::vector<std::string> nodes;
  std::vector<std::vector<double>> bytes_per_second;  ///< 0: there is no such link
  std::vector<std::vector<double>> seconds_latency;   ///< 0: not known
  double h2d_together = 0, d2h_together = 0;          ///< all at once [bytes/s]; 0: not known
};

/// What the Runtime says once it has started.
struct Running {
  std::vector<Device> devices;
  std::vector<std::string> unused;
  std::string policy, placement;
  Links links;  ///< StarPU's model
};

/// The tiles for C (n×n) ← A B + C.
struct TileChoice {
  char type = 'd';
  Index n = 0;
  detail::ProductTiles tiles;
  detail::Block block;
};

struct Facts {
  Software software;
  std::optional<Running> running;
  std::string why_not_running;
  std::optional<Links> measured;
  std::vector<TileChoice> tiles;
};

Software look_at_software();

/// Copies between the host and `devices` now, some hundred MiB each. @pre no Runtime lives
Links measure_links(const std::vector<gpu::Info>& devices);

/// @pre a Runtime lives
Running look_at_runtime(const std::vector<std::string>& visible_gpus);
TileChoice choose_tiles(char type, Index n);

void print_text(const Facts& facts);
void print_json(const Facts& facts);

}  // namespace tessera::info
