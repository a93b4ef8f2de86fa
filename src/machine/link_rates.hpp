// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "gpu.hpp"

namespace tessera::detail {

/// Rates of the links of all GPUs that the driver shows, from the file, else measured now and kept there. A damaged
/// file counts as none. What was measured while somebody else computes on a GPU is not kept, and where the file cannot
/// be written the next process measures again. GPUs that do not answer get rates that nothing will use.
/// @param devices  how many GPUs the driver shows
/// @throws RuntimeError if a GPU has no room for the measurement
gpu::LinkRates link_rates(int devices, const std::filesystem::path& file);

}  // namespace tessera::detail
