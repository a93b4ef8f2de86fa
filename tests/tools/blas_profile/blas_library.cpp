// SPDX-License-Identifier: BSD-3-Clause
// tessera-info --blas with the real library, running a program that is linked with OpenBLAS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::blas_profile {

namespace {

using ::testing::HasSubstr, ::testing::SizeIs;

const std::string tessera_info = std::getenv("TEST_INFO"), client = std::getenv("TEST_OPENBLAS_CLIENT");

TEST(BlasLibrary, IsReportedAsJson) {
  const auto ended = test::run_program({tessera_info, "--json", "--blas", client}, 100);
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_THAT(json["damaged"], SizeIs(0)) << ended.out;
  ASSERT_THAT(json["processes"], SizeIs(1)) << ended.out;
  EXPECT_THAT(json["processes"][0]["host_blas"].get<std::string>(), HasSubstr("blas"));
  int calls = 0;
  for (const auto& row : json["calls"]) {
    EXPECT_EQ(row["routine"], "dgemm");
    for (const char* size : {"m", "n", "k"}) EXPECT_EQ(row[size], 200) << size;
    EXPECT_GT(row["seconds"], 0);
    EXPECT_DOUBLE_EQ(row["flops"].get<double>(), row["calls"].get<double>() * 2 * 200 * 200 * 200);
    calls += row["calls"].get<int>();
  }
  EXPECT_EQ(calls, 11) << ended.out;
}

TEST(BlasLibrary, IsReportedAsText) {
  const auto ended = test::run_program({tessera_info, "--blas", client}, 100);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\ndgemm        200     200     200  ")) << ended.out;
}

}  // namespace

}  // namespace tessera::blas_profile
