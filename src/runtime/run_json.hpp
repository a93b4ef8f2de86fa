// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tessera::machine {
struct Machine;
}

namespace tessera::runtime {

/// The GPUs and CPU workers in use, for example "4 NVIDIA H200, 1 CPU worker".
std::string machine_text(const machine::Machine& machine);

/// The fields of run.json that are known when a run starts: the command, the machine, the workers and memory nodes by
/// StarPU's numbers, and the colours of the tile operations.
nlohmann::ordered_json run_json(const machine::Machine& machine, const std::string& policy);

}  // namespace tessera::runtime
