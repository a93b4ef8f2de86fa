// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

/// What links, workers and the policy did during some calls, for people and for programs.
namespace tessera::tools {

struct Activity {
  Statistics total;
  int calls = 1;
  int gpus = 0;
  int workers = 0;  ///< that compute tiles
};

/// Since `reset_statistics`, in `calls` calls.
Activity activity(int calls);

/// Bytes of one call, on average.
struct GpuTraffic {
  double in = 0, out = 0, from_peers = 0;
};
std::vector<GpuTraffic> by_gpu(const Activity& activity);

/// Some indented lines.
std::vector<std::string> describe(const Activity& activity);

/// Of one call, on average: bytes by link, and what the policy did (null under another one). -1 is the host.
nlohmann::ordered_json links_json(const Activity& activity);
nlohmann::ordered_json scheduling_json(const Activity& activity);

/// From one process to another; of a single call.
void to_json(nlohmann::json& json, const Activity& activity);
void from_json(const nlohmann::json& json, Activity& activity);

}  // namespace tessera::tools
