// SPDX-License-Identifier: BSD-3-Clause
// Failures in the thread pool of the staging buffers. A failure is thrown once, in the thread that posted the job, and
// in no other thread. The pool keeps working.
#include <cstdint>

#include "pool.hpp"

namespace tessera::test::thread_pool_failures_cpp {
namespace {

using testing::Each;
using namespace std::chrono_literals;

TEST_F(StagingPool, FailuresOfThePostingThread) {
  ThreadPool pool(0);
  for (int bad = 0; bad < 5; bad++) {
    Job job(5);
    job.on_piece = [&](int piece) {
      if (piece == bad) throw std::runtime_error("piece " + std::to_string(piece));
    };
    EXPECT_EQ(failure_of(pool, job), "piece " + std::to_string(bad));
    for (int piece = 0; piece < 5; piece++) EXPECT_EQ(job.copies[static_cast<std::size_t>(piece)], piece < bad);
    Job next(5);
    EXPECT_EQ(failure_of(pool, next), "");
    EXPECT_THAT(next.copies, Each(1));
  }
}

TEST_F(StagingPool, FailureOfAPoolThread) {
  ThreadPool pool(1, 0us);
  for (int round = 0; round < 100 && !HasFailure(); round++) {
    Meeting meeting(2);
    Job job(5);
    job.on_piece = [&](int) {
      meeting.arrive();
      if (!job.is_mine()) throw std::runtime_error("the pool thread");
    };
    EXPECT_EQ(failure_of(pool, job), "the pool thread");
    EXPECT_THAT(job.copies, Each(testing::Le(1)));
    EXPECT_THAT(job.copies, testing::Contains(0));
    expect_all_help(pool);
  }
}

TEST_F(StagingPool, NoPieceIsTakenAfterAFailure) {
  ThreadPool pool(1, 0us);
  Meeting meeting(2);
  Job job(5);
  std::atomic<int> prepared = 0;
  job.on_select = [&] { prepared++; };
  job.on_piece = [&](int) {
    meeting.arrive();
    if (!job.is_mine()) throw std::runtime_error("the pool thread");
    wait_until_asleep(pool);
  };
  EXPECT_EQ(failure_of(pool, job), "the pool thread");
  EXPECT_EQ(std::ranges::count(job.copies, 1), 1);
  EXPECT_EQ(prepared, 1);
}

TEST_F(StagingPool, FailureOfThePostingThreadWhileOthersCopy) {
  std::vector<std::unique_ptr<Job>> jobs;  // outlive the pool, as above
  ThreadPool pool(2, 0us);
  for (int round = 0; round < 10 && !HasFailure(); round++) {
    Meeting meeting(3);
    auto& job = *jobs.emplace_back(std::make_unique<Job>(5));
    std::atomic<int> copied = 0;
    job.on_piece = [&](int) {
      meeting.arrive();
      if (job.is_mine()) throw std::runtime_error("the posting thread");
      for (int i = 0; i < 10; i++) std::this_thread::yield();
      copied++;
    };
    ASSERT_EQ(failure_of(pool, job), "the posting thread");
    int counted = 0;
    for (const int copies : job.copies) counted += copies;
    ASSERT_EQ(counted, copied);
    expect_all_help(pool);
  }
}

TEST_F(StagingPool, OneFailureOfSeveralArrives) {
  ThreadPool pool(3, 0us);
  for (int round = 0; round < 50 && !HasFailure(); round++) {
    Meeting meeting(4);
    Job job(8);
    job.on_piece = [&](int) {
      meeting.arrive();
      throw std::runtime_error("each thread");
    };
    EXPECT_EQ(failure_of(pool, job), "each thread");
    EXPECT_THAT(job.copies, Each(0));
    expect_all_help(pool);
  }
}

TEST_F(StagingPool, ExceptionsKeepTheirType) {
  ThreadPool pool(1, 0us);
  Meeting meeting(2);
  Job job(2);
  job.on_piece = [&](int) {
    meeting.arrive();
    if (!job.is_mine()) throw std::int64_t{42};
  };
  EXPECT_THROW(pool.run(job), std::int64_t);
  job.on_piece = [&](int) { throw std::runtime_error(""); };
  EXPECT_THROW(pool.run(job), std::runtime_error) << "an exception without words";
}

TEST_F(StagingPool, ThreadsThatCannotSelectTheDeviceDoNotHelp) {
  ThreadPool pool(1, 0us);
  Meeting meeting(2);
  Job job(5);
  job.on_piece = [&](int) {
    EXPECT_TRUE(job.is_mine());
    meeting.arrive();
  };
  job.on_select = [&] {
    meeting.arrive();
    throw std::runtime_error("no device");
  };
  EXPECT_EQ(failure_of(pool, job), "");
  EXPECT_THAT(job.copies, Each(1));
  expect_all_help(pool);
}

TEST_F(StagingPool, ThreadsWithoutACopierDoNotHelp) {
  ThreadPool pool(1, 0us);
  Job job(5);
  job.on_piece = [&](int) {
    EXPECT_TRUE(job.is_mine());
    while (Copier::refused == 0) std::this_thread::yield();
  };
  job.on_select = [] { Copier::refuse = true; };
  EXPECT_EQ(failure_of(pool, job), "");
  EXPECT_THAT(job.copies, Each(1));
  Copier::refuse = false;
  expect_all_help(pool);
}

TEST_F(StagingPool, ThreadsThatCannotPrepareDoNotHelp) {
  ThreadPool pool(1, 0us);
  Job job(5);
  std::atomic<bool> refused = false;
  job.on_prepare = [&] {
    if (job.is_mine()) return;
    refused = true;
    throw std::bad_alloc();
  };
  job.on_piece = [&](int) {
    EXPECT_TRUE(job.is_mine());
    while (!refused) std::this_thread::yield();
  };
  EXPECT_EQ(failure_of(pool, job), "");
  EXPECT_THAT(job.copies, Each(1));
  expect_all_help(pool);
}

TEST_F(StagingPool, PostingThreadThatCannotPrepare) {
  ThreadPool pool(1, 0us);
  Job job(2);
  job.on_prepare = [] { throw std::bad_alloc(); };
  EXPECT_THROW(pool.run(job), std::bad_alloc);
  EXPECT_THAT(job.copies, Each(0));
  expect_all_help(pool);
}

TEST_F(StagingPool, PostingThreadWithoutACopier) {
  ThreadPool pool(1, 0us);
  Job job(2);
  Copier::refuse = true;
  EXPECT_THROW(pool.run(job), std::bad_alloc);
  EXPECT_THAT(job.copies, Each(0));
  Copier::refuse = false;
  expect_all_help(pool);
}

}  // namespace
}  // namespace tessera::test::thread_pool_failures_cpp
