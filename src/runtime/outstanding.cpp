// SPDX-License-Identifier: BSD-3-Clause
#include "outstanding.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "common/not_copyable.hpp"

namespace tessera::runtime {

/// Lets a waiting thread poll for the end for a limited time before it sleeps. Waking up delays short calls noticeably;
/// polling through long calls would waste a core. Only one thread polls at a time, because more of them would take
/// cores from the threads that they wait for.
class Outstanding::Look : NotCopyable {
  using Clock = std::chrono::steady_clock;

 public:
  explicit Look(std::chrono::milliseconds limit)
      : looks_(limit.count() > 0 && !one_looks.exchange(true)),
        end_(looks_ ? Clock::now() + limit : Clock::time_point{}) {}
  ~Look() {
    if (looks_) one_looks = false;
  }

  bool goes_on() const { return looks_ && Clock::now() < end_; }

 private:
  static inline std::atomic<bool> one_looks = false;
  const bool looks_;
  const Clock::time_point end_;
};

Outstanding::Outstanding() {
  STARPU_PTHREAD_MUTEX_INIT(&mutex_, NULL);
  STARPU_PTHREAD_COND_INIT(&generation_ended_, NULL);
}

Outstanding::~Outstanding() {
  STARPU_PTHREAD_COND_DESTROY(&generation_ended_);
  STARPU_PTHREAD_MUTEX_DESTROY(&mutex_);
}

Outstanding::Generation Outstanding::begin() noexcept {
  STARPU_PTHREAD_MUTEX_LOCK(&mutex_);
  const auto generation = newest_;
  of_newest_++;
  STARPU_PTHREAD_MUTEX_UNLOCK(&mutex_);
  return generation;
}

void Outstanding::end(Generation generation) noexcept {
  STARPU_PTHREAD_MUTEX_LOCK(&mutex_);
  if (generation == newest_) {
    of_newest_--;
  } else if (const auto found = older_.find(generation); --found->second == 0) {
    older_.erase(found);
    ended_++;
    STARPU_PTHREAD_COND_BROADCAST(&generation_ended_);
  }
  STARPU_PTHREAD_MUTEX_UNLOCK(&mutex_);
}

bool Outstanding::all_have_ended() noexcept {
  if (starpu_pthread_mutex_trylock(&mutex_) != 0) return false;
  const bool all = of_newest_ == 0 && older_.empty();
  STARPU_PTHREAD_MUTEX_UNLOCK(&mutex_);
  return all;
}

void Outstanding::wait([[maybe_unused]] std::chrono::milliseconds polling) {
  std::map<Generation, Index> node{{0, 0}};  // allocated before the lock is taken
  STARPU_PTHREAD_MUTEX_LOCK(&mutex_);
  const auto last = newest_;
  if (of_newest_ > 0) {
    auto entry = node.extract(node.begin());
    entry.key() = last, entry.mapped() = std::exchange(of_newest_, 0);
    older_.insert(std::move(entry));
    newest_++;
  }
#ifndef STARPU_SIMGRID  // simulated time does not advance while a thread polls
  for (const Look look(polling); !has_ended(last) && look.goes_on();) {
    const auto seen = ended_.load();
    STARPU_PTHREAD_MUTEX_UNLOCK(&mutex_);
    while (ended_ == seen && look.goes_on()) std::this_thread::yield();
    while (starpu_pthread_mutex_trylock(&mutex_) != 0)
      std::this_thread::yield();  // the thread that ended the generation still has the lock
  }
#endif
  while (!has_ended(last)) STARPU_PTHREAD_COND_WAIT(&generation_ended_, &mutex_);
  STARPU_PTHREAD_MUTEX_UNLOCK(&mutex_);
}

}  // namespace tessera::runtime
