// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/description.hpp"

#include <fmt/format.h>
#include <starpu_config.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include <tessera/error.hpp>

#include "shared/formatting.hpp"

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

namespace {

int count_nodes(const PajeTrace& trace) {
  int count = std::max(1, trace.nodes);
  for (const auto& [id, worker] : trace.workers) count = std::max(count, worker.node + 1);
  for (const auto& transfer : trace.transfers) count = std::max({count, transfer.from + 1, transfer.to + 1});
  return count;
}

/// Names workers after their devices. Several workers of one GPU are numbered: "GPU 0.1".
void name_by_kind(Run& run, const PajeTrace& trace) {
  using Device = std::pair<std::string, int>;
  std::map<Device, int> drivers, named;
  for (const auto& [id, worker] : trace.workers) drivers[{worker.device, worker.number}]++;
  for (const auto& [id, worker] : trace.workers) {
    const bool gpu = worker.device != "CPU";
    auto name = fmt::format("{} {}", worker.device == "CUDA" ? "GPU" : worker.device, worker.number);
    if (gpu && worker.node != 0) run.nodes[static_cast<std::size_t>(worker.node)] = {name, Kind::Gpu};
    const Device device(worker.device, worker.number);
    if (drivers[device] > 1) name += fmt::format(".{}", named[device]++);
    run.workers[static_cast<std::size_t>(id)] = {name, gpu ? Kind::Gpu : Kind::Host, worker.node};
  }
}

}  // namespace

void add_devices(Run& run, const PajeTrace& trace, const RunJson& run_json, int workers) {
  const int nodes = count_nodes(trace);
  if (!trace.workers.empty()) workers = std::max(workers, trace.workers.rbegin()->first + 1);
  for (int i = 0; i < nodes; i++) run.nodes.push_back({i == 0 ? "host" : fmt::format("NUMA {}", i), Kind::Host});
  for (int i = 0; i < workers; i++) run.workers.push_back({fmt::format("worker {}", i), Kind::Host, 0});
  name_by_kind(run, trace);
  for (const auto& [id, node] : run_json.nodes)
    if (id >= 0 && id < nodes) run.nodes[static_cast<std::size_t>(id)] = node;
  for (const auto& [id, worker] : run_json.workers)
    if (id >= 0 && id < workers && worker.node >= 0 && worker.node < nodes)
      run.workers[static_cast<std::size_t>(id)] = worker;
}

namespace {

namespace fs = std::filesystem;

std::string several(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::size_t gpus(const Run& run) {
  return static_cast<std::size_t>(std::ranges::count(run.nodes, Kind::Gpu, &Node::kind));
}

std::string cpus(const Run& run) {
  return several(static_cast<std::size_t>(std::ranges::count(run.workers, Kind::Host, &Worker::kind)), "CPU worker");
}

/// The size of a buffer that would hold the whole trace [MiB].
std::uintmax_t large_enough(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("prof_file")) bytes = entry.file_size(error);
  return (error ? 0 : bytes >> 20) + 1;
}

std::string about_flushes(const fs::path& folder, const PajeTrace& trace) {
  const auto times = trace.flushes == 1 ? std::string("once") : fmt::format("{} times", trace.flushes);
  return fmt::format(
      "StarPU's buffer was full {}, and the program waited {:.2g} s in total for it to be written: set "
      "STARPU_TRACE_BUFFER_SIZE to {} or more (MiB).",
      times, trace.flushing, large_enough(folder));
}

}  // namespace

std::string title_of(const Run& run) {
  std::string routines;
  for (const auto& routine : run.routines) routines += (routines.empty() ? "" : ", ") + routine.name;
  return fmt::format("{}: {} on {}{}", routines, several(run.tasks.size(), "task"),
                     gpus(run) > 0 ? several(gpus(run), "GPU") : cpus(run), run.simulated ? ", simulated" : "");
}

std::string machine_of(const Run& run) {
  return gpus(run) > 0 ? fmt::format("{}, {}", several(gpus(run), "GPU"), cpus(run)) : cpus(run);
}

std::vector<std::string> warnings_of(const fs::path& folder, const PajeTrace& trace, const RunJson& run_json,
                                     std::size_t unended) {
  std::vector<std::string> warnings;
  if (!run_json.complete)
    warnings.emplace_back("The program did not end, so the run is incomplete: it is shown as far as the trace goes.");
  else if (!trace.whole)
    warnings.emplace_back("The trace ends before the program does: the run is shown as far as the trace goes.");
  if (run_json.interruptions > 0)
    warnings.push_back(
        fmt::format("Recording was paused {} during the run: that time is shown as idle.",
                    run_json.interruptions == 1 ? "once" : fmt::format("{} times", run_json.interruptions)));
  if (unended > 0)
    warnings.push_back(fmt::format("The end of {} is missing: {} until the trace ends.", several(unended, "task"),
                                   unended == 1 ? "it is shown" : "they are shown"));
  if (trace.flushes > 0) warnings.push_back(about_flushes(folder, trace));
  return warnings;
}

}  // namespace tessera::trace
