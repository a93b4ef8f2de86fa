// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>

#include "meeting.hpp"
#include "memory/staging/thread_pool.hpp"

/// Shared by the tests of the thread pool: jobs, and a copier that counts copies. The counters are not atomic, so the
/// thread sanitizer reports pieces that are copied twice or that are incomplete when `run` returns.
namespace tessera::test {

struct Job {
  explicit Job(int pieces) : copies(static_cast<std::size_t>(pieces)) {}

  int piece_count() const { return static_cast<int>(copies.size()); }
  void select_device() const { on_select(); }
  bool is_mine() const { return std::this_thread::get_id() == poster; }

  mutable std::vector<int> copies;                 ///< number of copies of each piece
  mutable std::atomic<bool> poster_ready = false;  ///< the posting thread has found no more pieces
  std::thread::id poster = std::this_thread::get_id();
  std::function<void(int piece)> on_piece = [](int) {};  ///< called before the piece counts as copied
  std::function<void()> on_select = [] {}, on_prepare = [] {};
};

struct Copier {
  using Job = test::Job;
  static inline std::atomic<int> alive = 0, refused = 0;
  static inline std::atomic<bool> refuse = false;  ///< no more copiers can be made

  Copier() {
    if (refuse) {
      refused++;
      throw std::bad_alloc();
    }
    alive++;
  }
  ~Copier() { alive--; }
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  void prepare(const Job& job) { job.on_prepare(); }
  void copy(const Job& job, memory::staging::Pieces& pieces) {
    EXPECT_FALSE(std::exchange(in_use, true)) << "two threads use one copier";
    const std::unique_ptr<bool, void (*)(bool*)> done(&in_use, [](bool* used) { *used = false; });
    while (const auto piece = pieces.take()) {
      job.on_piece(*piece);
      job.copies[static_cast<std::size_t>(*piece)]++;
    }
    if (job.is_mine()) job.poster_ready = true;
  }
  bool in_use = false;
};

using ThreadPool = memory::staging::ThreadPool<Copier>;

/// Posts a job.
/// @return the message of the exception; empty if there was none
inline std::string failure_of(ThreadPool& pool, const Job& job) {
  try {
    pool.run(job);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Expects that all threads of a pool, and the one that posts, copy pieces of one job.
inline void expect_all_help(ThreadPool& pool) {
  const int threads = static_cast<int>(pool.threads()) + 1;
  Meeting meeting(threads);
  Job job(threads + 2);
  job.on_piece = [&](int) { meeting.arrive(); };
  EXPECT_EQ(failure_of(pool, job), "");
  EXPECT_THAT(job.copies, testing::Each(1));
}

/// Calls work(0), ..., work(count - 1), each in a separate thread.
template <typename Work>
void in_threads(int count, Work work) {
  std::vector<std::jthread> threads(static_cast<std::size_t>(count));
  for (int i = 0; i < count; i++) threads[static_cast<std::size_t>(i)] = std::jthread(work, i);
}

inline void wait_until_asleep(const ThreadPool& pool) {
  while (pool.asleep() < static_cast<int>(pool.threads())) std::this_thread::yield();
}

class StagingPool : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(Copier::alive, 0) << "copiers that the pool did not destroy"; }
};

}  // namespace tessera::test
