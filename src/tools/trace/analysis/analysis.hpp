// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/run.hpp"

namespace tessera::trace {

/// Where the time of a worker went, in seconds; the sum is the run's span.
///
/// Between two tasks of a worker the next one's story is told: until it was *ready* (submitted, and all that it depends
/// on done) the worker was idle; then, until the last of its tiles had arrived on the worker's node, it waited for
/// data; the rest was overhead: the scheduler, StarPU, the launch. After its last task a worker is idle.
/// The time from the end of the last dependency until StarPU calls the task ready is overhead, too.
/// Tiles that arrived before the previous task ended cost nothing. A time in which two tasks overlap counts once.
struct Shares {
  double computing = 0, data = 0, overhead = 0, idle = 0;
};

/// A time in which a worker computed nothing, with the part of it that weighs most.
///
/// Being idle is due to a Dependency if one of the tasks that `next` depends on ended after its submission, else to the
/// Submission. After the last task it is NothingLeft, or Data if results were on their way from the worker's node to
/// the host for most of that time.
struct Gap {
  enum class Cause { Data, Dependency, Submission, Overhead, NothingLeft };
  int worker = 0;
  double begin = 0, end = 0;
  Shares parts;  ///< computing is 0
  Cause cause = Cause::Overhead;
  int next = none;             ///< the task that ended it
  int waited_task = none;      ///< Dependency: the one that ended last of those that `next` depends on
  int waited_transfer = none;  ///< Data: the one that ended last
  std::string text;            ///< a sentence for people
};

struct LinkUse {
  int from = 0, to = 0;
  std::uint64_t bytes = 0;
  std::size_t transfers = 0;
  double busy = 0;  ///< seconds in which at least one transfer was under way
  std::map<char, std::uint64_t> by_operand;
};

/// Bytes of one operand, all GPUs together, and the least that any schedule must move: each tile that is read before
/// it is written, once in, and each that is written, once out, if GPUs do that. Without GPUs all is 0. Temporary tiles
/// need neither. A tile that is used as several operands counts as the first of them.
struct OperandTraffic {
  char operand = '-';
  std::uint64_t in = 0, least_in = 0, out = 0, least_out = 0, between_gpus = 0;
};

/// Where tasks on GPUs found the tiles that they read: a transfer counts for the next task on its node that reads it.
struct Hits {
  std::size_t own = 0, peer = 0, host = 0;  ///< L1: on the GPU itself; L2: brought from another GPU; from the host
};

/// What the end of the run waited for, followed back to its beginning: the last task, what its start waited for, and so
/// on. The times add up to the span.
///
/// A task's start waited for what was last of: the end of a task on the same worker, the arrival of a tile, the end of
/// a task that it depends on, its submission. A transfer's start waited for what was last of: the transfer before it on
/// the same link, if that had ended just then; the arrival or the writing of its tile where it comes from; what made
/// its task ready; and, unless it was a prefetch, the worker. A submission waited for all that was submitted before, if
/// that had ended by then.
struct Path {
  std::vector<int> tasks;    ///< from the first to the last
  Shares parts;              ///< data: also results on their way home; idle: until the program had submitted
  double longest_chain = 0;  ///< seconds: what the dependencies alone would take with all workers and no transfers
  std::string text;          ///< what bounded the run, in a sentence
};

/// Times below which the run could not have come with its tasks and transfers where they were, the longest first. Links
/// count with the rate that StarPU takes them for or, unknown, the highest that was seen; never with more than the time
/// in which they were busy.
struct Bound {
  std::string name;  ///< "computing on the GPUs", "host → GPU 1", "the longest chain of tasks"
  double seconds = 0;
};

/// How many tasks were in a state, from each time on; of a long run, some thousand points with all peaks.
struct Series {
  std::vector<double> time;
  std::vector<int> count;
};

struct Analysis {
  std::vector<Shares> workers;
  std::vector<std::size_t> tasks_of_worker;
  std::vector<Gap> worst_gaps;  ///< ten at most, the longest first; of cores only if these did a tenth of the work
  std::vector<LinkUse> links;   ///< those that carried any
  std::vector<OperandTraffic> operands;
  Hits hits;
  Path path;
  std::vector<Bound> bounds;
  Series ready, running;  ///< ready: but not started yet
  double flops = 0;
};

/// @note  O(t log t) in tasks and transfers
Analysis analyse(const Run& run);

}  // namespace tessera::trace
