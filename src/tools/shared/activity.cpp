// SPDX-License-Identifier: BSD-3-Clause
#include "shared/activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shared/formatting.hpp"

namespace tessera::tools {

namespace {

/// Bytes between GPUs, and the link that carried most of them.
std::string say_peers(const Activity& a) {
  const auto between_gpus = [](const LinkTraffic& link) { return std::min(link.from, link.to) >= 0 ? link.bytes : 0; };
  const auto busiest = std::ranges::max_element(a.total.links, {}, between_gpus);
  if (a.total.bytes_d2d == 0) return "none between GPUs";
  return fmt::format("{} between GPUs, {} of it from {} to {}",
                     gigabytes(static_cast<double>(a.total.bytes_d2d) / a.calls),
                     gigabytes(static_cast<double>(busiest->bytes) / a.calls), busiest->from, busiest->to);
}

std::string say_links(const Activity& a) {
  std::string in, out;
  for (const auto& gpu : by_gpu(a)) in += " " + gigabytes(gpu.in), out += " " + gigabytes(gpu.out);
  return fmt::format("  GB by GPU: in{}, out{}; {}", in, out, say_peers(a));
}

std::string say_tasks(const Activity& a, const PolicyStatistics& p) {
  const auto steals = fmt::format("{:.4g} of {:.4g} tasks stolen", static_cast<double>(p.steals) / a.calls,
                                  static_cast<double>(p.tasks) / a.calls);
  const auto tiles = static_cast<double>(p.own_tiles + p.peer_tiles + p.far_tiles);
  if (tiles == 0) return "  " + steals;
  const auto share = [=](std::uint64_t count) { return percent(static_cast<double>(count) / tiles); };
  return fmt::format("  tiles read: {} in own memory, {} at a peer, {} far; {}", share(p.own_tiles),
                     share(p.peer_tiles), share(p.far_tiles), steals);
}

std::string say_time(const Activity& a, const PolicyStatistics& p) {
  const auto share = [&](double idle, int workers) {
    return percent(idle / (std::max(a.total.seconds, 1e-9) * std::max(workers, 1)));
  };
  const auto microseconds = [&](double seconds) {
    return significant(1e6 * seconds / static_cast<double>(std::max<std::uint64_t>(p.tasks, 1)), 3);
  };
  const auto for_data =
      a.gpu_workers > 0 ? fmt::format(", GPUs {} for data", share(p.idle_for_data, a.gpu_workers)) : "";
  return fmt::format("  idle: workers {} for tasks{}; push {} us, pop {} us per task",
                     share(p.idle_for_tasks, a.workers), for_data, microseconds(p.in_push), microseconds(p.in_pop));
}

/// Visits every number, a member, together with its name in JSON.
template <typename Visit>
void for_each_count(Visit visit) {
  using P = PolicyStatistics;
  visit("tasks", &P::tasks);
  visit("own_tiles", &P::own_tiles), visit("peer_tiles", &P::peer_tiles), visit("far_tiles", &P::far_tiles);
  visit("steals", &P::steals);
  visit("idle_for_tasks_s", &P::idle_for_tasks), visit("idle_for_data_s", &P::idle_for_data);
  visit("in_push_s", &P::in_push), visit("in_pop_s", &P::in_pop);
}

}  // namespace

Activity activity(int calls, bool cores_share) {
  const bool cores = cores_share || placement() == Placement::Scheduler;
  Activity result{statistics(), calls, gpu_count()};
  for (const auto& device : devices()) {
    if (device.kind == Device::Kind::Gpu) result.gpu_workers += device.workers;
    if (device.kind == Device::Kind::Gpu || cores) result.workers += device.workers;
  }
  return result;
}

void add(std::optional<Activity>& sum, const Activity& more) {
  if (!sum) {
    sum = more;
    return;
  }
  auto& total = sum->total;
  const auto& [seconds, tasks, h2d, d2h, d2d, links, policy] = more.total;
  sum->calls += more.calls, total.seconds += seconds, total.tasks += tasks;
  total.bytes_h2d += h2d, total.bytes_d2h += d2h, total.bytes_d2d += d2d;
  for (const auto& link : links) {
    const auto same = std::ranges::find_if(
        total.links, [&](const LinkTraffic& other) { return other.from == link.from && other.to == link.to; });
    if (same == total.links.end()) total.links.push_back(link);
    else same->bytes += link.bytes;
  }
  if (total.policy && policy)
    for_each_count([&](const char*, auto count) { (*total.policy).*count += (*policy).*count; });
}

std::vector<GpuTraffic> by_gpu(const Activity& a) {
  std::vector<GpuTraffic> gpus(static_cast<std::size_t>(a.gpus));
  for (const auto& [from, to, total] : a.total.links) {
    const double bytes = static_cast<double>(total) / a.calls;
    if (to < 0) gpus[static_cast<std::size_t>(from)].out += bytes;
    else (from < 0 ? gpus[static_cast<std::size_t>(to)].in : gpus[static_cast<std::size_t>(to)].from_peers) += bytes;
  }
  return gpus;
}

std::vector<std::string> describe(const Activity& a) {
  std::vector<std::string> lines;
  if (a.gpus > 0) lines.push_back(say_links(a));
  if (a.total.policy) {
    lines.push_back(say_tasks(a, *a.total.policy));
    lines.push_back(say_time(a, *a.total.policy));
  }
  return lines;
}

nlohmann::ordered_json links_json(const Activity& a) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& link : a.total.links)
    list.push_back({{"from", link.from}, {"to", link.to}, {"bytes", static_cast<double>(link.bytes) / a.calls}});
  return list;
}

nlohmann::ordered_json scheduling_json(const Activity& a) {
  if (!a.total.policy) return nullptr;
  nlohmann::ordered_json json;
  const auto& policy = *a.total.policy;
  for_each_count([&](const char* name, auto count) { json[name] = static_cast<double>(policy.*count) / a.calls; });
  json["workers"] = a.workers, json["gpu_workers"] = a.gpu_workers, json["seconds"] = a.total.seconds / a.calls;
  return json;
}

void to_json(nlohmann::json& json, const Activity& a) {
  json = {{"gpus", a.gpus},
          {"workers", a.workers},
          {"gpu_workers", a.gpu_workers},
          {"seconds", a.total.seconds},
          {"tasks", a.total.tasks}};
  json["links"] = links_json(a), json["policy"] = scheduling_json(a);
}

void from_json(const nlohmann::json& json, Activity& a) {
  a.calls = 1, a.gpus = json.at("gpus"), a.workers = json.at("workers"), a.gpu_workers = json.at("gpu_workers");
  auto& total = a.total = {};
  total.seconds = json.at("seconds"), total.tasks = json.at("tasks");
  for (const auto& link : json.at("links")) {
    const auto& [from, to, bytes] =
        total.links.emplace_back(LinkTraffic{link.at("from"), link.at("to"), link.at("bytes")});
    (from < 0 ? total.bytes_h2d : to < 0 ? total.bytes_d2h : total.bytes_d2d) += bytes;
  }
  if (json.at("policy").is_null()) return;
  auto& policy = total.policy.emplace();
  for_each_count([&](const char* name, auto count) { json.at("policy").at(name).get_to(policy.*count); });
}

}  // namespace tessera::tools
