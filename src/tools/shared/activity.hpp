// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

/// Statistics of links, workers and the policy during some calls, as text and as JSON.
namespace tessera::tools {

struct Activity {
  Statistics total;
  int calls = 1;
  int gpus = 0;
  int workers = 0;      ///< workers that compute tiles
  int gpu_workers = 0;  ///< how many of them drive a GPU
};

/// Statistics of `calls` calls, since `reset_statistics`.
/// @param cores_share  whether the plan of the call has tiles for cores; under placement `scheduler`, cores always
///                     compute
Activity activity(int calls, bool cores_share);
/// Adds further calls on the same devices.
void add(std::optional<Activity>& sum, const Activity& more);

/// Average bytes per call.
struct GpuTraffic {
  double in = 0, out = 0, from_peers = 0;
};
std::vector<GpuTraffic> by_gpu(const Activity& activity);

/// The statistics as indented lines of text.
std::vector<std::string> describe(const Activity& activity);

/// Averages per call: bytes by link, and the policy's counts (null if the policy has none). Device -1 is the host.
nlohmann::ordered_json links_json(const Activity& activity);
nlohmann::ordered_json scheduling_json(const Activity& activity);

/// Conversions for sending the statistics of one call to another process.
void to_json(nlohmann::json& json, const Activity& activity);
void from_json(const nlohmann::json& json, Activity& activity);

}  // namespace tessera::tools
