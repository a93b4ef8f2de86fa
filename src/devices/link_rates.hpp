// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <vector>

#include "gpu.hpp"

namespace tessera::device {

/// Returns the rates of the links of a session's GPUs. Reads them from the file; if it is missing or damaged, measures
/// them and writes the file. Rates are not written if another process computes on any GPU during the
/// measurement. If the file cannot be written, the next process measures again. Other GPUs get arbitrary rates, which
/// are never used, and no context.
/// @param devices  number of GPUs that the driver lists
/// @param used     those of the session
/// @param file     only for rates of these GPUs
/// @throws RuntimeError if a GPU has no room for the measurement
gpu::LinkRates link_rates(int devices, const std::vector<int>& used, const std::filesystem::path& file);

/// Total rates of the links of the session's GPUs while all of them copy [bytes/s]; 0 if unknown, because this process
/// has not called `link_rates`.
struct RatesTogether {
  double in = 0, out = 0;
  double both = 0;   ///< the sum of both directions at once
  double peers = 0;  ///< what one GPU sends to all others at once
};
RatesTogether rates_together();

}  // namespace tessera::device
