// SPDX-License-Identifier: BSD-3-Clause
// tessera-info --blas with the real library, running a program that is linked with OpenBLAS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/files.hpp"
#include "support/process.hpp"

namespace tessera::blas_profile {

namespace {

using ::testing::AllOf, ::testing::HasSubstr, ::testing::Not, ::testing::SizeIs;

const std::string tessera_info = std::getenv("TEST_INFO"), client = std::getenv("TEST_OPENBLAS_CLIENT");

TEST(BlasLibrary, IsReportedAsJson) {
  const auto ended = test::run_program({tessera_info, "--json", "--blas", client}, 100);
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_THAT(json["damaged"], SizeIs(0)) << ended.out;
  ASSERT_THAT(json["processes"], SizeIs(1)) << ended.out;
  EXPECT_THAT(json["processes"][0]["host_blas"].get<std::string>(), HasSubstr("blas"));
  int calls = 0;
  double seconds = 0;
  for (const auto& row : json["calls"]) {
    EXPECT_EQ(row["routine"], "dgemm");
    for (const char* size : {"m", "n", "k"}) EXPECT_EQ(row[size], 200) << size;
    EXPECT_GT(row["seconds"], 0);
    EXPECT_DOUBLE_EQ(row["flops"].get<double>(), row["calls"].get<double>() * 2 * 200 * 200 * 200);
    calls += row["calls"].get<int>(), seconds += row["seconds"].get<double>();
  }
  // The first call, which takes longest, must count once.
  EXPECT_LE(seconds, json["processes"][0]["seconds"].get<double>());
  EXPECT_EQ(calls, 11) << ended.out;
}

TEST(BlasLibrary, TimesEveryCallOfLapackOnTheHost) {
  const auto json =
      nlohmann::json::parse(test::run_program({tessera_info, "--json", "--blas", client, "lapack"}, 100).out);
  ASSERT_THAT(json["calls"], SizeIs(2)) << json;
  for (const auto& row : json["calls"]) {
    EXPECT_EQ(row["routine"], "dgetrf");
    EXPECT_TRUE(row["seconds"].is_number()) << row;
  }
}

TEST(BlasLibrary, IsReportedAsText) {
  const auto ended = test::run_program({tessera_info, "--blas", client}, 100);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\ndgemm        200     200     200  ")) << ended.out;
}

/// A library in the place where wheels from PyPI put NumPy's BLAS. Its calls would go to functions with other names.
class BlasOfAWheel : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_.path() / "numpy.libs");
    std::filesystem::copy_file(std::getenv("TEST_STAND_IN"), library_);
  }
  test::Ended info(std::vector<std::string> words, const std::string& also_preloaded = "") const {
    words.insert(words.begin(), {"/usr/bin/env", "LD_PRELOAD=" + library_.string() + also_preloaded, tessera_info});
    return test::run_program(words, 100);
  }
  test::Scratch folder_;
  const std::filesystem::path library_ = folder_.path() / "numpy.libs/libscipy_openblas64_-0123abcd.so";
};

TEST_F(BlasOfAWheel, IsNamedInTheReport) {
  const auto ended = info({"--blas", "/bin/true"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("true (process "), HasSubstr("not seen: calls of " + library_.string()),
                               HasSubstr("package from PyPI"), Not(HasSubstr("Likely reasons"))));
}

TEST_F(BlasOfAWheel, IsInTheJson) {
  const auto json = nlohmann::json::parse(info({"--json", "--blas", "/bin/true"}).out);
  ASSERT_THAT(json["processes"], SizeIs(1));
  EXPECT_EQ(json["processes"][0]["foreign_blas"], library_.string());
}

TEST_F(BlasOfAWheel, IsNamedBesideCallsThatComeThrough) {
  const auto ended = info({"--blas", client});
  EXPECT_THAT(ended.out, AllOf(HasSubstr("not seen: calls of " + library_.string()), HasSubstr("\ndgemm  "),
                               HasSubstr("host BLAS: ")));
}

TEST_F(BlasOfAWheel, IsNotForeignIfItsNamesAreForwarded) {
  const char* const wheels = std::getenv("TEST_WHEELS");
  if (wheels == nullptr) GTEST_SKIP() << "no libtessera_wheels.so for this processor";
  const auto ended = info({"--blas", client}, ":" + std::string(wheels));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(Not(HasSubstr("not seen")), HasSubstr("\ndgemm  ")));
}

TEST(BlasLibrary, WritesNoLogWithoutCalls) {
  EXPECT_THAT(test::run_program({tessera_info, "--blas", "/bin/true"}, 100).out, HasSubstr("Likely reasons"));
}

}  // namespace

}  // namespace tessera::blas_profile
