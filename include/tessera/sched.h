/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESSERA_SCHED_H
#define TESSERA_SCHED_H

#include <stdint.h>

/**
 * @file
 * The scheduling policy `tessera`, for any StarPU program, in libtessera_sched.so. Load it with the environment
 * variables STARPU_SCHED_LIB=libtessera_sched.so and STARPU_SCHED=tessera, or pass `tessera_sched_policy` as
 * `starpu_conf.sched_policy`. The environment variable TESSERA_SCHED sets its options; docs/policy.md explains them.
 */

#ifdef __cplusplus
extern "C" {
#endif

/** StarPU's name for the handle of a tile, declared as in its headers. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
typedef struct _starpu_data_state* starpu_data_handle_t;
struct starpu_sched_policy;

/** The policy, for `starpu_conf.sched_policy`. */
struct starpu_sched_policy* tessera_sched_policy(void);

/** Returns why the options in the environment cannot be used, in one sentence, or NULL if they can. Starting the policy
 * with illegal options aborts, so call this first. The text is valid until the calling thread calls this again. */
const char* tessera_sched_check_options(void);

/** Suggests a home for a tile: the worker that should run the tasks that write it. The policy follows until stealing
 * moves the tile. Call this at any time between registration and unregistration of the tile. It uses
 * `starpu_data_set_sched_data`.
 * @param tile    the handle of the tile
 * @param worker  StarPU's number of the worker; -1: none */
void tessera_sched_suggest_home(starpu_data_handle_t tile, int worker);

/** Says whether the program has planned the memory for the results that it writes at a time, this tile among them. The
 * home of the tile may then begin with it while incomplete results fill less than three quarters of its memory, also if
 * that is more than the share of the option RESULTS. The policy looks when a task that writes the tile is submitted,
 * and remembers a plan until all tasks that write the tile have run. So a call says it for the tiles that it writes,
 * submits its tasks, and takes it back: other calls have the limit. It uses `starpu_data_set_sched_data`.
 * @param tile     the handle of the tile
 * @param planned  0: no, as at first; else yes */
void tessera_sched_plan_result(starpu_data_handle_t tile, int planned);

/** Lets the policy prefetch a tile of a ready task while another tile of that task is on its way to a peer, and the
 * task waits for it. Without this, all tiles that the task reads are prefetched together when it need not wait any
 * more.
 *
 * Call this at any time between registration and unregistration of the tile. It uses
 * `starpu_data_set_sched_data`. The program may submit an invalidation or a partition of the tile at any time.
 *
 * @param tile  the handle of the tile */
void tessera_sched_allow_fetching(starpu_data_handle_t tile);

/** Sets a function that each thread calls when it submits a task, before the policy sees the task. A program that
 * pauses StarPU's workers can thus notice that others need them. There is one such function in the process.
 * @param hook  must not submit tasks; NULL: none */
void tessera_sched_on_submission(void (*hook)(void));

/** Marks Tessera's tile tasks: the value of `starpu_task.sched_data` when they are submitted to this policy. */
extern char tessera_sched_tile_task;

/** Returns how many tasks of the program itself have been submitted to the policy: neither StarPU's nor tile tasks. */
uint64_t tessera_sched_other_tasks(void);

/** What the policy has done since StarPU started, summed over all workers. */
typedef struct tessera_sched_counts {
  uint64_t tasks;        /**< tasks handed to workers */
  uint64_t own_tiles;    /**< tiles read that were in the worker's own memory when the task was reserved */
  uint64_t peer_tiles;   /**< tiles read that were at a peer: a GPU that it can copy from as fast as from the host */
  uint64_t far_tiles;    /**< tiles read that were in neither place */
  uint64_t steals;       /**< tasks taken from another worker */
  double idle_for_tasks; /**< seconds in which workers had nothing to do */
  double idle_for_data;  /**< seconds in which workers had tasks, and waited for their tiles */
  double in_push;        /**< seconds that the policy itself took to queue tasks, all threads together */
  double in_pop;         /**< seconds that the policy itself took to hand out tasks, all threads together */
} tessera_sched_counts;

/** Copies what the policy has done so far.
 * @param context  scheduling context; 0: StarPU's first one
 * @param counts   receives the numbers
 * @returns 0, or -1 if that context has another policy */
int tessera_sched_statistics(unsigned context, tessera_sched_counts* counts);

#ifdef __cplusplus
}
#endif
#endif
