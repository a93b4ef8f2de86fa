// SPDX-License-Identifier: BSD-3-Clause
#include "control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "free_memory.hpp"

namespace tessera::device {

namespace {

namespace fs = std::filesystem;
constexpr double unlimited = std::numeric_limits<double>::infinity();

/// The number at the start of a file; empty if there is no such file, or it starts with a word such as "max".
std::optional<double> number_in(const fs::path& path) {
  std::ifstream file(path);
  double number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// The number that follows `key` in a file; 0 if there is none.
double number_after(const std::string& key, const fs::path& path) {
  std::ifstream file(path);
  double number = 0;
  for (std::string word; file >> word && word != key;) continue;
  return file >> number ? number : 0;
}

/// Whether `word` occurs in a comma-separated list.
bool contains(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The path of `group` relative to `mounted`. Returns "" if the group is not inside `mounted`; its parents are then
/// unknown.
fs::path below(const std::string& mounted, const std::string& group) {
  auto path = fs::path(group).lexically_relative(mounted);
  if (path.empty() || path == "." || *path.begin() == "..") return {};
  return path;
}

}  // namespace

ControlGroups::ControlGroups(fs::path root) : root_(std::move(root)) {
  // Fields of a line: number, parent, device, group, mount point, options, …, "-", type, source, options of the type.
  std::ifstream mounts(root_ / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string word, group, mount, type, source, options;
    words >> word >> word >> word >> group >> mount;
    while (words >> word && word != "-") continue;
    words >> type >> source >> options;
    const auto path = root_ / fs::path(mount).relative_path();
    if (type == "cgroup2") hierarchies_.push_back({path, group, ""});
    else if (type == "cgroup") hierarchies_.push_back({path, group, options});
  }
}

const ControlGroups& ControlGroups::of_system() {
  static const auto& only = *new ControlGroups;  // never destroyed: other threads may ask while the process exits
  return only;
}

std::vector<fs::path> ControlGroups::folders(const std::string& resource, int version) const {
  std::string group = "/";
  std::ifstream groups(root_ / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:resources:group
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const auto resources = line.substr(first + 1, second - first - 1);
    if (version == 2 ? resources.empty() : contains(resources, resource)) group = line.substr(second + 1);
  }
  std::vector<fs::path> all;
  for (const auto& hierarchy : hierarchies_) {
    if (version == 2 ? !hierarchy.resources.empty() : !contains(hierarchy.resources, resource)) continue;
    auto inside = below(hierarchy.group, group);
    for (; !inside.empty(); inside = inside.parent_path()) all.push_back(hierarchy.mount / inside);
    all.push_back(hierarchy.mount);
  }
  return all;
}

double ControlGroups::free_memory() const {
  double bytes = unlimited;
  const auto consider = [&](const fs::path& folder, const char* limit, const char* used, const char* cached) {
    if (const auto most = number_in(folder / limit)) {
      const double taken = number_in(folder / used).value_or(0) - number_after(cached, folder / "memory.stat");
      bytes = std::min(bytes, std::max(0.0, *most - taken));
    }
  };
  for (const auto& folder : folders("memory", 2))
    for (const char* limit : {"memory.max", "memory.high"})  // above memory.high, the system slows processes down
      consider(folder, limit, "memory.current", "inactive_file");
  for (const auto& folder : folders("memory", 1))
    consider(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
  return bytes;
}

double ControlGroups::processors() const {
  double most = unlimited;
  for (const auto& folder : folders("cpu", 2)) {
    std::ifstream file(folder / "cpu.max");
    double time = 0, period = 0;
    if (file >> time >> period && period > 0) most = std::min(most, time / period);
  }
  for (const auto& folder : folders("cpu", 1)) {
    const double time = number_in(folder / "cpu.cfs_quota_us").value_or(-1);  // -1: unlimited
    const double period = number_in(folder / "cpu.cfs_period_us").value_or(0);
    if (time > 0 && period > 0) most = std::min(most, time / period);
  }
  return most;
}

double free_memory() {
  double kib = std::numeric_limits<double>::infinity();
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;)
    if (word == "MemAvailable:") {
      file >> kib;
      break;
    }
  return std::min(kib * 1024, ControlGroups::of_system().free_memory());
}

}  // namespace tessera::device
