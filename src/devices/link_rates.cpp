// SPDX-License-Identifier: BSD-3-Clause
#include "link_rates.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/whole_file.hpp"

namespace tessera::device {

namespace {

namespace fs = std::filesystem;

constexpr double slowest = 1e9;  // assumed for links that could not be measured [bytes/s]

/// Extends the rates of the measured GPUs to all GPUs, because StarPU needs a rate for each of them.
gpu::LinkRates spread(const gpu::LinkRates& measured, const std::vector<int>& used, int devices) {
  const auto place = [&](int device) {  // index of the device in `measured`; 0 if it was not measured
    const auto found = std::ranges::find(used, device);
    return static_cast<std::size_t>(found == used.end() ? 0 : found - used.begin());
  };
  const bool known = !used.empty();
  gpu::LinkRates all;
  all.h2d_together = known ? measured.h2d_together : slowest,
  all.d2h_together = known ? measured.d2h_together : slowest;
  all.both_together = known ? measured.both_together : slowest, all.peers_together = measured.peers_together;
  for (int from = 0; from < devices; from++) {
    all.h2d.push_back(known ? measured.h2d[place(from)] : slowest);
    all.d2h.push_back(known ? measured.d2h[place(from)] : slowest);
    all.latency.push_back(known ? measured.latency[place(from)] : 1e-5);
    auto& row = all.peer.emplace_back();
    for (int to = 0; to < devices; to++) {
      const double rate = known ? measured.peer[place(from)][place(to)] : 0;
      row.push_back(rate > 0 ? rate : slowest);
    }
  }
  return all;
}

/// Calls function(name, rate) for all rates, with their names in files.
void for_each_rate(auto& rates, auto function) {
  function("h2d", rates.h2d), function("d2h", rates.d2h), function("latency", rates.latency);
  function("peer", rates.peer), function("h2d_together", rates.h2d_together);
  function("d2h_together", rates.d2h_together), function("both_together", rates.both_together);
  function("peers_together", rates.peers_together);
}

/// Reads the rates from a file. Empty if the file does not hold positive numbers for exactly `devices` devices.
std::optional<gpu::LinkRates> read(const fs::path& path, std::size_t devices) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  gpu::LinkRates rates;
  try {
    for_each_rate(rates, [&](const char* name, auto& rate) { json.at(name).get_to(rate); });
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  const auto good = [devices](const std::vector<double>& row) {
    return row.size() == devices && std::ranges::all_of(row, [](double value) { return value > 0; });
  };
  if (!(rates.h2d_together > 0) || !(rates.d2h_together > 0) || !(rates.both_together > 0)) return {};
  if (!good(rates.h2d) || !good(rates.d2h) || !good(rates.latency)) return {};
  if (rates.peer.size() != devices || !std::ranges::all_of(rates.peer, good)) return {};
  return rates;
}

gpu::LinkRates read_or_measure(int devices, const std::vector<int>& used, const fs::path& file) {
  if (auto known = read(file, static_cast<std::size_t>(devices))) return *known;
  bool busy = false;  // also if it is another GPU, whose copies use the same switches and host memory
  for (int gpu = 0; gpu < devices; gpu++) busy = busy || gpu::state(gpu).busy;
  const auto rates = spread(gpu::measure_links(used, std::size_t{64} << 20), used, devices);
  if (busy) return rates;
  nlohmann::json json;
  for_each_rate(rates, [&](const char* name, const auto& rate) { json[name] = rate; });
  common::keep_if_possible(file, json.dump(1) + "\n");
  return rates;
}

std::atomic<double> together_in, together_out, together_both, together_peers;

}  // namespace

gpu::LinkRates link_rates(int devices, const std::vector<int>& used, const fs::path& file) {
  auto rates = read_or_measure(devices, used, file);
  together_in = rates.h2d_together, together_out = rates.d2h_together;
  together_both = rates.both_together, together_peers = rates.peers_together;
  return rates;
}

RatesTogether rates_together() { return {together_in, together_out, together_both, together_peers}; }

}  // namespace tessera::device
