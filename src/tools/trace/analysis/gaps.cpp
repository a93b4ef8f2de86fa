// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "trace/analysis/parts.hpp"
#include "trace/words.hpp"

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

namespace {

/// Seconds between two times with at least one active transfer among the wanted ones.
double busy(const Lookups& lookups, double begin, double end, auto wanted) {
  double seconds = 0, until = begin;
  for (int i = 0; const auto& transfer : lookups.run.transfers) {
    if (!wanted(transfer, i++)) continue;
    const double from = std::clamp(transfer.start, until, end), to = std::clamp(transfer.end, from, end);
    seconds += to - from, until = to;
  }
  return seconds;
}

/// "134 MB at 20 GB/s where the link does 54 GB/s"
std::string amount(const Run& run, const Transfer& transfer) {
  const auto size = static_cast<double>(transfer.bytes);
  if (transfer.end <= transfer.start) return bytes(size);
  const double seen = size / (transfer.end - transfer.start);
  auto text = bytes(size) + " at " + rate(seen);
  for (const auto& link : run.counted.links)
    if (link.from == transfer.from && link.to == transfer.to && seen < 0.8 * link.rate)
      text += " on a link with " + rate(link.rate);
  return text;
}

std::string waited_for_data(const Lookups& lookups, const Gap& gap, const std::string& who) {
  const auto& run = lookups.run;
  const auto& transfer = run.transfers[gap.waited_transfer];
  const double end = gap.end - gap.parts.overhead, begin = end - gap.parts.data;
  const auto on_link = [&](const Transfer& other) { return other.from == transfer.from && other.to == transfer.to; };
  const double others = busy(lookups, begin, end,
                             [&](const Transfer& other, int i) { return i != gap.waited_transfer && on_link(other); });
  const double idle =
      gap.parts.data - busy(lookups, begin, end, [&](const Transfer& other, int) { return on_link(other); });
  // A small part explains nothing and is not mentioned.
  const bool with_others = others >= 0.05 * gap.parts.data, without_any = idle >= 0.25 * gap.parts.data;
  std::string link = amount(run, transfer);
  if (with_others || without_any) link += "; meanwhile the link was ";
  if (with_others) link += "busy with other tiles for " + seconds(others);
  if (without_any) link += std::string(with_others ? " and " : "") + "idle for " + seconds(idle);
  return fmt::format("{} waited {} for {} from {} ({}), wanted by {}", who, seconds(gap.parts.data),
                     name_of(run, transfer.tile, transfer.operand), place(run, transfer.from), link,
                     name_of(run, run.tasks[gap.next]));
}

/// Tasks that the scheduler could have given to the worker instead.
std::string meanwhile(const Series& ready, double begin, double end) {
  const int tasks = least_between(ready, begin, end);
  if (tasks <= 0) return "";
  return tasks == 1 ? "; meanwhile one task or more was ready but not given to it"
                    : fmt::format("; meanwhile {} tasks or more were ready but not given to it", tasks);
}

std::string was_idle(const Lookups& lookups, const Series& ready, const Gap& gap, const std::string& who) {
  const auto& run = lookups.run;
  const auto& task = run.tasks[gap.next];
  const double until = gap.begin + gap.parts.idle;
  const auto wanted = name_of(run, task), idle = who + " was idle " + seconds(gap.parts.idle) + ": ";
  if (gap.cause == Gap::Cause::Dependency) {
    const auto& waited = run.tasks[gap.waited_task];
    const bool depends = std::ranges::count(task.after, gap.waited_task) > 0;
    return idle + wanted + (depends ? " depends on " : " needs a tile that was in use by ") + name_of(run, waited) +
           " on " + run.workers[waited.worker].name + meanwhile(ready, gap.begin, until);
  }
  const bool submission = lookups.submitted(task) > (gap.begin + until) / 2;
  if (!submission)
    return idle + wanted + " had been submitted but was not ready for a reason that is not in the trace" +
           meanwhile(ready, gap.begin, until);
  const double results =
      busy(lookups, gap.begin, until, [&](const Transfer& transfer, int) { return lookups.brings_result(transfer); });
  return idle + "the program had not submitted " + wanted +
         (results < 0.25 * gap.parts.idle
              ? ""
              : fmt::format("; results were copied to the host during {} of that", seconds(results)));
}

/// The write-back of a tile on which the task waited: StarPU frees memory before it starts a task.
int written_back(const Lookups& lookups, const Gap& gap) {
  const auto& run = lookups.run;
  for (int i = 0; const auto& transfer : run.transfers) {
    if (transfer.reason == Transfer::Reason::WriteBack && transfer.from == run.workers[gap.worker].node &&
        transfer.start < gap.end && transfer.end > gap.end - gap.parts.overhead)
      return i;
    ++i;
  }
  return none;
}

std::string lost(const Lookups& lookups, const Gap& gap, const std::string& who) {
  const auto& run = lookups.run;
  auto text = fmt::format("{} lost {} to the runtime before {}, which was ready with all its tiles present", who,
                          seconds(gap.parts.overhead), name_of(run, run.tasks[gap.next]));
  if (const int i = written_back(lookups, gap); i != none)
    text += fmt::format("; {} was written back to free memory",
                        name_of(run, run.transfers[i].tile, run.transfers[i].operand));
  else if (lookups.tasks_of(gap.worker).front() == gap.next) text += "; it is the first task there";
  return text;
}

std::string at_end(const Lookups& lookups, const Gap& gap, const std::string& who) {
  const auto& run = lookups.run;
  if (lookups.tasks_of(gap.worker).empty()) return who + " ran no task";
  const auto left = fmt::format("{} had nothing left to do for the last {}", who, seconds(gap.end - gap.begin));
  if (gap.waited_transfer != none) {
    const auto& last = run.transfers[gap.waited_transfer];
    double size = 0;
    for (const auto& transfer : run.transfers)
      if (transfer.from == last.from && transfer.to == last.to && transfer.end > gap.begin)
        size += static_cast<double>(transfer.bytes);
    return fmt::format("{}; its results were copied to the host during {} of that ({} over {})", left,
                       seconds(lookups.end(last) - gap.begin), bytes(size), link_name(run, last.from, last.to));
  }
  int later = 0, last = none;
  for (int i = 0; const auto& task : run.tasks) {
    if (lookups.started(task)) {
      later += task.start >= gap.begin;
      if (last == none || task.end > run.tasks[last].end) last = i;
    }
    ++i;
  }
  const double others = lookups.end(run.tasks[last]) - gap.begin;
  if (others <= 0) return left + ": all tasks were done";
  return fmt::format("{}; other workers computed during {} of that, up to {} on {}{}", left, seconds(others),
                     name_of(run, run.tasks[last]), run.workers[run.tasks[last].worker].name,
                     later == 0 ? "" : fmt::format(", and started {} more {}", later, later == 1 ? "task" : "tasks"));
}

}  // namespace

std::string explain(const Lookups& lookups, const Series& ready, const Gap& gap) {
  const auto& who = lookups.run.workers[gap.worker].name;
  if (gap.next == none) return at_end(lookups, gap, who);
  switch (gap.cause) {
  case Gap::Cause::Data: return waited_for_data(lookups, gap, who);
  case Gap::Cause::Overhead: return lost(lookups, gap, who);
  default: return was_idle(lookups, ready, gap, who);
  }
}

}  // namespace tessera::trace
