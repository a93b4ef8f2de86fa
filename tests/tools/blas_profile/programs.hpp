// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "log_lines.hpp"
#include "support/environment.hpp"
#include "support/files.hpp"
#include "support/process.hpp"

/// Running tessera-info --blas with a stand-in for the library.
namespace tessera::blas_profile {

namespace fs = std::filesystem;

/// The path in an environment variable, which ctest sets: bundles install the programs elsewhere.
inline fs::path place_of(const char* variable) {
  const char* place = std::getenv(variable);
  if (place == nullptr) throw RuntimeError(std::string(variable) + " is not set");
  return place;
}

/// LD_LIBRARY_PATH for a copy of tessera-info, so that it finds the libraries of the original.
inline std::string libraries_of_info() {
  const char* given = std::getenv("LD_LIBRARY_PATH");
  return (place_of("TEST_INFO").parent_path() / "../lib").string() + (given == nullptr ? "" : std::string(":") + given);
}

/// A copy of tessera-info next to the stand-in for the library, and the client program to run.
class BlasProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"bin", "lib", "temporary"}) fs::create_directory(scratch_ / folder);
    fs::copy_file(place_of("TEST_INFO"), info_);
    fs::copy_file(place_of("TEST_STAND_IN"), library_);
  }
  void TearDown() override {
    EXPECT_TRUE(!fs::exists(temporary_) || fs::is_empty(temporary_)) << "temporary files remain";
  }

  std::vector<std::string> command(std::vector<std::string> words) const {
    words.insert(words.begin(), {info_, "--blas", client_});
    return words;
  }
  /// Runs tessera-info --blas client words...
  test::Ended blas(std::vector<std::string> words) const { return test::run_program(command(std::move(words))); }
  /// Runs tessera-info words...
  test::Ended info(std::vector<std::string> words) const {
    words.insert(words.begin(), info_);
    return test::run_program(std::move(words));
  }

  test::Scratch scratch_;
  const fs::path temporary_ = scratch_ / "temporary", info_ = scratch_ / "bin/tessera-info",
                 library_ = scratch_ / "lib/libtessera_blas.so", client_ = place_of("TEST_CLIENT");

 private:
  const test::Environment variables_{
      {"LD_LIBRARY_PATH", libraries_of_info().c_str()}, {"TMPDIR", temporary_.c_str()}, {"TEST_LOG", octave.c_str()}};
};

}  // namespace tessera::blas_profile
