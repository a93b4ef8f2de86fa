// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/run_json.hpp"

#include <fmt/format.h>
#include <starpu_config.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include <tessera/error.hpp>

#include "shared/text.hpp"

namespace tessera::trace {

static void from_json(const nlohmann::json& json, RunJson& run) {
  if (const auto format = json.at("format").get<std::string>(); format != "tessera-trace 1")
    throw RuntimeError(fmt::format("has the format '{}', but this program reads only 'tessera-trace 1'", format));
  if (json.contains("command"))
    for (const auto& item : json.at("command")) {
      const auto word = item.get<std::string>();
      run.command += (run.command.empty() ? "" : " ") + (word.empty() ? "" : tools::readable(word));
    }
  run.machine = json.value("machine", ""), run.policy = json.value("policy", "");
  run.simulated = json.value("simulated", false), run.complete = json.value("complete", true);
  run.interruptions = json.value("interruptions", 0);
  const auto operations = json.value("operations", nlohmann::json::object());
  for (const auto& [operation, properties] : operations.items())
    if (const auto colour = properties.value("colour", ""); colour.starts_with('#'))
      run.colours[operation] = static_cast<std::uint32_t>(std::stoul(colour.substr(1), nullptr, 16));
    else run.colours[operation] = 0;
  const auto list = [&](const char* name) { return json.value(name, nlohmann::json::array()); };
  const auto kind = [](const nlohmann::json& one) { return one.value("kind", "") == "gpu" ? Kind::Gpu : Kind::Host; };
  for (const auto& node : list("nodes")) {
    run.nodes[node.at("id")] = {node.at("name"), kind(node)};
    if (node.contains("used")) run.used[node.at("id")] = node.at("used");
  }
  for (const auto& worker : list("workers")) {
    const auto id = worker.at("id").get<std::size_t>();
    if (id >= STARPU_NMAXWORKERS) throw RuntimeError(fmt::format("knows a worker {}", id));
    run.workers[static_cast<int>(id)] = {worker.at("name"), kind(worker), worker.value("node", 0)};
    if (!worker.contains("tasks")) continue;
    run.counted.tasks.resize(std::max(run.counted.tasks.size(), id + 1));
    run.counted.tasks[id] = worker.at("tasks");
  }
  for (const auto& link : list("links"))
    run.counted.links.push_back({link.at("from"), link.at("to"), link.at("bytes"), link.value("rate", 0.)});
}

std::optional<RunJson> read_run_json(const std::filesystem::path& folder) {
  const auto file = folder / "run.json";
  std::ifstream in(file);
  if (!in) return std::nullopt;
  try {
    return nlohmann::json::parse(in).get<RunJson>();
  } catch (const std::exception& error) {
    throw RuntimeError(fmt::format("{}: is damaged, or not written by Tessera: {}", file.string(), error.what()));
  }
}

}  // namespace tessera::trace
