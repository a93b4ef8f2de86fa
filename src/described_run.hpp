// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

namespace tessera::detail {

class Session;

/// What runs, on what, in the words of run.json, but for what is known at its end only: the command, the machine, its
/// workers and memory nodes with StarPU's numbers, and the colours of the tile operations.
nlohmann::ordered_json describe_run(const Session& session);

}  // namespace tessera::detail
