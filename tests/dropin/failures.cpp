// SPDX-License-Identifier: BSD-3-Clause
// Devices that cannot start, or that fail in the middle of a call. Every result is right, one line reports the failure,
// and the host computes all later calls. The tests place another library instead of libtessera.so next to a copy of
// libtessera_blas.so.
#include <thread>

#include "beside.hpp"
#include "products.hpp"

namespace tessera::test::failures_cpp {
namespace {

namespace fs = std::filesystem;

const Scenario calls{"three calls", [] {
                       require(product_is_right(100), "the first");
                       require(solution_is_right(100), "the second");
                       require(update_is_right(100), "the third");
                       return 0;
                     }};

void expect_host(const Ended& ended, const std::string& why) {
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, why));
  EXPECT_EQ(ended.calls("host"), 3) << ended;
  EXPECT_EQ(ended.calls("devices"), 0) << ended;
  EXPECT_THAT(ended.said("trouble"), ::testing::HasSubstr(why));
}

TEST(Failures, DevicesThatDoNotStart) {
  expect_host(run_with_fake("refuse", calls), "on strike");
  EXPECT_TRUE(has_ended_silently(run_with_fake("refuse", calls, {{"TESSERA_QUIET", "1"}})));
}

TEST(Failures, DevicesThatFailInACall) {
  for (const char* after : {"0", "1", "2"}) {
    expect_host(run_with_fake(after, calls), "a fake has burnt out");
    EXPECT_TRUE(has_ended_silently(run_with_fake(after, calls, {{"TESSERA_QUIET", "1"}})));
  }
}

constexpr int large = 1500;  // large enough that threads copy the overwritten operands during the call
const Scenario late[] = {{"a large product", [] { return require(product_is_right(large), "the product"), 0; }},
                         {"a large update", [] { return require(update_is_right(large), "the update"), 0; }},
                         {"a large solution", [] { return require(solution_is_right(large), "the solution"), 0; }}};

/// The devices overwrite much of the result, and then fail.
TEST(Failures, LateInALargeCall) {
  for (const auto& scenario : late)
    for (int repeat = 0; repeat < 3; repeat++) {
      const auto ended = run_with_fake("0", scenario);
      EXPECT_TRUE(has_ended(ended));
      EXPECT_TRUE(says(ended, "a fake has burnt out"));
      EXPECT_EQ(ended.calls("host"), 1) << ended;
    }
}

const Scenario after_another{"a large product after another", [] {
                               require(product_is_right(large, 1), "the first");
                               require(product_is_right(large, 11), "the second");
                               return 0;
                             }};

/// The copy of the operands reuses the memory of an earlier call's copy.
TEST(Failures, LateInALargeCallAfterAnother) {
  const auto ended = run_with_fake("1", after_another);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, "a fake has burnt out"));
  EXPECT_EQ(ended.calls("host"), 2) << ended;
}

const Scenario threads{"calls of four threads", [] {
                         std::vector<std::thread> all;
                         for (unsigned t = 0; t < 4; t++)
                           all.emplace_back([t] {
                             for (unsigned i = 0; i < 3; i++) {
                               require(product_is_right(100, 10 * t + i), "a product");
                               require(solution_is_right(100, 10 * t + i), "a solution");
                             }
                           });
                         for (auto& thread : all) thread.join();
                         return 0;
                       }};

TEST(Failures, DevicesThatFailInCallsOfSeveralThreads) {
  for (const char* after : {"0", "1", "5"}) {
    const auto ended = run_with_fake(after, threads);
    EXPECT_TRUE(has_ended(ended));
    EXPECT_TRUE(says(ended, "a fake has burnt out"));
    EXPECT_EQ(ended.calls("host"), 24) << ended;
  }
}

TEST(Failures, DevicesThatDoNotTakeACall) {
  const auto ended = run_with_fake("decline", calls);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("host"), 3) << ended;
  EXPECT_EQ(ended.said("devices"), "1 fake");
}

/// A routine may find out that it has no tiles after it has scaled its operands.
TEST(Failures, DevicesThatDoNotTakeACallAfterTheyHaveBegun) {
  for (const auto& scenario : late) {
    const auto ended = run_with_fake("overwrite, decline", scenario);
    EXPECT_TRUE(has_ended_silently(ended));
    EXPECT_EQ(ended.calls("host"), 1) << ended;
  }
}

TEST(Failures, LibraryOfAnotherVersion) { expect_host(run_with_fake("version", calls), "version"); }

TEST(Failures, FileThatIsNotALibrary) {
  expect_host(Beside("", "no ELF file").run(calls), "libtessera.so.0");
  expect_host(Beside("").run(calls), "libtessera.so.0");
}

TEST(Failures, UnrelatedLibrary) {
  expect_host(Beside(place_of("TESSERA_TEST_EMPTY_LIBRARY")).run(calls), "libtessera.so.0");
}

TEST(Failures, TruncatedLibrary) {
  const Folder folder;
  const auto whole = fs::canonical(fs::canonical(place_of("TESSERA_TEST_DROPIN")).parent_path() / "libtessera.so.0");
  fs::copy_file(whole, folder / "cut");
  fs::resize_file(folder / "cut", 20);
  expect_host(Beside(folder / "cut").run(calls), "libtessera.so.0");
}

TEST(Failures, UnknownPolicy) {
  const auto ended = calls.run({{"TESSERA_POLICY", "nonsense"}});
  expect_host(ended, "nonsense");
}

TEST(Failures, InvalidTileSize) { expect_host(calls.run({{"TESSERA_TILE", "-3"}}), "TESSERA_TILE"); }

TEST(Failures, NoWorkers) { expect_host(calls.run({{"TESSERA_CPUS", "0"}, {"TESSERA_DEVICES", "cpu"}}), "cpus"); }

}  // namespace
}  // namespace tessera::test::failures_cpp
