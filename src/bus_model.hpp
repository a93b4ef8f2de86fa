// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "environment.hpp"

namespace tessera::detail {

/// StarPU wants to know the bandwidth of every link, and calibrates when it finds no file that fits the machine; where
/// there are GPUs, even unused ones, that resets the devices and destroys what the caller's program has on them. So
/// where there are GPUs and no such file, this measures the links without a reset and writes StarPU's files in a folder
/// of Tessera's cache, once for each set of devices. StarPU finds them while the returned variable is set.
///
/// Without GPUs, or when the user says by STARPU_PERF_MODEL_DIR where the files are, it does nothing.
/// @throws RuntimeError if the links cannot be measured or the files cannot be written
std::optional<TemporaryVariable> prepare_bus_model();

}  // namespace tessera::detail
