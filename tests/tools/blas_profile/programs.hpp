// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "environment.hpp"
#include "log_lines.hpp"
#include "support/process.hpp"
#include "tools/trace/files.hpp"

/// tessera-info --blas itself, with a stand-in for the library.
namespace tessera::info {

namespace fs = std::filesystem;

/// Set where the tests are registered: a bundle puts things elsewhere.
inline fs::path place_of(const char* variable) {
  const char* place = std::getenv(variable);
  if (place == nullptr) throw RuntimeError(std::string(variable) + " is not set");
  return place;
}

/// LD_LIBRARY_PATH with which a copy of tessera-info finds its libraries where the original does.
inline std::string libraries_of_info() {
  const char* given = std::getenv("LD_LIBRARY_PATH");
  return (place_of("TEST_INFO").parent_path() / "../lib").string() + (given == nullptr ? "" : std::string(":") + given);
}

/// A tessera-info with the stand-in beside it, and the client that it runs.
class BlasProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"bin", "lib", "temporary"}) fs::create_directory(scratch_ / folder);
    fs::copy_file(place_of("TEST_INFO"), info_);
    fs::copy_file(place_of("TEST_STAND_IN"), library_);
  }
  void TearDown() override {
    EXPECT_TRUE(!fs::exists(temporary_) || fs::is_empty(temporary_)) << "something is left behind";
  }

  std::vector<std::string> command(std::vector<std::string> words) const {
    words.insert(words.begin(), {info_, "--blas", client_});
    return words;
  }
  /// tessera-info --blas client words...
  test::Ended blas(std::vector<std::string> words) const { return test::run_program(command(std::move(words))); }
  /// tessera-info words...
  test::Ended info(std::vector<std::string> words) const {
    words.insert(words.begin(), info_);
    return test::run_program(std::move(words));
  }

  trace::Scratch scratch_;
  const fs::path temporary_ = scratch_ / "temporary", info_ = scratch_ / "bin/tessera-info",
                 library_ = scratch_ / "lib/libtessera_blas.so", client_ = place_of("TEST_CLIENT");

 private:
  using Variable = detail::TemporaryVariable;
  static constexpr auto replace = Variable::IfSet::Replace;
  const Variable libraries_{"LD_LIBRARY_PATH", libraries_of_info(), replace};
  const Variable folder_{"TMPDIR", temporary_, replace}, log_{"TEST_LOG", octave, replace};
};

}  // namespace tessera::info
