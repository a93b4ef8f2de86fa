// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tessera::detail {

class Session;

/// "4 NVIDIA H200, 1 CPU worker"
std::string machine_text(const Session& session);

/// What runs, on what, in the words of run.json, but for what is known at its end only: the command, the machine, its
/// workers and memory nodes with StarPU's numbers, and the colours of the tile operations.
nlohmann::ordered_json describe_run(const Session& session);

}  // namespace tessera::detail
