// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <tessera/sched.h>

#include "chains.hpp"
#include "fetching.hpp"
#include "lock.hpp"
#include "options.hpp"
#include "pace.hpp"
#include "ready_queue.hpp"
#include "tile_cache.hpp"
#include "worker.hpp"

namespace tessera::scheduler {

/// The policy in one scheduling context: a shared queue, and for each worker the tasks that are bound to it and a
/// reservation station. Source of the idea: BLASX (Wang et al., ICS 2016).
class Policy {
 public:
  Policy(unsigned context, Options options);

  // StarPU's hooks.
  void submitted(starpu_task* task);
  void push(starpu_task* task);
  starpu_task* pop(int worker);
  void starts(starpu_task* task, int worker);
  void ends(starpu_task* task, int worker);
  void add_workers(const int* workers, unsigned count);
  void remove_workers(const int* workers, unsigned count);

  tessera_sched_counts statistics();

 private:
  struct Found {
    ReadyQueue* queue;
    ReadyQueue::Tasks::const_iterator position;
    std::size_t score;
  };
  /// Tasks that nobody is home to, by who can execute them: so that no worker meets many that it cannot.
  using SharedQueues = std::map<std::pair<Kinds, std::vector<int>>, ReadyQueue>;

  ReadyTask describe(starpu_task* task) const;
  static bool can_execute(const Worker& worker, const ReadyTask& task);
  bool has_room_for(const Worker& worker, const ReadyTask& task) const;
  std::size_t ahead(const Worker& worker) const;
  bool may_fetch_ahead(const Worker& worker, const ReadyTask& task) const;
  void place(const ReadyTask& task);
  void share(const ReadyTask& task);
  static bool is_idle(const Worker& worker);
  bool awaited_by_a_peer(const Worker& worker, starpu_data_handle_t tile) const;
  void forget(const Worker::Given& given);
  std::vector<int> wake(const ReadyTask& task);
  std::vector<int> wake_all(bool only_waiting, int caller);

  void add(int id);
  void remove(Worker& worker);
  ReadyTask take_from(Worker& worker, std::size_t slot);
  void hand_back(Worker& worker);
  void remove_those_that_left();
  void refill(Worker& worker);
  bool is_wide(const Worker& worker, const ReadyTask& task) const;
  void compare(const Worker& worker, ReadyQueue& queue, bool worthwhile, std::optional<Found>& best) const;
  std::optional<Found> look_for(Worker& worker, bool worthwhile);
  void decline(Worker& worker);
  std::optional<ReadyTask> best_for(Worker& worker);
  bool leave_to_faster(const Worker& worker, const ReadyTask& task) const;
  std::optional<ReadyTask> steal(Worker& thief);
  double seconds(const Worker& worker, starpu_task* task) const;
  void count_hits(const Worker& worker, starpu_task* task);
  void count_idle(Worker& worker);

  unsigned context_;
  Options options_;
  Mutex mutex_;
  std::optional<TileCache> cache_;                 ///< once the links are known
  std::vector<std::unique_ptr<Worker>> workers_;   ///< by StarPU's number; null: never was in this context
  std::vector<Worker*> members_;                   ///< those that are in it now
  std::vector<std::vector<const Worker*>> kinds_;  ///< the same, by kind
  double looked_for_leavers_ = 0;                  ///< [s]
  SharedQueues shared_;
  std::size_t shared_tasks_ = 0;
  std::atomic<std::size_t> waiting_ = 0;  ///< tasks in all queues and stations
  Chains chains_;
  AbandonedTiles abandoned_;
  Pace pace_;
  std::unordered_map<const starpu_task*, unsigned long> order_;  ///< of the tasks that are not finished
  unsigned long submitted_ = 0;
  tessera_sched_counts statistics_{};
  int fetching_ = nobody;  ///< the one of the workers with narrow memories that fetches tiles now
  bool declined_ = false;  ///< a task was left to faster workers: they must hear of it
};

}  // namespace tessera::scheduler
