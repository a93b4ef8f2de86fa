// SPDX-License-Identifier: BSD-3-Clause
#include "core_part.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <utility>

namespace tessera::runtime {

namespace {

/// The first number in a topology file of a processor.
int topology(int processor, const char* file, int if_unknown) {
  std::ifstream stream("/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/" + file);
  int value = 0;
  return stream >> value ? value : if_unknown;
}

std::vector<Processor> processors_of(const cpu_set_t& set) {
  std::vector<Processor> all;
  for (int number = 0; number < CPU_SETSIZE; number++)
    if (CPU_ISSET(number, &set))  // a core is identified by the first of its threads
      all.push_back(
          {topology(number, "physical_package_id", 0), topology(number, "thread_siblings_list", number), number});
  return all;
}

std::vector<std::pair<int, int>> cores_in_order(const std::vector<Processor>& processors) {
  std::set<std::pair<int, int>> cores;
  for (const auto& processor : processors) cores.emplace(processor.socket, processor.core);
  return {cores.begin(), cores.end()};
}

}  // namespace

std::vector<Processor> part_of(std::vector<Processor> all, int part, int parts) {
  const auto cores = cores_in_order(all);
  const auto count = static_cast<int>(cores.size());
  const int first = part * count / parts, end = std::max(first + 1, (part + 1) * count / parts);
  std::erase_if(all, [&](const Processor& processor) {
    const auto place = std::ranges::lower_bound(cores, std::pair{processor.socket, processor.core}) - cores.begin();
    return place < first || place >= end;
  });
  return all;
}

int cores_of(const std::vector<Processor>& processors) { return static_cast<int>(cores_in_order(processors).size()); }

PartOfCores::PartOfCores(int part, int parts) {
  CPU_ZERO(&before_);
  sched_getaffinity(0, sizeof(before_), &before_);
  const auto mine = part_of(processors_of(before_), part, parts);
  cores_ = std::max(1, cores_of(mine));
  if (parts <= 1 || mine.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const auto& processor : mine) CPU_SET(processor.number, &set);
  is_part_ = sched_setaffinity(0, sizeof(set), &set) == 0;
}

PartOfCores::~PartOfCores() {
  if (is_part_) sched_setaffinity(0, sizeof(before_), &before_);
}

}  // namespace tessera::runtime
