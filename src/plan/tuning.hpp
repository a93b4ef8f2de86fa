// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Constants that no session can measure before its first call, with the reason for each value. Those of factorizations
/// in panels are in algorithms/panel_tuning.hpp.
namespace tessera::plan {

/// Overheads of StarPU and the policy at each stage of a call [s]. The defaults are those of simulated time.
struct RuntimeCosts {
  double begin = 8e-6;    ///< from the call to its first copy: registers the operands and submits the first tasks
  double submit = 0;      ///< per further task; a simulated clock does not advance in this time
  double push = 10e-6;    ///< from the end of a task or copy to the start of a task that waited for it; involves three
                          ///< threads
  double notice = 10e-6;  ///< until the driving thread of a GPU looks at its queues again
  double copy = 0;        ///< per driver call, for the driving thread of a GPU to start a copy
  double finish = 2e-6;   ///< from the end of the last copy to the end of the call
  double tile = 2.7e-6;   ///< per tile, to unregister it at the end of the call
};

/// Properties of real machines that are not measured yet. The values were observed on H100 and H200.
struct Unmeasured {
  double task_overhead = 12e-6;   ///< between two kernels, while StarPU releases the dependents of the first [s]
  double diagonal_row = 0.4e-6;   ///< per row of a diagonal tile, for operations that were not timed [s]
  double products_beside = 0.75;  ///< rate of products while a panel is factorized, relative to their rate alone
  double core_memory = 8e9;       ///< rate at which a core reads and writes memory [bytes/s]
  double lost_on_cores = 16;      ///< a core's product with few rows or columns takes as long as with so many more
  /// The fraction by which a core may be slower or faster than predicted: other programs, its clock, and the memory
  /// that it shares with the others change its rate during a call, and no measurement before the call shows that.
  double error_of_cores = 0.1;
  double own_link = 1.2;  ///< peers faster than the host by this factor have a direct link
  RuntimeCosts runtime = {.begin = 20e-6, .submit = 1.5e-6, .copy = 8e-6, .finish = 15e-6, .tile = 4.7e-6};
};
inline constexpr Unmeasured unmeasured;

/// The number of tasks that a GPU reserves, and that it compares at the front of its queue. The policy reserves more,
/// which changes nothing where the library owns the tiles.
inline constexpr int slots = 16, window = 8;
/// An idle GPU reserves only what it can start at once. Further tasks can be placed better once the first one runs.
inline constexpr int slots_at_rest = 2;

/// The fraction of a GPU's memory that the tiles of reserved operations may need.
inline constexpr double most_reserved = 0.5;

/// A candidate with twice as many GPUs must be faster by this factor. Rehearsals are inexact, above all in how GPUs
/// wait for each other, and unused GPUs are free for other work.
inline constexpr double clear_gain = 1.05;

/// A candidate with twice as many tasks must be faster by this factor. Of two candidates with the same predicted time,
/// the one with fewer tasks is usually faster, because the overheads of tasks are the least certain part of a
/// rehearsal.
inline constexpr double clear_gain_of_tasks = 1.005;

/// A plan in which cores wait for tiles of the GPUs must be faster by this factor than one without cores. How long
/// results stay on a GPU before they are copied to the host is uncertain.
inline constexpr double clear_gain_of_cores = 1.03;

/// The share of a call's predicted time that planning may take, and the minimum it may always take [s]. A plan is made
/// once for each shape. The minimum lets short calls compare tall panels, too.
inline constexpr double planning_share = 0.03, planning_least = 75e-6;
/// Time to rehearse one operation on a current core with its data in cache [s]. A constant, because the choice must not
/// depend on the load. With cold caches, rehearsals take two to three times as long, and the first ones of a process
/// longer still.
inline constexpr double rehearsal_of_operation = 0.25e-6;
/// Cost of writing an operation into a graph, even if the rehearsal stops before it, in rehearsed operations.
inline constexpr double writing_of_operation = 0.5;
/// Fixed cost of a rehearsal, in operations.
inline constexpr double rehearsal_itself = 5;
/// So many operations are rehearsed even if the time of the call is short.
inline constexpr double always_rehearsed = 2000;
/// No more operations are rehearsed even if the call takes minutes: the graph of each takes about 100 bytes of memory.
inline constexpr double most_rehearsed = 1e6;

/// The fraction of a GPU's memory that the tiles of a factorization may fill if all are loaded at the start. The rest
/// is for workspace, and for tiles from other GPUs.
inline constexpr double most_of_memory = 0.8;

/// Operations that are rehearsed to explain a choice.
inline constexpr double operations_to_explain = 300000;

}  // namespace tessera::plan
