/* SPDX-License-Identifier: BSD-3-Clause */
/* Your own scheduling policy: a single queue for all workers, first in, first out. docs/own-policy.md explains how to
 * compile it and how to run Tessera with it. */
#include <starpu.h>
#include <starpu_scheduler.h>
#include <stdlib.h>
#include <string.h>

struct fifo {
  starpu_pthread_mutex_t mutex;
  struct starpu_task_list tasks;
};

static void init(unsigned context) {
  struct fifo* fifo = malloc(sizeof *fifo);
  STARPU_PTHREAD_MUTEX_INIT(&fifo->mutex, NULL);
  starpu_task_list_init(&fifo->tasks);
  starpu_sched_ctx_set_policy_data(context, fifo);
}

static void deinit(unsigned context) { free(starpu_sched_ctx_get_policy_data(context)); }

static struct fifo* lock(unsigned context) {
  struct fifo* fifo = starpu_sched_ctx_get_policy_data(context);
  starpu_worker_relax_on(); /* other threads may interrupt this worker while it waits for the lock */
  STARPU_PTHREAD_MUTEX_LOCK(&fifo->mutex);
  starpu_worker_relax_off();
  return fifo;
}

/* StarPU calls this when all dependencies of a task are fulfilled. */
static int push(struct starpu_task* task) {
  struct fifo* fifo = lock(task->sched_ctx);
  starpu_task_list_push_back(&fifo->tasks, task);
  starpu_push_task_end(task);
  STARPU_PTHREAD_MUTEX_UNLOCK(&fifo->mutex);
  for (unsigned worker = 0; worker < starpu_worker_get_count(); worker++) starpu_wake_worker_relax_light(worker);
  return 0;
}

/* A worker asks for a task. Returns the first that it can execute, or NULL. */
static struct starpu_task* pop(unsigned context) {
  const unsigned worker = starpu_worker_get_id_check();
  struct fifo* fifo = lock(context);
  struct starpu_task* task = starpu_task_list_begin(&fifo->tasks);
  while (task != NULL && !starpu_worker_can_execute_task_first_impl(worker, task, NULL))
    task = starpu_task_list_next(task);
  if (task != NULL) starpu_task_list_erase(&fifo->tasks, task);
  STARPU_PTHREAD_MUTEX_UNLOCK(&fifo->mutex);
  return task;
}

static struct starpu_sched_policy policy = {
    .policy_name = "fifo",
    .init_sched = init,
    .deinit_sched = deinit,
    .push_task = push,
    .pop_task = pop,
    .worker_type = STARPU_WORKER_LIST,
};

/* StarPU looks up these two functions in the library. */
struct starpu_sched_policy* starpu_get_sched_lib_policy(const char* name) {
  return strcmp(name, policy.policy_name) == 0 ? &policy : NULL;
}
struct starpu_sched_policy** starpu_get_sched_lib_policies(void) {
  static struct starpu_sched_policy* all[] = {&policy, NULL};
  return all;
}
