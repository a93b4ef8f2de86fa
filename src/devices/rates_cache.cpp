// SPDX-License-Identifier: BSD-3-Clause
#include "rates_cache.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/whole_file.hpp"

namespace tessera::device {

namespace {

namespace fs = std::filesystem;

fs::path file_of(const fs::path& folder, const std::string& device) {
  if (folder.empty()) return {};
  auto name = "rates of " + device + ".json";
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '-');
  return folder / name;
}

/// Reads the file: an object by conditions, each member an object of curves by name. Returns an empty object if the
/// file is missing or damaged.
nlohmann::json read(const fs::path& path) {
  std::ifstream file(path);
  auto json = nlohmann::json::parse(file, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

}  // namespace

RatesCache::RatesCache(const fs::path& folder, const std::string& device, std::string conditions)
    : file_(file_of(folder, device)), conditions_(std::move(conditions)) {}

CostCurve RatesCache::find(const std::string& name) const {
  const auto json = read(file_);
  std::vector<CostCurve::Point> points;
  try {
    for (const auto& pair : json.at(conditions_).at(name))
      points.push_back({pair.at(0).get<double>(), pair.at(1).get<double>()});
  } catch (const nlohmann::json::exception&) {  // no such curve, or a damaged one
    return {};
  }
  const bool good = std::ranges::all_of(points, [](const auto& p) { return p.amount > 0 && p.seconds > 0; }) &&
                    std::ranges::is_sorted(points, {}, &CostCurve::Point::amount);
  return good ? CostCurve(std::move(points)) : CostCurve();
}

void RatesCache::keep(const std::string& name, const CostCurve& curve) const {
  auto json = read(file_);
  auto& curves = json[conditions_];
  if (!curves.is_object()) curves = nlohmann::json::object();
  auto& list = curves[name] = nlohmann::json::array();
  for (const auto& point : curve.points()) list.push_back({point.amount, point.seconds});
  common::keep_if_possible(file_, json.dump(1) + "\n");
}

}  // namespace tessera::device
