// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Numbers that no session can measure before its first call, and why each is as it is.
namespace tessera::plan {

/// What StarPU and the policy take for one step of a call [s].
struct RuntimeCosts {
  double begin = 20e-6;  ///< from the call to its first copy: the operands are registered, the first tasks submitted
  double submit = 0;     ///< to submit one more task; a simulated clock stands still meanwhile
  double push = 10e-6;   ///< from the end of a task or copy to the start of what waited for it: three threads take part
  double notice = 10e-6;  ///< until the thread that drives a GPU looks at its queues again
  double copy = 0;        ///< in which the thread that drives a GPU begins a copy, for each call of the driver
  double finish = 15e-6;  ///< from the end of the last copy to the end of the call
  double tile = 4.7e-6;   ///< to unregister a tile at the end of the call
};

/// What is not measured of a real machine yet. It was seen on H100 and H200.
struct Unmeasured {
  double task_overhead = 12e-6;  ///< from a kernel to the next, while StarPU releases what waits for the first [s]
  double diagonal_row = 0.4e-6;  ///< of a tile on the diagonal, in an operation that was not timed [s]
  double own_link = 1.2;         ///< peers that are faster than the host by this factor have a link of their own
  RuntimeCosts runtime = {.submit = 1.5e-6, .copy = 8e-6};
};
inline constexpr Unmeasured unmeasured;

/// Tasks that a GPU reserves, and that it compares at the front of its queue: the policy's defaults.
inline constexpr int slots = 16, window = 8;
/// A GPU that runs nothing reserves only what it starts at once: more may be better placed when the first task runs.
inline constexpr int slots_at_rest = 2;

/// A candidate with twice as many GPUs must be faster by this factor: rehearsals err, most of all about how GPUs wait
/// for each other, and the GPUs that are left out can serve others.
inline constexpr double clear_gain = 1.015;
/// The same for GPUs of different kinds, in addition: which tiles the fast ones steal depends on small differences.
inline constexpr double clear_gain_of_unlike = 1.05;

/// What tiles of a sum must gain over those that formulas choose: more than most rehearsals err.
inline constexpr double clear_gain_of_sums = 1.15;

/// The part of the predicted time of a call that its planning may take, and what it may take in any case [s].
inline constexpr double planning_share = 0.03, planning_least = 50e-6;
/// What the rehearsal of an operation takes on a core of today [s]. Not measured: the choice must not vary with the
/// load.
inline constexpr double rehearsal_of_operation = 0.5e-6;
/// What beginning a rehearsal takes, in operations.
inline constexpr double rehearsal_itself = 10;
/// Operations beyond which nothing is rehearsed.
inline constexpr double most_operations = 20000;

/// Operations that are rehearsed to explain a choice.
inline constexpr double operations_to_explain = 300000;

}  // namespace tessera::plan
