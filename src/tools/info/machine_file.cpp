// SPDX-License-Identifier: BSD-3-Clause
#include "info/machine_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include <tessera/types.hpp>

#include "common/of_type.hpp"

namespace tessera::info {

namespace {

using Json = nlohmann::ordered_json;

/// Rounds to four digits, because the measurements are not more accurate.
double rounded(double x) { return std::stod(fmt::format("{:.4g}", x)); }

std::string where_is(const device::Place& place) {
  const auto near = std::span(place.nodes).first(place.near);
  return fmt::format("{}{}", place.address.empty() ? "" : "at " + place.address + (near.empty() ? "" : ", "),
                     near.empty() ? "" : fmt::format("near NUMA node {}", fmt::join(near, " and ")));
}

/// Keeps only the characters that a description may have in the names of GPUs.
std::string plain(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::strchr(" ()-_.", c) == nullptr) c = ' ';
  return name;
}

double flops(char type, double n) {
  return common::with_type(type, [&]<Scalar T>(T) { return flops_per_multiply_add<T> * n * n * n; });
}

/// The time of a given number of flops, relative to double precision, in the largest product measured for this type.
double relative_time(const MeasuredKind& kind, char type) {
  const auto& own = kind.products.at(type).back();
  const auto seconds_per_flop = [](char t, const MeasuredProduct& p) { return p.seconds / flops(t, p.n); };
  const auto& doubles = kind.products.at('d');
  const auto same = std::ranges::find_if(doubles, [&](const auto& p) { return p.n >= own.n; });
  return seconds_per_flop(type, own) / seconds_per_flop('d', same == doubles.end() ? doubles.back() : *same);
}

Json kind_json(const MeasuredKind& kind, double in, double out) {
  auto kernels = Json::array(), computing = Json::array();
  for (const auto& product : kind.products.at('d')) kernels.push_back({product.n, rounded(1e3 * product.seconds)});
  for (const auto& [bytes, seconds] : kind.columns.points())
    computing.push_back({bytes, rounded(1e-9 * bytes / seconds)});
  Json json{{"memory_gb", rounded(1e-9 * kind.memory)},
            {"memory_gbps", rounded(1e-9 * kind.memory_rate)},
            {"task_overhead_us", 12},
            {"kernels_ms", {{"gemm", kernels}}}};
  if (!kind.columns.empty()) {
    const auto idle = [](double rate) { return Json::array({Json::array({65536, rounded(1e-9 * rate)})}); };
    json["columns_gbps"] = {{"in", {{"idle", idle(in)}, {"computing", computing}}},
                            {"out", {{"idle", idle(out)}, {"computing", computing}}}};
  }
  for (const char type : {'s', 'c', 'z'}) json["types"][std::string(1, type)] = rounded(relative_time(kind, type));
  return json;
}

/// The direct links between pairs of GPUs. A link much faster than the link to the host is assumed to have its own
/// wires.
Json peer_links(const MeasuredMachine& machine) {
  auto links = Json::array();
  const auto& rates = machine.links;
  for (std::size_t a = 0; a < machine.gpus.size(); a++)
    for (std::size_t b = a + 1; b < machine.gpus.size(); b++) {
      const double rate = std::min(rates.peer[a][b], rates.peer[b][a]);
      const double host = std::max(rates.h2d[a], rates.h2d[b]);
      if (rate < 0.75 * host) continue;  // the copy goes through host memory
      links.push_back({{"gpus", {a}},
                       {"with", {b}},
                       {"gbps", rounded(1e-9 * rate)},
                       {"latency_us", rounded(1e6 * rates.latency[a])},
                       {"over", rate > 1.5 * host ? "nvlink" : "bus"}});
      const auto others = static_cast<double>(machine.gpus.size() - 1);
      if (rate > 1.5 * host && rates.peers_together > 0 && rates.peers_together < 0.95 * others * rate)
        links.back()["together_gbps"] = rounded(1e-9 * std::max(rate, rates.peers_together));
    }
  return links;
}

Json shared_links(const MeasuredMachine& machine) {
  const auto& rates = machine.links;
  double in = 0, out = 0;
  auto all = Json::array();
  for (std::size_t g = 0; g < machine.gpus.size(); g++) in += rates.h2d[g], out += rates.d2h[g], all.push_back(g);
  auto links = Json::array();
  const bool both = rates.both_together > 0 && rates.both_together < 0.95 * (rates.h2d_together + rates.d2h_together);
  if (rates.h2d_together < 0.95 * in || rates.d2h_together < 0.95 * out || both)
    links.push_back({{"name", "what all GPUs share"},
                     {"gpus", all},
                     {"in_gbps", rounded(1e-9 * rates.h2d_together)},
                     {"out_gbps", rounded(1e-9 * rates.d2h_together)}});
  if (both) links.back()["both_gbps"] = rounded(1e-9 * rates.both_together);
  return links;
}

}  // namespace

std::string machine_file(const MeasuredMachine& machine) {
  const auto& links = machine.links;
  Json json;
  json["source"] = {fmt::format("tessera-info --describe: {}.", machine.conditions),
                    "Products of tiles from n = 2048 on as they run while all GPUs of a kind compute.",
                    "Columns from the host, on the first GPU of a kind while it computes."};
  for (std::size_t g = 0; g < machine.places.size(); g++)
    if (auto where = where_is(machine.places[g]); !where.empty())
      json["source"].push_back(fmt::format("GPU {} is {}.", g, where));
  json["assumed"] = {
      "task_overhead_us: that of an H200.",
      "Columns to the host: as from the host. On an idle GPU: at the rate of the link.",
      "Operations other than gemm: as long as a gemm with as many flops.",
      "All GPUs share a link if they copy slower together than alone. GPUs with direct access that is much "
      "faster than the link to the host have NVLink."};
  json["cpu"] = {{"cores", machine.cores}, {"core_gflops", rounded(1e-9 * machine.core_rate)}};
  json["kinds"] = Json::object(), json["gpus"] = Json::array(), json["host_links"] = Json::array();
  for (std::size_t kind = 0; kind < machine.kinds.size(); kind++) {
    const auto first = static_cast<std::size_t>(std::ranges::find(machine.gpus, kind) - machine.gpus.begin());
    json["kinds"][plain(machine.kinds[kind].name)] = kind_json(machine.kinds[kind], links.h2d[first], links.d2h[first]);
  }
  for (std::size_t g = 0; g < machine.gpus.size(); g++) {
    json["gpus"].push_back(plain(machine.kinds[machine.gpus[g]].name));
    json["host_links"].push_back({{"gpus", {g}},
                                  {"in_gbps", rounded(1e-9 * links.h2d[g])},
                                  {"out_gbps", rounded(1e-9 * links.d2h[g])},
                                  {"latency_us", rounded(1e6 * links.latency[g])}});
  }
  json["shared_links"] = shared_links(machine), json["peer_links"] = peer_links(machine);
  return json.dump(2) + "\n";
}

}  // namespace tessera::info
