// SPDX-License-Identifier: BSD-3-Clause
#include "bench/machine.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <thread>

#include "codelets/host_blas.hpp"

namespace tessera::bench {

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

}  // namespace

std::vector<int> Machine::ordinals(int count) const {
  std::vector<int> result;
  for (int i = 0; i < count; i++) result.push_back(gpus.at(static_cast<std::size_t>(i)).ordinal);
  return result;
}

Machine look_at_machine(bool look_for_gpus) {
  Machine machine;
  machine.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  machine.blas_threads = host::threads();
  machine.free_memory = free_memory();
  if (!look_for_gpus) return machine;
  auto probe = gpu::probe(-1);
  machine.gpus = std::move(probe.usable);
  if (!probe.unusable.empty()) machine.why_not_more_gpus = probe.unusable.front();
  return machine;
}

}  // namespace tessera::bench
