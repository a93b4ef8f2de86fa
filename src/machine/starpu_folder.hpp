// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/cache.hpp"
#include "common/starpu_variables.hpp"
#include "devices/gpu.hpp"

namespace tessera::machine {

/// The folder for the files of a StarPU that Tessera starts. It is in Tessera's cache or, if the cache is not writable,
/// in a private temporary folder, which the destructor removes. Nothing is written to ~/.starpu.
///
/// If StarPU finds no files that fit the machine, it calibrates the links. Calibration takes time, ends the process if
/// a file cannot be written, and resets GPUs, which destroys the program's data on them. Tessera therefore writes the
/// files before StarPU looks for them. It measures the session's links without a reset, once for each set of GPUs, and
/// assumes rates within the host. Missing and damaged files are written again.
///
/// If the user has set STARPU_PERF_MODEL_DIR, StarPU uses that folder instead, and may calibrate there.
class StarpuFolder {
 public:
  /// @param gpus  the devices that will be used
  /// @throws RuntimeError if no folder can be written, or the links cannot be measured
  explicit StarpuFolder(const std::vector<device::gpu::Info>& gpus = {});

  /// Adds the variable that selects this folder. This object must outlive StarPU.
  void announce_in(common::StarpuVariables& variables) const;

 private:
  std::filesystem::path path_;  ///< empty: StarPU uses the user's folder
  std::optional<common::PrivateFolder> private_;
};

}  // namespace tessera::machine
