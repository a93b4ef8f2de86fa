// SPDX-License-Identifier: BSD-3-Clause
// The thread pool of the staging buffers: each piece is copied once, before `run` returns. Sleeping threads wake up.
// The pool can be destroyed at any time.
#include <pthread.h>

#include "common/pause.hpp"
#include "pool.hpp"

namespace tessera::test::thread_pool_cpp {
namespace {

using memory::staging::Pieces;
using testing::Each;
using namespace std::chrono_literals;

TEST(Pieces, AreTakenOnce) {
  Pieces pieces;
  EXPECT_FALSE(pieces.any_left());
  EXPECT_EQ(pieces.take(), std::nullopt);
  for (int round = 0; round < 2; round++) {
    pieces.open(2);
    EXPECT_TRUE(pieces.any_left());
    EXPECT_EQ(pieces.take(), 0);
    EXPECT_EQ(pieces.take(), 1);
    EXPECT_FALSE(pieces.any_left());
    EXPECT_EQ(pieces.take(), std::nullopt);
    pieces.open(2);
    pieces.close();
    EXPECT_FALSE(pieces.any_left());
    EXPECT_EQ(pieces.take(), std::nullopt);
  }
}

TEST_F(StagingPool, CopiesEachPieceOnce) {
  for (const std::size_t threads : {0, 1, 3}) {
    ThreadPool pool(threads, 0us);
    EXPECT_EQ(pool.threads(), threads);
    for (const int pieces : {0, 1, 2, 3, 17, 100}) {
      Job job(pieces);
      pool.run(job);
      EXPECT_THAT(job.copies, Each(1)) << threads << " threads, " << pieces << " pieces";
    }
  }
}

// Several threads post jobs, as threads that drive GPUs do. Every third job fails.
TEST_F(StagingPool, ThreadsPostAtTheSameTime) {
  ThreadPool pool(3, 0us);
  const auto post = [&](int poster) {
    for (int number = 0; number < 1500; number++) {
      const int count = 1 + (number * 7 + poster) % 13, bad = number % 3 == 0 ? number % count : -1;
      const auto name = std::to_string(poster) + ":" + std::to_string(number);
      Job job(count);
      job.on_piece = [&](int piece) {
        if (piece == bad) throw std::runtime_error(name);
      };
      EXPECT_EQ(failure_of(pool, job), bad < 0 ? "" : name);
      if (bad < 0) EXPECT_THAT(job.copies, Each(1)) << name;
      else EXPECT_THAT(job.copies, Each(testing::Le(1))) << name;
    }
  };
  in_threads(6, post);
}

TEST_F(StagingPool, MoreJobsThanSlotsWaitForOneAnother) {
  constexpr int slots = static_cast<int>(ThreadPool::max_jobs);
  for (const std::size_t threads : {0, 2}) {
    ThreadPool pool(threads, 0us);
    Meeting slots_are_full(slots);
    std::atomic<int> active = 0, most = 0;
    const auto post = [&](int) {
      Job job(1);
      job.on_piece = [&](int) {
        const int now = ++active;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        slots_are_full.arrive();
        std::this_thread::yield();
        active--;
      };
      EXPECT_EQ(failure_of(pool, job), "");
      EXPECT_THAT(job.copies, Each(1));
    };
    in_threads(slots + 8, post);
    EXPECT_EQ(most, slots);
  }
}

TEST_F(StagingPool, RunWaitsForPiecesOfPoolThreads) {
  std::vector<std::unique_ptr<Job>> jobs;  // outlive the pool, to detect a copy that ends too late
  ThreadPool pool(2);
  for (int round = 0; round < 10 && !HasFailure(); round++) {
    Meeting meeting(3);
    auto& job = *jobs.emplace_back(std::make_unique<Job>(3));
    job.on_piece = [&](int) {
      meeting.arrive();
      if (job.is_mine()) return;
      while (!job.poster_ready) std::this_thread::yield();
      for (int i = 0; i < 10; i++) std::this_thread::yield();
    };
    pool.run(job);
    ASSERT_THAT(job.copies, Each(1));
  }
}

TEST_F(StagingPool, SleepingThreadsWakeUp) {
  ThreadPool pool(3, 0us);
  for (int round = 0; round < 100 && !HasFailure(); round++) {
    wait_until_asleep(pool);
    expect_all_help(pool);
  }
}

// Jobs are posted at any time while the thread falls asleep.
TEST_F(StagingPool, NoWakeUpIsLost) {
  ThreadPool pool(1, 0us);
  for (int round = 0; round < 3000 && !HasFailure(); round++) {
    for (int i = 0; i < round % 300; i++) common::pause();
    expect_all_help(pool);
  }
}

TEST_F(StagingPool, EndsAtAnyTime) {
  for (int round = 0; round < 100 && !HasFailure(); round++) {
    ThreadPool just_started(2, 0us);
    ThreadPool spinning(2);
    ThreadPool after_work(2, 0us);
    ThreadPool asleep(2, 0us);
    Job job(4);
    after_work.run(job);
    EXPECT_THAT(job.copies, Each(1));
    wait_until_asleep(asleep);
  }
}

/// Makes the system refuse further threads, with a default stack that no address space can hold.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 52);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST_F(StagingPool, CopiesWithoutThreads) {
  const NoMoreThreads none;
  ASSERT_THROW(std::jthread([] {}), std::system_error);
  ThreadPool pool(3);
  EXPECT_EQ(pool.threads(), 0);
  expect_all_help(pool);
}

TEST_F(StagingPool, PostingThreadsReuseCopiers) {
  ThreadPool pool(0);
  for (int number = 0; number < 10; number++) {
    Job job(2);
    pool.run(job);
  }
  EXPECT_EQ(Copier::alive, 1);
}

}  // namespace
}  // namespace tessera::test::thread_pool_cpp
