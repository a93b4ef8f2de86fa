// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/recorded_run.hpp"

namespace tessera::trace {

/// How a worker spent its time, in seconds. The parts add up to the span of the run.
///
/// The time between two tasks of a worker is divided according to the history of the second task. The worker was idle
/// until that task was ready: submitted, all its dependencies done, and none of its tiles in use by a task that
/// excludes it (STARPU_COMMUTE). It then waited for data until the last of the task's tiles had arrived at its node.
/// The rest is overhead: the scheduler, StarPU, the launch. The time from the end of the last dependency until StarPU
/// marks the task as ready is also overhead. After its last task a worker is idle. Tiles that arrived before the
/// previous task ended cost nothing. Overlapping tasks count once.
struct Shares {
  double computing = 0, data = 0, overhead = 0, idle = 0;
};

/// A time in which a worker computed nothing, with its main cause.
///
/// A worker is idle because of a Dependency if a task that `next` depends on, or that had exclusive access to a tile of
/// `next`, ended after the submission of `next`; otherwise because of the Submission. After the last task the cause is
/// NothingLeft, or Data if results were copied from the worker's node to the host for most of that time.
struct Gap {
  enum class Cause { Data, Dependency, Submission, Overhead, NothingLeft };
  int worker = 0;
  double begin = 0, end = 0;
  Shares parts;  ///< computing is 0
  Cause cause = Cause::Overhead;
  int next = none;             ///< the task that ended the gap
  int waited_task = none;      ///< Dependency: the last of these tasks to end
  int waited_transfer = none;  ///< Data: the transfer that ended last
  std::string text;            ///< a sentence for the report
};

struct LinkUse {
  int from = 0, to = 0;
  std::uint64_t bytes = 0;
  std::size_t transfers = 0;
  double busy = 0;  ///< seconds with at least one active transfer
  std::map<char, std::uint64_t> by_operand;
};

/// Bytes of one operand for all GPUs together, with the compulsory minimum of any schedule: each tile that GPUs read
/// before it is written enters once, and each tile that they write leaves once. Temporary tiles need neither. Without
/// GPUs all counts are 0. A tile used as several operands counts as the first of them.
struct OperandTraffic {
  char operand = '-';
  std::uint64_t in = 0, least_in = 0, out = 0, least_out = 0, between_gpus = 0;
};

/// Where GPU tasks found the tiles that they read. A transfer counts for the next task on its node that reads the tile.
struct Hits {
  std::size_t own = 0, peer = 0, host = 0;  ///< own: on the GPU (L1); peer: from another GPU (L2); host: from the host
};

/// The critical path: the chain of events found by starting at the last event of the run and going back, each time, to
/// the event that it waited for. The times add up to the span.
///
/// A task waited for the latest of these: the end of the previous task on its worker, the arrival of a tile, the end of
/// a dependency or of a task that had exclusive access to one of its tiles, its submission. A transfer waited for the
/// latest of these: the previous transfer on its link, if that had just ended; the arrival or the computation of its
/// tile at its source; whatever made its task ready; and the worker, unless the transfer was a prefetch. If no task
/// wanted the transfer and none of these was just before it, it waited for the arrival of an earlier result at the
/// host, as in a program that fetches its results one by one. A submission waited for all tasks submitted before it, if
/// they had ended by then.
struct Path {
  std::vector<int> tasks;  ///< in the order of time
  Shares parts;  ///< data includes copies of results to the host; idle is the time before the program submitted
  double longest_chain = 0;  ///< seconds of the longest chain of dependencies, with unlimited workers and no transfers
  std::string text;          ///< a sentence: what limited the run
};

/// Lower bounds of the run's time for its given placement of tasks and transfers, largest first. Links count with the
/// rate of StarPU's model or, without one, with the highest observed rate. A link's bound never exceeds the time in
/// which the link was busy.
struct Bound {
  std::string name;  ///< "computing on the GPUs", "host → GPU 1", "the longest chain of tasks"
  double seconds = 0;
};

/// The number of tasks in some state over time. Long runs are thinned to some thousand points that keep all peaks.
struct Series {
  std::vector<double> time;
  std::vector<int> count;
};

struct Analysis {
  std::vector<Shares> workers;
  std::vector<std::size_t> tasks_of_worker;
  std::vector<int> shown_workers;  ///< the rows of charts: GPUs first, because most of the work is there, then the
                                   ///< cores that computed a task
  std::vector<Gap>
      worst_gaps;  ///< at most ten, the longest first; gaps of CPU cores only if these did a tenth of the work
  std::vector<LinkUse> links;  ///< links that carried data
  std::vector<OperandTraffic> operands;
  Hits hits;
  Path path;
  std::vector<Bound> bounds;
  Series ready, running;  ///< ready: not started yet
  double flops = 0;
};

/// @note  O(t log t) in tasks and transfers
Analysis analyse(const Run& run);

}  // namespace tessera::trace
