// SPDX-License-Identifier: BSD-3-Clause
// The files in a trace folder, and folders that are refused before anything starts.
#include <gmock/gmock.h>
#include <starpu.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <tessera/blas.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "support/environment.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

class Recording : public ::testing::Test {
 protected:
  Recording() {
    auto name = (fs::temp_directory_path() / "tessera-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be created: " + name);
    scratch_ = name;
  }
  ~Recording() override { fs::remove_all(scratch_); }

  static RuntimeOptions recorded_in(const fs::path& folder) {
    RuntimeOptions options;
    options.cpus = 1, options.gpus = 0, options.tile = 20, options.trace = folder;
    return options;
  }
  static nlohmann::json described(const fs::path& folder) {
    std::ifstream file(folder / "run.json");
    return nlohmann::json::parse(file);
  }
  static void multiply() {
    std::vector<double> A(1600, 1), B(1600, 1), C(1600);
    gemm<double>(Op::NoTrans, Op::NoTrans, 40, 40, 40, 1, A.data(), 40, B.data(), 40, 0, C.data(), 40);
    EXPECT_EQ(C[7], 40);
  }
  static void expect_refused(const fs::path& folder, const std::string& argument, const std::string& why) {
    try {
      const Runtime runtime(recorded_in(folder));
      ADD_FAILURE() << "records in " << folder;
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.argument(), argument);
      EXPECT_THAT(error.what(), ::testing::HasSubstr(why));
    }
    EXPECT_EQ(starpu_is_initialized(), 0);
  }

  fs::path scratch_;
};

TEST_F(Recording, OfEachSessionOfAProcessIsKept) {
  const auto folder = scratch_ / "run";
  for (int session = 0; session < 3; session++) {
    const Runtime runtime(recorded_in(folder));
    multiply();
  }
  for (const auto* name : {"run", "run-2", "run-3"}) {
    EXPECT_GT(fs::file_size(scratch_ / name / "prof_file_0"), 1000u) << name;
    EXPECT_TRUE(described(scratch_ / name).at("complete")) << name;
    EXPECT_EQ(described(scratch_ / name).at("workers").at(0).at("tasks"), 8) << name;
  }
}

TEST_F(Recording, LeavesOutPauses) {
  {
    const Runtime runtime(recorded_in(scratch_ / "run"));
    pause_recording();
    multiply();
    resume_recording();
    multiply();
    pause_recording();
    multiply();
  }
  EXPECT_EQ(described(scratch_ / "run").at("workers").at(0).at("tasks"), 8);
  EXPECT_EQ(described(scratch_ / "run").at("interruptions"), 0);
  {
    const Runtime runtime(recorded_in(scratch_ / "interrupted"));
    multiply();
    pause_recording();
    resume_recording();
    multiply();
  }
  EXPECT_EQ(described(scratch_ / "interrupted").at("workers").at(0).at("tasks"), 16);
  EXPECT_EQ(described(scratch_ / "interrupted").at("interruptions"), 1);
}

TEST_F(Recording, IsRefusedWhereItCouldNotBeKept) {
  expect_refused("/proc", "trace", "nothing can be written");
  expect_refused("/dev/null/run", "trace", "no folder can be created");
  fs::create_directory(scratch_ / "old");
  std::ofstream(scratch_ / "old" / "prof_file_somebody_0") << "a trace";
  expect_refused(scratch_ / "old", "trace", "already contains a trace");
  for (const char* size : {"0", "-1", "many", "64 MB"}) {
    const Environment environment{{"STARPU_TRACE_BUFFER_SIZE", size}};
    expect_refused(scratch_ / "new", "STARPU_TRACE_BUFFER_SIZE", "at least 1");
    EXPECT_FALSE(fs::exists(scratch_ / "new"));
  }
  const Runtime runtime(recorded_in(scratch_ / "good"));
  EXPECT_FALSE(runtime.joined());
}

TEST_F(Recording, IsRefusedWhereFilesMayNotGrow) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  expect_refused(scratch_ / "run", "trace", "File too large");
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(fs::is_empty(scratch_ / "run"));
}

TEST_F(Recording, CannotBeginInTheMiddle) {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 1, conf.ncuda = 0;
  ASSERT_EQ(starpu_init(&conf), 0);
  try {
    const Runtime runtime(recorded_in(scratch_ / "run"));
    ADD_FAILURE() << "records a StarPU that had been started without";
  } catch (const ArgumentError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("STARPU_FXT_TRACE=1"));
  }
  starpu_shutdown();
}

}  // namespace
}  // namespace tessera::test
