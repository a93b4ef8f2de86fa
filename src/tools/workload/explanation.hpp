// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "workload/routine.hpp"

namespace tessera::bench {

/// How the library would compute a call, and why: its plan, the three fastest other candidates that it rehearsed, and
/// the bottleneck of each. @pre a Runtime exists
nlohmann::ordered_json explain(const Routine& routine, const Problem& problem);

/// Formats an explanation as lines of text.
std::vector<std::string> explanation_lines(const nlohmann::ordered_json& explanation);

}  // namespace tessera::bench
