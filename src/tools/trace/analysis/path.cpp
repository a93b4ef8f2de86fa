// SPDX-License-Identifier: BSD-3-Clause
#include "trace/analysis/parts.hpp"

namespace tessera::trace {

namespace {

/// An event whose end another event waited for.
struct Cause {
  enum class What { Nothing, Task, Transfer, Submission };
  What what = What::Nothing;
  int index = none;  ///< the task or transfer; for a submission, the submitted task
  double time = 0;   ///< when it ended the wait
};

class Walk {
 public:
  explicit Walk(const Lookups& lookups)
      : lookups_(lookups), run_(lookups.run), now_(run_.span), task_seen_(run_.tasks.size()),
        transfer_seen_(run_.transfers.size()), last_before_(run_.tasks.size(), none) {
    for (int i = 0, last = none; i < std::ssize(run_.tasks); ++i) {
      last_before_[i] = last;
      const auto& task = run_.tasks[i];
      if (lookups.started(task) && (last == none || task.end > run_.tasks[last].end)) last = i;
    }
  }

  Followed follow() {
    for (Cause cause = last_of_all(); cause.what != Cause::What::Nothing;) {
      switch (cause.what) {
      case Cause::What::Task: cause = through_task(cause.index); break;
      case Cause::What::Transfer: cause = through_transfer(cause.index); break;
      default: cause = through_submission(cause.index, cause.time); break;
      }
    }
    spend(parts().idle, 0);
    std::ranges::reverse(followed_.path.tasks);
    return std::move(followed_);
  }

 private:
  using What = Cause::What;
  Shares& parts() { return followed_.path.parts; }

  /// Adds the time since `until` to a part.
  double spend(double& part, double until) {
    const double time = std::max(0.0, now_ - until);
    part += time, now_ -= time;
    return time;
  }

  Cause through_task(int index) {
    const auto& task = run_.tasks[index];
    task_seen_[index] = true;
    followed_.path.tasks.push_back(index);
    spend(parts().overhead, lookups_.end(task));
    followed_.computing[task.worker] += spend(parts().computing, lookups_.start(task));
    return cause_of_start(index);
  }

  Cause through_transfer(int index) {
    const auto& transfer = run_.transfers[index];
    transfer_seen_[index] = true;
    spend(parts().overhead, lookups_.end(transfer));
    followed_.transfers[{transfer.from, transfer.to}] += spend(parts().data, lookups_.start(transfer));
    return cause_of_transfer(index);
  }

  /// A submission. If all earlier tasks had ended by then, the program probably waited for them and for their results.
  Cause through_submission(int index, double time) {
    spend(parts().overhead, time);
    const int last = last_before_[index];
    if (last == none || lookups_.end(run_.tasks[last]) > now_) return {};
    const auto cause = latest({task(last), transfer(lookups_.results.last(0, now_))});
    if (cause.what != What::Nothing) spend(parts().idle, cause.time);
    return cause;
  }

  Cause task(int index) const {
    if (index == none || task_seen_[index]) return {};
    return {What::Task, index, lookups_.end(run_.tasks[index])};
  }
  Cause transfer(int index) const {
    if (index == none || transfer_seen_[index]) return {};
    return {What::Transfer, index, lookups_.end(run_.transfers[index])};
  }
  Cause ready(int index) const {
    const auto& task = run_.tasks[index];
    const int waited = lookups_.made_ready_by(task);
    if (waited != none && !task_seen_[waited]) return {What::Task, waited, lookups_.unblocked(task)};
    // Ready for no recorded reason: the time since the submission is overhead.
    return {What::Submission, index, lookups_.submitted(task)};
  }
  Cause before_on_worker(int worker, double time) const {
    return task(lookups_.workers.last(worker, time + Lookups::tolerance, [&](int i) { return !task_seen_[i]; }));
  }

  /// The task that a worker ran at a given time, or else its last task before that time.
  Cause under_way(int worker, double time) const {
    const auto tasks = lookups_.tasks_of(worker);
    const auto after = std::ranges::upper_bound(tasks, time, {}, [&](int i) { return lookups_.start(run_.tasks[i]); });
    if (after == tasks.begin()) return {};
    auto cause = task(*(after - 1));
    cause.time = std::min(cause.time, time);
    return cause;
  }

  /// The cause with the latest time; the first of them in a tie.
  static Cause latest(std::initializer_list<Cause> causes) {
    Cause result;
    for (const auto& cause : causes)
      if (cause.what != What::Nothing && (result.what == What::Nothing || cause.time > result.time)) result = cause;
    return result;
  }

  Cause cause_of_start(int index) const {
    const auto& task = run_.tasks[index];
    return latest(
        {before_on_worker(task.worker, lookups_.start(task)), transfer(lookups_.last_arrival(task)), ready(index)});
  }

  Cause cause_of_transfer(int index) const {
    const auto& moved = run_.transfers[index];
    const double start = lookups_.start(moved), until = start + Lookups::tolerance;
    const auto unseen = [&](int i) { return !transfer_seen_[i]; };
    // If the link was free for longer than StarPU needs to start a transfer, the transfer did not wait for the link.
    constexpr double pause = 1e-4;
    auto link = transfer(lookups_.links.last(lookups_.link(moved.from, moved.to), until, unseen));
    if (link.time < start - pause) link = {};
    const auto written = task(lookups_.writers.last(moved.tile, until, [&](int i) { return !task_seen_[i]; }));
    const auto arrived = transfer(lookups_.arrivals.last(lookups_.at(moved.from, moved.tile), until, unseen));
    const int wanted_by = lookups_.use_of(index).task;
    if (wanted_by == none) {
      // Without a cause right before it, the program probably requested the transfer when an earlier result had
      // arrived.
      const auto cause = latest({link, written, arrived});
      return cause.time >= start - pause ? cause : latest({cause, transfer(lookups_.results.last(0, until, unseen))});
    }
    const auto& wanted = run_.tasks[wanted_by];
    const auto cause = latest({link, written, arrived,
                               lookups_.unblocked(wanted) <= until
                                   ? ready(wanted_by)
                                   : Cause{What::Submission, wanted_by, std::min(lookups_.submitted(wanted), start)}});
    // Otherwise the transfer was requested when the worker started another task, because StarPU then fetches the tiles
    // of a later task.
    return cause.time >= start - pause ? cause : latest({cause, under_way(wanted.worker, start)});
  }

  /// The last event: a task, or a transfer of a result to the host.
  Cause last_of_all() const {
    Cause last;
    for (int i = 0; i < std::ssize(run_.tasks); ++i)
      if (lookups_.started(run_.tasks[i])) last = latest({last, task(i)});
    for (int i = 0; i < std::ssize(run_.transfers); ++i) {
      if (lookups_.brings_result(run_.transfers[i])) last = latest({last, transfer(i)});
    }
    return last;
  }

  const Lookups& lookups_;
  const Run& run_;
  double now_;  ///< everything after this time is accounted for
  std::vector<bool> task_seen_, transfer_seen_;
  std::vector<int> last_before_;  ///< for each task, the task that ended last among those submitted before it
  Followed followed_;
};

}  // namespace

Followed follow_back(const Lookups& lookups) { return Walk(lookups).follow(); }

}  // namespace tessera::trace
