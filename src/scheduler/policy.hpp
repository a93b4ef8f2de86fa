// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <tessera/sched.h>

#include "ideas/state.hpp"
#include "lock.hpp"
#include "starpu_backend.hpp"

namespace tessera::scheduler {

/// The policy in one scheduling context. It holds the lock, calls the ideas, and acts on their results: it requests
/// tiles and wakes workers.
class Policy {
 public:
  Policy(unsigned context, const Options& options);

  // StarPU's hooks.
  bool submitted(starpu_task* task);  ///< @return  whether the policy counts the task, so that its end must be told
  void push(starpu_task* task);
  starpu_task* pop(int worker);
  void starts(starpu_task* task, int worker);
  void ends(starpu_task* task, int worker);
  void add_workers(const int* workers, unsigned count);
  void remove_workers(const int* workers, unsigned count);

  /// Call this when a tile ends. It does not take the policy's lock, because StarPU's lock of the tile is held.
  void forget(starpu_data_handle_t tile) { state_.abandoned.forget(id_of(tile)); }
  tessera_sched_counts statistics();

 private:
  void add(int worker);
  void find_device(Worker& worker);
  void request(Worker& worker, const Prefetches& prefetches);

  unsigned context_;
  StarpuBackend backend_;
  Mutex mutex_;
  State state_;
  bool links_known_ = false, said_too_large_ = false;
};

}  // namespace tessera::scheduler
