// SPDX-License-Identifier: BSD-3-Clause
#include "outstanding.hpp"

namespace tessera::detail {

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
    STARPU_PTHREAD_COND_BROADCAST(&generation_ended_);
  }
  STARPU_PTHREAD_MUTEX_UNLOCK(&mutex_);
}

void Outstanding::wait() {
  std::map<Generation, Index> node{{0, 0}};  // allocated before the lock is taken
  STARPU_PTHREAD_MUTEX_LOCK(&mutex_);
  const auto last = newest_;
  if (of_newest_ > 0) {
    auto entry = node.extract(node.begin());
    entry.key() = last, entry.mapped() = std::exchange(of_newest_, 0);
    older_.insert(std::move(entry));
    newest_++;
  }
  while (!older_.empty() && older_.begin()->first <= last) STARPU_PTHREAD_COND_WAIT(&generation_ended_, &mutex_);
  STARPU_PTHREAD_MUTEX_UNLOCK(&mutex_);
}

}  // namespace tessera::detail
