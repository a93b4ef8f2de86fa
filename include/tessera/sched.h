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

/** Checks the options in the environment. Returns NULL if they are legal, or else one sentence that explains the
 * mistake. Starting the policy with illegal options aborts, so call this first. The text is valid until the calling
 * thread calls this again. */
const char* tessera_sched_check_options(void);

/** Suggests a home for a tile: the worker that should run the tasks that write it. The home changes only if another
 * worker steals the tile. Call this at any time between registration and unregistration of the tile. It uses
 * `starpu_data_set_sched_data`.
 * @param tile    the handle of the tile
 * @param worker  StarPU's number of the worker; -1: no home */
void tessera_sched_suggest_home(starpu_data_handle_t tile, int worker);

/** Marks a tile as part of a block of results whose memory the program has planned. The tile's home may then start to
 * compute it as long as incomplete results fill less than three quarters of the home's memory; for unmarked tiles, the
 * limit is the option `results`. The policy reads the mark when a task that writes the tile is submitted, and remembers
 * it until all such tasks have run. A routine therefore marks its tiles, submits its tasks, and removes the marks, so
 * that other routines keep the limit. It uses `starpu_data_set_sched_data`.
 * @param tile     the handle of the tile
 * @param planned  0: removes the mark; any other value: sets it */
void tessera_sched_plan_result(starpu_data_handle_t tile, int planned);

/** Lets the policy prefetch this tile for a task that still waits until another of its tiles has arrived at a peer.
 * Without this call, all tiles that the task reads are prefetched together when that wait is over.
 *
 * Call this at any time between registration and unregistration of the tile. It uses `starpu_data_set_sched_data`. The
 * program may invalidate or partition the tile at any time.
 *
 * @param tile  the handle of the tile */
void tessera_sched_allow_fetching(starpu_data_handle_t tile);

/** Tells the policy that no task will use a tile for a long time after the tasks submitted so far. When these have
 * ended, the tile is copied to its home memory as soon as the links are idle, and GPUs evict it before tiles that they
 * may need. The call has no effect on a tile without a home memory or a value. It works under every policy.
 *
 * For StarPU, the call is one more access to the tile. Call it from a thread that submits tasks; it does not wait.
 * Afterwards, the program may use the tile in any way, for example invalidate, partition or unregister it. Later tasks
 * that use the tile wait for the earlier tasks, even if all of them only read it.
 *
 * @param tile  the handle of the tile, with sequential consistency (StarPU's default) and no arbiter. If the tile is
 * partitioned, call this for its pieces; a call for the tile itself then ends the program */
void tessera_sched_wont_use(starpu_data_handle_t tile);

/** Lets the policy forget a tile that ends. Without this call, it may remember for some memory nodes that StarPU counts
 * the tile as needed there, until a task reads another tile with the same handle. Call this in
 * `starpu_data_interface_ops.unregister_data_handle`; Tessera does so for its tiles.
 * @param tile  the handle of the tile */
void tessera_sched_forget(starpu_data_handle_t tile);

/** Sets a function that each thread calls when it submits a task, before the policy sees the task. A program that
 * pauses StarPU's workers can use it to resume them in time. The process has only one such function.
 * @param hook  the function, which must not submit tasks; NULL: none */
void tessera_sched_on_submission(void (*hook)(void));

/** Marks Tessera's tile tasks: the value of `starpu_task.sched_data` when they are submitted to this policy. */
extern char tessera_sched_tile_task;

/** Returns the number of tasks submitted to the policy, except Tessera's tile tasks and StarPU's own tasks. */
uint64_t tessera_sched_other_tasks(void);

/** Counts of the policy since StarPU started, summed over all workers. */
typedef struct tessera_sched_counts {
  uint64_t tasks;        /**< tasks handed to workers */
  uint64_t own_tiles;    /**< tiles read that were in the worker's own memory when the task was reserved */
  uint64_t peer_tiles;   /**< tiles read that were at a peer: a GPU from which copies are as fast as from the host */
  uint64_t far_tiles;    /**< all other tiles read */
  uint64_t steals;       /**< tasks taken from another worker */
  double idle_for_tasks; /**< seconds in which workers had nothing to do */
  double idle_for_data;  /**< seconds in which GPUs had tasks but waited for their tiles */
  double in_push;        /**< seconds that the policy itself took to queue tasks, all threads together */
  double in_pop;         /**< seconds that the policy itself took to hand out tasks, all threads together */
} tessera_sched_counts;

/** Gets the counts of the policy.
 * @param context  StarPU's scheduling context; 0: the initial one
 * @param counts   receives the counts, for which no other thread may be deleting the context; NULL: only the result is
 *                 of interest
 * @returns 0, or -1 if that context has another policy */
int tessera_sched_statistics(unsigned context, tessera_sched_counts* counts);

#ifdef __cplusplus
}
#endif
#endif
