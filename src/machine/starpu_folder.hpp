// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>

#include "common/cache.hpp"
#include "common/environment.hpp"

namespace tessera::detail {

/// Where a StarPU that we start keeps its files: in our cache or, if that cannot be written, in a private temporary
/// folder that goes with this object. Nothing is written to ~/.starpu.
///
/// StarPU calibrates the links when it finds no file that fits the machine. That takes time, ends the process where a
/// file cannot be written, resets GPUs and destroys what the caller's program has on them. So this folder holds such
/// files before StarPU looks for them: rates of GPUs' links are measured without a reset, once for each set of GPUs,
/// and those within the host are assumed. Missing and damaged files are made anew.
///
/// STARPU_PERF_MODEL_DIR says that the user has another folder: StarPU uses that and does as it likes there.
class StarpuFolder {
 public:
  /// @throws RuntimeError if no folder can be written, or the links cannot be measured
  StarpuFolder();

  /// StarPU takes this folder while the returned variable lives. After starpu_init it needs the folder, not the
  /// variable.
  std::optional<TemporaryVariable> announce() const;

 private:
  std::filesystem::path path_;  ///< empty: the user's
  std::optional<PrivateFolder> private_;
};

}  // namespace tessera::detail
