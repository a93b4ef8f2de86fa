// SPDX-License-Identifier: BSD-3-Clause
// The policy's interface: StarPU's hooks, the functions that StarPU looks up in a library named by STARPU_SCHED_LIB,
// and <tessera/sched.h>.
#include <starpu.h>
#include <starpu_scheduler.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include <tessera/sched.h>

#include "policy.hpp"
#include "tile_hints.hpp"
#include "wont_use.hpp"

namespace {

using tessera::scheduler::allow_fetching;
using tessera::scheduler::options_from_environment;
using tessera::scheduler::plan_result;
using tessera::scheduler::Policy;
using tessera::scheduler::suggest_home;
using tessera::scheduler::wont_use;

/// Whether a context has this policy now. Another thread may be creating or deleting the context, so its data and
/// StarPU's description of its policy must not be looked at.
std::array<std::atomic<bool>, STARPU_NMAX_SCHED_CTXS> is_ours;
/// Held while contexts get or lose the policy, and while the policies forget a tile.
std::mutex changing;

Policy& policy_of(unsigned context) { return *static_cast<Policy*>(starpu_sched_ctx_get_policy_data(context)); }

void init(unsigned context) {
  if (starpu_sched_ctx_min_priority_is_set(context) == 0)
    starpu_sched_ctx_set_min_priority(context, std::numeric_limits<int>::min());
  if (starpu_sched_ctx_max_priority_is_set(context) == 0)
    starpu_sched_ctx_set_max_priority(context, std::numeric_limits<int>::max());
  starpu_sched_ctx_set_policy_data(context, new Policy(context, options_from_environment()));
  const std::lock_guard lock(changing);
  is_ours[context] = true;
}

void deinit(unsigned context) {
  auto* const policy = &policy_of(context);
  {
    const std::lock_guard lock(changing);
    is_ours[context] = false;
  }
  delete policy;
}

/// Reports the end of a task. StarPU reports no ends of its internal tasks to the policy, for example of those that
/// `starpu_data_cpy` and reductions submit, but it calls the epilogue of every task. `push` sets this one if a task has
/// none; the ends of the others are reported by `ends`.
void epilogue(void*) {
  auto* const task = starpu_task_get_current();
  policy_of(task->sched_ctx).ends(task, starpu_worker_get_id());
}

/// The epilogue that the program has given a task of a transaction.
struct OwnEpilogue {
  starpu_task* task;
  void (*function)(void*);
  void* argument;
};

/// Reports the end of a task whose transaction has been cancelled. StarPU neither pushes such a task nor reports its
/// end, although it has been submitted to the policy, but it calls the epilogue of every task.
void epilogue_in_transaction(void* own_epilogue) {
  const std::unique_ptr<const OwnEpilogue> own(static_cast<OwnEpilogue*>(own_epilogue));
  auto* const task = own->task;
  task->epilogue_callback_func = own->function, task->epilogue_callback_arg = own->argument;
  if (own->function != nullptr) own->function(own->argument);
  const bool cancelled = task->where == STARPU_NOWHERE;
  if (cancelled) policy_of(task->sched_ctx).ends(task, tessera::scheduler::no_worker);
}

void report_if_cancelled(starpu_task* task) {
  task->epilogue_callback_arg = new OwnEpilogue{task, task->epilogue_callback_func, task->epilogue_callback_arg};
  task->epilogue_callback_func = epilogue_in_transaction;
}

int push(starpu_task* task) {
  if (task->epilogue_callback_func == nullptr) task->epilogue_callback_func = epilogue;
  policy_of(task->sched_ctx).push(task);
  return 0;
}

starpu_task* pop(unsigned context) { return policy_of(context).pop(starpu_worker_get_id_check()); }

std::atomic<void (*)()> on_submission = nullptr;

std::atomic<std::uint64_t> other_tasks = 0;

bool is_other(const starpu_task& task) {
  if (task.sched_data == &tessera_sched_tile_task || task.type != STARPU_TASK_TYPE_NORMAL) return false;
  // To wait for several tasks, StarPU submits an empty task. Only its name distinguishes it from the program's tasks.
  return task.cl != nullptr || task.name == nullptr || !std::string_view(task.name).starts_with("_starpu_");
}

void submitted(starpu_task* task) {
  if (is_other(*task)) other_tasks++;
  if (auto* hook = on_submission.load(std::memory_order_relaxed); hook != nullptr) hook();
  if (policy_of(task->sched_ctx).submitted(task) && task->transaction != nullptr) report_if_cancelled(task);
}

void starts(starpu_task* task, unsigned context) { policy_of(context).starts(task, starpu_worker_get_id_check()); }

void ends(starpu_task* task, unsigned context) {
  if (task->epilogue_callback_func != epilogue) policy_of(context).ends(task, starpu_worker_get_id());
  else task->epilogue_callback_func = nullptr;  // called already; the program may submit the task again
}

void add_workers(unsigned context, int* workers, unsigned count) { policy_of(context).add_workers(workers, count); }

void remove_workers(unsigned context, int* workers, unsigned count) {
  policy_of(context).remove_workers(workers, count);
}

starpu_sched_policy make_policy() {
  starpu_sched_policy policy{};
  policy.init_sched = init;
  policy.deinit_sched = deinit;
  policy.push_task = push;
  policy.pop_task = pop;
  policy.submit_hook = submitted;
  policy.pre_exec_hook = starts;
  policy.post_exec_hook = ends;
  policy.add_workers = add_workers;
  policy.remove_workers = remove_workers;
  policy.prefetches = 1;
  policy.policy_name = "tessera";
  policy.policy_description = "two-level tile cache, reservation stations, work stealing";
  policy.worker_type = STARPU_WORKER_LIST;
  return policy;
}

starpu_sched_policy policy = make_policy();

}  // namespace

extern "C" {

char tessera_sched_tile_task = 0;

uint64_t tessera_sched_other_tasks(void) { return other_tasks; }

starpu_sched_policy* tessera_sched_policy(void) { return &policy; }

const char* tessera_sched_check_options(void) {
  thread_local std::string refusal;
  try {
    options_from_environment();
    return nullptr;
  } catch (const std::invalid_argument& error) {
    refusal = error.what();
    return refusal.c_str();
  }
}

void tessera_sched_suggest_home(starpu_data_handle_t tile, int worker) { suggest_home(tile, worker); }

void tessera_sched_plan_result(starpu_data_handle_t tile, int planned) { plan_result(tile, planned != 0); }

void tessera_sched_allow_fetching(starpu_data_handle_t tile) { allow_fetching(tile); }

void tessera_sched_wont_use(starpu_data_handle_t tile) { wont_use(tile); }

void tessera_sched_forget(starpu_data_handle_t tile) {
  const std::lock_guard lock(changing);
  for (unsigned context = 0; context < is_ours.size(); context++)
    if (is_ours[context]) policy_of(context).forget(tile);
}

void tessera_sched_on_submission(void (*hook)(void)) { on_submission = hook; }

int tessera_sched_statistics(unsigned context, tessera_sched_counts* counts) {
  if (context >= STARPU_NMAX_SCHED_CTXS || !is_ours[context]) return -1;
  if (counts != nullptr) *counts = policy_of(context).statistics();
  return 0;
}

// StarPU looks up these two functions.

starpu_sched_policy* starpu_get_sched_lib_policy(const char* name) {
  if (std::strcmp(name, policy.policy_name) != 0) return nullptr;
  if (const char* refusal = tessera_sched_check_options(); refusal != nullptr) {
    std::fprintf(stderr, "tessera scheduling policy: %s\n", refusal);
    return nullptr;
  }
  return &policy;
}

starpu_sched_policy** starpu_get_sched_lib_policies(void) {
  static starpu_sched_policy* policies[] = {&policy, nullptr};
  return policies;
}
}
