// SPDX-License-Identifier: BSD-3-Clause
// Invalid settings, and files that cannot serve as the host BLAS: results are right, and one line names the cause.
#include "products.hpp"

namespace tessera::test::settings_cpp {
namespace {

const Scenario calls{"three calls of three routines", [] {
                       require(product_is_right(100), "the first");
                       require(solution_is_right(100), "the second");
                       require(update_is_right(100), "the third");
                       return 0;
                     }};

void expect_host(const Variables& variables, const std::string& words) {
  const auto ended = calls.run(variables);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, words));
  EXPECT_EQ(ended.calls("host"), 3) << ended;
  EXPECT_THAT(ended.said("trouble"), ::testing::HasSubstr(words));
}

TEST(Settings, InvalidValuesLeaveAllCallsToTheHost) {
  for (const char* value : {"abc", "-1", "1e", "1e9x", "nan", " "})
    expect_host({{"TESSERA_BLAS_MIN_FLOPS", value}}, "TESSERA_BLAS_MIN_FLOPS is '" + std::string(value) + "'");
  for (const char* value : {"foo", "-1", "cpus", "1.5", "2,3", "cuda", "cuda=", "cuda=1,cuda=1", "opencl=1,"})
    expect_host({{"TESSERA_DEVICES", value}}, "TESSERA_DEVICES is '" + std::string(value) + "'");
  expect_host({{"TESSERA_QUIET", "2"}}, "TESSERA_QUIET is '2'");
  expect_host({{"TESSERA_DEVICES", "99"}, {"CUDA_VISIBLE_DEVICES", "-1"}}, "99");
}

TEST(Settings, WithoutAGpuLeaveAllToTheHost) {
  for (const char* devices : {"none", "0", "cuda=0,opencl=0"}) {
    const auto ended = calls.run({{"TESSERA_DEVICES", devices}});
    EXPECT_TRUE(has_ended_silently(ended));
    EXPECT_EQ(ended.calls("host"), 3) << ended;
    EXPECT_EQ(ended.said("devices"), "none (TESSERA_DEVICES asks for none)");
  }
}

TEST(Settings, MissingTraceIsExplained) {
  const auto ended = calls.run({{"TESSERA_DEVICES", "none"}, {"TESSERA_TRACE", "no-trace"}});
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, "so there is no trace in no-trace"));
}

TEST(Settings, OfEarlierVersionsLeaveAllToTheHost) {
  for (const auto& [old, now] : {std::pair{"TESSERA_BLAS_DEVICES", "TESSERA_DEVICES"},
                                 {"TESSERA_GPUS", "TESSERA_DEVICES=N"},
                                 {"TESSERA_SCHED_STEAL", "TESSERA_SCHED=-steal"}})
    expect_host({{old, "1"}},
                std::string(old) + " is no longer read: use " + now + "; all calls stay on the host BLAS");
}

TEST(Settings, ThatAreWrongDoNotOverrideQuiet) {
  const auto ended = calls.run({{"TESSERA_BLAS_DEVICES", "cpu"}, {"TESSERA_QUIET", "1"}});
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("host"), 3) << ended;
}

TEST(Settings, MayBeEmpty) {
  const auto ended = calls.run({{"TESSERA_QUIET", ""}, {"TESSERA_HOST_BLAS", ""}, {"TESSERA_BLAS_LOG", ""}});
  EXPECT_TRUE(has_ended_silently(ended));
}

/// The setting has an error, but the devices still work.
void expect_devices(const Variables& variables, const std::string& words) {
  const auto ended = calls.run(variables);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, words));
  EXPECT_EQ(ended.calls("devices"), 3) << ended;
  EXPECT_THAT(ended.said("host_blas"), ::testing::HasSubstr("libopenblas"));
}

TEST(HostBlas, ThatIsMissingIsReplaced) {
  expect_devices({{"TESSERA_HOST_BLAS", "/proc/nonexistent"}}, "/proc/nonexistent");
}

TEST(HostBlas, IsNeverTheDropInItself) {
  const auto us = place_of("TESSERA_TEST_DROPIN");
  expect_devices({{"TESSERA_HOST_BLAS", us}}, "leads back to Tessera");
  const Folder folder;
  std::filesystem::create_symlink(us, folder / "libblas.so.3");
  expect_devices({{"TESSERA_HOST_BLAS", folder / "libblas.so.3"}}, "leads back to Tessera");
}

TEST(HostBlas, ThatHasNoRoutinesIsReplaced) {
  expect_devices({{"TESSERA_HOST_BLAS", place_of("TESSERA_TEST_EMPTY_LIBRARY")}}, "no dgemm_");
}

/// A copy of the drop-in, for example from another installation, which would call the drop-in again.
TEST(HostBlas, IsNoCopyOfTheDropIn) {
  const Folder folder;
  const auto copy = folder / "libcopy.so";
  std::filesystem::copy_file(std::filesystem::canonical(place_of("TESSERA_TEST_DROPIN")), copy);
  for (const char* devices : {"cpu", "0"}) {
    const auto ended = calls.run({{"TESSERA_HOST_BLAS", copy}, {"TESSERA_DEVICES", devices}});
    EXPECT_TRUE(has_ended(ended));
  }
}

/// The libblas.so.3 that Debian's alternatives system selects if the drop-in is the system's BLAS.
TEST(HostBlas, IsNotALibraryThatForwardsToTheDropIn) {
  const auto stub = std::filesystem::path(place_of("TESSERA_TEST_DROPIN")).parent_path() / "tessera-blas/libblas.so.3";
  ASSERT_TRUE(std::filesystem::exists(stub)) << stub;
  for (const char* devices : {"cpu", "0"}) {
    const auto ended = calls.run({{"TESSERA_HOST_BLAS", stub}, {"TESSERA_DEVICES", devices}});
    EXPECT_TRUE(has_ended(ended));
    EXPECT_THAT(ended.said("host_blas"), ::testing::HasSubstr("libopenblas"));
  }
}

/// The reference BLAS of the package libblas3.
TEST(HostBlas, MayBeAnother) {
  const char* reference = std::getenv("TESSERA_TEST_REFERENCE_BLAS");
  if (reference == nullptr || !std::filesystem::exists(reference)) GTEST_SKIP() << "install libblas3";
  for (const char* devices : {"cpu", "0"}) {
    const auto ended = calls.run({{"TESSERA_HOST_BLAS", reference}, {"TESSERA_DEVICES", devices}});
    EXPECT_TRUE(has_ended_silently(ended));
    EXPECT_EQ(std::filesystem::canonical(ended.said("host_blas")), std::filesystem::canonical(reference)) << ended;
    EXPECT_EQ(ended.calls(*devices == '0' ? "host" : "devices"), 3) << ended;
  }
}

TEST(Log, ThatCannotBeWrittenIsReportedOnce) {
  for (const char* place : {"/proc/nonexistent/log", "/proc/version", "/"}) {
    const auto ended = calls.run({{"TESSERA_BLAS_LOG", place}});
    EXPECT_TRUE(has_ended(ended));
    EXPECT_TRUE(says(ended, "TESSERA_BLAS_LOG"));
  }
}

TEST(Variables, ThatAreUnknownAreReportedOnce) {
  const auto ended = calls.run({{"TESSERA_DEVICE", "cpu"}, {"TESSERA_QUITE", "1"}});
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, "TESSERA_DEVICE"));
  EXPECT_TRUE(says(ended, "TESSERA_QUITE"));
}

TEST(Log, MayBeQuiet) {
  EXPECT_TRUE(has_ended_silently(calls.run({{"TESSERA_BLAS_LOG", "/proc/nonexistent/log"}, {"TESSERA_QUIET", "1"}})));
}

}  // namespace
}  // namespace tessera::test::settings_cpp
