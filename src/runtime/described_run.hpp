// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tessera::detail {

class Session;

/// The GPUs and CPU workers in use, for example "4 NVIDIA H200, 1 CPU worker".
std::string machine_text(const Session& session);

/// The fields of run.json that are known when a run starts: the command, the machine, its workers and memory nodes with
/// StarPU's numbers, and the colours of the tile operations.
nlohmann::ordered_json describe_run(const Session& session);

}  // namespace tessera::detail
