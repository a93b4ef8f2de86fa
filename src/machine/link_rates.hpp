// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "gpu.hpp"

namespace tessera::detail {

/// Returns the rates of the links of all GPUs that the driver shows. Reads them from the file; if that is missing or
/// damaged, measures them and writes the file. Rates are not written if another process computes on a GPU during the
/// measurement. If the file cannot be written, the next process measures again. GPUs that do not answer get arbitrary
/// rates, which nothing uses.
/// @param devices  how many GPUs the driver shows
/// @throws RuntimeError if a GPU has no room for the measurement
gpu::LinkRates link_rates(int devices, const std::filesystem::path& file);

/// What the links of all GPUs carry at the same time [bytes/s]; 0: not known, since this process did not ask for
/// `link_rates`.
struct RatesTogether {
  double in = 0, out = 0;
};
RatesTogether rates_together();

}  // namespace tessera::detail
