// SPDX-License-Identifier: BSD-3-Clause
#include "free_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace tessera::detail {

namespace {

/// The first number of a file, or the first one after the word `key`.
std::optional<double> read_number(const std::string& path, const std::string& key = "") {
  std::ifstream file(path);
  std::string word;
  while (!key.empty() && file >> word && word != key) continue;
  double number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

}  // namespace

double free_memory() {
  double bytes = std::numeric_limits<double>::infinity();
  if (const auto kib = read_number("/proc/meminfo", "MemAvailable:")) bytes = *kib * 1024;
  const struct {
    std::string limit, used, statistics, cached;
  } groups[] = {
      {"memory.max", "memory.current", "memory.stat", "inactive_file"},
      {"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"}};
  const std::string folder = "/sys/fs/cgroup/";
  for (const auto& [limit, used, statistics, cached] : groups)
    if (const auto most = read_number(folder + limit)) {
      // Cached files count as used, and go when memory is needed.
      const double taken =
          read_number(folder + used).value_or(0) - read_number(folder + statistics, cached).value_or(0);
      bytes = std::min(bytes, *most - taken);
    }
  return bytes;
}

}  // namespace tessera::detail
