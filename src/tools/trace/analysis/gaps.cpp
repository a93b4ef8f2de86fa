// SPDX-License-Identifier: BSD-3-Clause
#include "trace/analysis/gaps.hpp"

#include <array>

namespace tessera::trace {

namespace {

Gap::Cause heaviest(const Shares& parts, Gap::Cause why_idle) {
  if (parts.data >= parts.idle && parts.data >= parts.overhead && parts.data > 0) return Gap::Cause::Data;
  return parts.idle >= parts.overhead && parts.idle > 0 ? why_idle : Gap::Cause::Overhead;
}

/// The gap from `begin` until the start of the task.
Gap gap_before(const Lookups& lookups, int next, double begin) {
  const auto& task = lookups.run.tasks[next];
  const double end = lookups.start(task);
  const double ready = std::clamp(lookups.unblocked(task), begin, end);
  const int transfer = lookups.last_arrival(task);
  const double arrived =
      transfer == none ? ready : std::clamp(lookups.end(lookups.run.transfers[transfer]), ready, end);

  Gap gap;
  gap.worker = task.worker, gap.begin = begin, gap.end = end, gap.next = next;
  gap.parts = {.data = arrived - ready, .overhead = end - arrived, .idle = ready - begin};
  const int waited = lookups.made_ready_by(task);
  gap.cause = heaviest(gap.parts, waited == none ? Gap::Cause::Submission : Gap::Cause::Dependency);
  if (gap.cause == Gap::Cause::Dependency) gap.waited_task = waited;
  if (gap.cause == Gap::Cause::Data) gap.waited_transfer = transfer;
  return gap;
}

/// For each node, the last transfer that brought a result from there to the host.
std::vector<int> last_write_back(const Lookups& lookups) {
  const auto& run = lookups.run;
  std::vector<int> last(run.nodes.size(), none);
  for (int i = 0; const auto& transfer : run.transfers) {
    int& known = last[transfer.from];
    if (lookups.brings_result(transfer) && (known == none || transfer.end >= run.transfers[known].end)) known = i;
    ++i;
  }
  return last;
}

/// The gap after the last task of a worker. Copies of results to the host are the cause if they take most of it.
Gap gap_at_end(const Lookups& lookups, int worker, double begin, const std::vector<int>& last_write_back) {
  const auto& run = lookups.run;
  Gap gap;
  gap.worker = worker, gap.begin = begin, gap.end = run.span, gap.cause = Gap::Cause::NothingLeft;
  gap.parts.idle = gap.end - gap.begin;
  const int write_back = last_write_back[run.workers[worker].node];
  if (write_back == none || lookups.tasks_of(worker).empty()) return gap;
  if (lookups.end(run.transfers[write_back]) - begin > gap.parts.idle / 2)
    gap.cause = Gap::Cause::Data, gap.waited_transfer = write_back;
  return gap;
}

/// For each kind of worker, whether the list of longest gaps includes it.
std::array<bool, 2> kinds_that_count(const Lookups& lookups) {
  double flops[2] = {}, seconds[2] = {};
  for (const auto& task : lookups.run.tasks)
    if (lookups.started(task)) {
      const auto kind = static_cast<int>(lookups.run.workers[task.worker].kind);
      flops[kind] += task.flops, seconds[kind] += lookups.end(task) - lookups.start(task);
    }
  const auto* work = flops[0] + flops[1] > 0 ? flops : seconds;
  constexpr double little = 0.1;
  const auto host = static_cast<int>(Kind::Host), gpu = static_cast<int>(Kind::Gpu);
  return {work[gpu] == 0 || work[host] >= little * (work[host] + work[gpu]), true};
}

}  // namespace

Gaps find_gaps(const Lookups& lookups, std::size_t most) {
  const auto& run = lookups.run;
  const auto counts = kinds_that_count(lookups);
  const auto write_back = last_write_back(lookups);
  Gaps gaps{std::vector<Shares>(run.workers.size()), {}};
  for (int worker = 0; worker < std::ssize(run.workers); ++worker) {
    auto& shares = gaps.workers[worker];
    const auto add = [&](Gap gap) {
      if (gap.end <= gap.begin) return;
      shares.data += gap.parts.data, shares.overhead += gap.parts.overhead, shares.idle += gap.parts.idle;
      if (counts[static_cast<int>(run.workers[worker].kind)]) gaps.worst.push_back(std::move(gap));
    };
    double until = 0;  // everything before this time is already in the worker's shares
    for (const int i : lookups.tasks_of(worker)) {
      const auto& task = run.tasks[i];
      if (lookups.start(task) > until) add(gap_before(lookups, i, until));
      const double start = std::max(until, lookups.start(task)), end = std::max(start, lookups.end(task));
      shares.computing += end - start, until = end;
    }
    add(gap_at_end(lookups, worker, until, write_back));
  }
  most = std::min(most, gaps.worst.size());
  std::ranges::partial_sort(gaps.worst, gaps.worst.begin() + static_cast<std::ptrdiff_t>(most), {},
                            [](const Gap& gap) { return std::tuple(gap.begin - gap.end, gap.begin, gap.worker); });
  gaps.worst.resize(most);
  return gaps;
}

}  // namespace tessera::trace
