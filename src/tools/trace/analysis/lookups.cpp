// SPDX-License-Identifier: BSD-3-Clause
#include "trace/analysis/lookups.hpp"

namespace tessera::trace {

Lookups::Lookups(const Run& all) : run(all), tasks_of_(all.workers.size()), uses_(all.transfers.size()) {
  for (int i = 0; const auto& task : run.tasks) {
    if (started(task)) {
      tasks_of_[task.worker].push_back(i);
      workers.add(task.worker, end(task), i);
      for (const auto& access : task.accesses) {
        if (!lasts(access)) continue;
        users_.add(access.tile, end(task), i);
        if (access.write) writers.add(access.tile, end(task), i);
      }
    }
    ++i;
  }
  for (int i = 0; const auto& transfer : run.transfers) {
    arrivals.add(at(transfer.to, transfer.tile), end(transfer), i);
    links.add(link(transfer.from, transfer.to), end(transfer), i);
    ++i;
  }
  for (auto* ended : {&workers, &writers, &users_, &arrivals, &links}) ended->sort();
  for (int i = 0; const auto& transfer : run.transfers) {
    if (brings_result(transfer)) results.add(0, end(transfer), i);
    ++i;
  }
  results.sort();
  for (auto& tasks : tasks_of_)
    std::ranges::stable_sort(tasks, {}, [&](int i) { return std::pair(run.tasks[i].start, run.tasks[i].end); });
  find_uses();
}

double Lookups::unblocked(const Task& task) const {
  // A task may have dependencies that the trace does not record. Only StarPU's time is known then.
  const int last = made_ready_by(task);
  return last == none ? ready(task) : std::clamp(run.tasks[last].end, 0.0, start(task));
}

int Lookups::made_ready_by(const Task& task) const {
  int last = none;
  for (const int other : task.after)
    if (started(run.tasks[other]) && (last == none || run.tasks[other].end > run.tasks[last].end)) last = other;
  if (const int other = kept_out_by(task);
      other != none && (last == none || run.tasks[other].end > run.tasks[last].end))
    last = other;
  return last != none && run.tasks[last].end >= task.submitted ? last : none;
}

int Lookups::kept_out_by(const Task& task) const {
  int last = none;
  for (const auto& access : task.accesses) {
    if (!lasts(access)) continue;
    const auto excludes = [&](int i) {
      const auto& other = run.tasks[i];
      return &other != &task && std::ranges::any_of(other.accesses, [&](const Access& its) {
        return its.tile == access.tile && (its.write || access.write);
      });
    };
    const int other = users_.last(access.tile, ready(task) + tolerance, excludes);
    if (other != none && (last == none || run.tasks[other].end > run.tasks[last].end)) last = other;
  }
  return last;
}

int Lookups::last_arrival(const Task& task) const {
  const int node = run.workers[task.worker].node;
  int last = none;
  for (const auto& access : task.accesses) {
    if (!access.read || !lasts(access)) continue;
    const int transfer = arrivals.last(at(node, access.tile), task.start + tolerance);
    if (transfer != none && (last == none || run.transfers[transfer].end > run.transfers[last].end)) last = transfer;
  }
  return last;
}

void Lookups::find_uses() {
  struct Read {
    std::int64_t key;
    double start;
    Use use;
  };
  std::vector<Read> reads;
  for (const auto& tasks : tasks_of_)
    for (const int i : tasks) {
      const auto& task = run.tasks[i];
      for (int a = 0; a < std::ssize(task.accesses); ++a)
        if (const auto& access = task.accesses[a]; access.read && lasts(access))
          reads.push_back({at(run.workers[task.worker].node, access.tile), task.start, {i, a}});
    }
  const auto order = [](const Read& read) { return std::tuple(read.key, read.start, read.use.task, read.use.access); };
  std::ranges::sort(reads, {}, order);
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    const auto& transfer = run.transfers[i];
    const auto key = at(transfer.to, transfer.tile);
    const auto next = std::ranges::lower_bound(reads, std::tuple(key, transfer.end - tolerance, none, none), {}, order);
    if (next != reads.end() && next->key == key) uses_[i] = next->use;
  }
}

}  // namespace tessera::trace
