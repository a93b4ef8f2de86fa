// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "pieces.hpp"

namespace tessera::detail::staging {

/// Where a worker that drives a GPU offers a job to the helpers. Used again and again, so that a helper may look at it
/// at any time without a lock: whoever is between `helpers++` and `helpers--` keeps it from being used for another job.
struct Offer {
  Job job;
  static constexpr int nothing = 1 << 30;
  std::atomic<int> pieces = 0;
  std::atomic<int> taken = nothing;
  std::atomic<int> helpers = 0;
  std::atomic<bool> in_use = false;
  std::mutex failing;
  std::string failure;  // guarded by failing

  bool has_work() const { return taken < pieces; }

  /// Copies pieces until none is left. The current device is the job's.
  void help(Hands& hands);
};

/// Threads that help the workers which drive the GPUs. They sleep when nothing has come for a while.
class Crew {
 public:
  /// @param most  threads
  explicit Crew(std::size_t most);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Returns when the tile is in the host's memory, or when all that brings it to the GPU is in streams that StarPU's
  /// waits for.
  /// @throws RuntimeError
  void run(const Job& job);

 private:
  std::unique_ptr<Hands> take_hands();
  Offer& free_offer();
  void serve(const std::stop_token& stop);
  /// @return false if there was nothing to do
  bool help_once(std::unique_ptr<Hands>& hands);
  bool any_work() const;
  /// Until there is something to do. Tiles follow tiles, and waking up takes long: at first without sleeping.
  void rest(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<std::unique_ptr<Hands>> spare_;  // guarded by mutex_
  std::array<Offer, 16> offers_;               ///< as many as workers may drive GPUs; with more, some wait
  std::atomic<int> asleep_ = 0;
  std::vector<std::jthread> threads_;  // last: they end before all else goes
};

}  // namespace tessera::detail::staging
