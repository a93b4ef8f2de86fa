// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/outcome.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>

namespace tessera::simulate {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuUse, busy, last_end, tasks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Outcome, error, explanation, bad_argument, seconds, tile_m, tile_n, tile_k,
                                   predicted, policy, placement, gpus, cpus, core_tasks, activity)

bool write_outcome(int socket, const Outcome& outcome) {
  const auto text = nlohmann::json(outcome).dump();
  return write(socket, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::optional<Outcome> read_outcome(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_discarded() ? std::nullopt : std::optional(json.get<Outcome>());
}

}  // namespace tessera::simulate
