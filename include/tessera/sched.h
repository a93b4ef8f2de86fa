/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESSERA_SCHED_H
#define TESSERA_SCHED_H

#include <stdint.h>

/**
 * The scheduling policy `tessera`, for any StarPU program, in libtessera_sched.so: with
 * STARPU_SCHED_LIB=libtessera_sched.so and STARPU_SCHED=tessera, or by `tessera_sched_policy` as
 * `starpu_conf.sched_policy`. Environment variables TESSERA_SCHED_… set its options; docs/environment.md lists them.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* As StarPU's headers declare them. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
typedef struct _starpu_data_state* starpu_data_handle_t;
struct starpu_sched_policy;

/** The policy, for `starpu_conf.sched_policy`. */
struct starpu_sched_policy* tessera_sched_policy(void);

/** Why the options in the environment cannot be used, in one sentence; NULL if they can. Starting the policy with such
 * options aborts: ask first. The text lives until the calling thread asks again. */
const char* tessera_sched_check_options(void);

/** Suggests which worker shall run the tasks that write a tile. The policy follows, until stealing moves the tile. May
 * be called at any time between registration and unregistration; uses `starpu_data_set_sched_data`.
 * @param worker  StarPU's number of it; -1: none */
void tessera_sched_suggest_home(starpu_data_handle_t tile, int worker);

/** Has a function called by whoever submits a task, before the policy sees it. For those who pause StarPU's workers,
 * and must know when others need them. There is one in the process; NULL: none. It must not submit tasks. */
void tessera_sched_on_submission(void (*hook)(void));

/** What the policy has done since StarPU started, over all workers. */
typedef struct tessera_sched_counts {
  uint64_t tasks;        /**< handed to workers */
  uint64_t own_tiles;    /**< tiles that tasks read and found in the worker's own memory when they were reserved, */
  uint64_t peer_tiles;   /**< in the memory of a GPU that it can copy from as fast as from the host, */
  uint64_t far_tiles;    /**< or neither */
  uint64_t steals;       /**< tasks taken from another worker */
  double idle_for_tasks; /**< seconds that workers had nothing to do, */
  double idle_for_data;  /**< or had it, and waited for its tiles */
  double in_push;        /**< seconds that the policy itself took to queue those tasks, */
  double in_pop;         /**< and to hand them out, all threads together */
} tessera_sched_counts;

/** @param context  scheduling context; 0: StarPU's first one
 * @returns 0, or -1 if that context has another policy */
int tessera_sched_statistics(unsigned context, tessera_sched_counts* counts);

#ifdef __cplusplus
}
#endif
#endif
