// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace tessera::detail {

/// The environment variables of docs/environment.md, in the order of their names.
constexpr std::string_view known_variables[] = {"TESSERA_BLAS_DEVICES",
                                                "TESSERA_BLAS_LOG",
                                                "TESSERA_BLAS_MIN_FLOPS",
                                                "TESSERA_CACHE_DIR",
                                                "TESSERA_CPUS",
                                                "TESSERA_CUDA",
                                                "TESSERA_CUDA_GPUS",
                                                "TESSERA_GPUS",
                                                "TESSERA_GPU_HEAP",
                                                "TESSERA_GPU_MEMORY",
                                                "TESSERA_HOST_BLAS",
                                                "TESSERA_LIBRARY",
                                                "TESSERA_NODE_READS",
                                                "TESSERA_OPENCL",
                                                "TESSERA_OPENCL_PINNED",
                                                "TESSERA_PINNED_MEMORY",
                                                "TESSERA_PLACEMENT",
                                                "TESSERA_PLATFORM",
                                                "TESSERA_PLATFORMS",
                                                "TESSERA_POLICY",
                                                "TESSERA_PROGRESS",
                                                "TESSERA_QUIET",
                                                "TESSERA_SCHED",
                                                "TESSERA_STARPU_SOURCE",
                                                "TESSERA_TILE",
                                                "TESSERA_TILE_EDGES",
                                                "TESSERA_TRACE"};

/// The names of variables that look like Tessera's and that nothing reads, separated by commas; "" if there are none. A
/// mistyped name would have no effect otherwise, and nobody would know.
inline std::string unknown_variables() {
  std::string names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; entry++) {
    const std::string_view variable(*entry), name = variable.substr(0, variable.find('='));
    if (!name.starts_with("TESSERA_") || name.starts_with("TESSERA_TEST_") ||
        std::ranges::binary_search(known_variables, name))
      continue;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

/// One sentence about these names, for a user; "" if there are none.
inline std::string remark_on_unknown_variables() {
  const auto names = unknown_variables();
  return names.empty() ? "" : names + ": nothing reads a variable of that name; see docs/environment.md";
}

}  // namespace tessera::detail
