// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include <tessera/runtime.hpp>

namespace tessera::test {

/// One Runtime for all tests of a program, since starting StarPU takes a tenth of a second.
class SharedRuntime : public ::testing::Environment {
 public:
  explicit SharedRuntime(RuntimeOptions options) : options_(std::move(options)) {}
  void SetUp() override { runtime_.emplace(options_); }
  void TearDown() override { runtime_.reset(); }

 private:
  RuntimeOptions options_;
  std::optional<Runtime> runtime_;
};

inline RuntimeOptions with_tile(Index tile) {
  RuntimeOptions options;
  options.tile = tile;
  return options;
}

inline const ::testing::Environment* share_runtime(RuntimeOptions options = {}) {
  return ::testing::AddGlobalTestEnvironment(new SharedRuntime(std::move(options)));
}

}  // namespace tessera::test
