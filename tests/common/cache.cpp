// SPDX-License-Identifier: BSD-3-Clause
// The folders and files of data that later processes reuse.
#include "common/cache.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include <tessera/error.hpp>

#include "common/whole_file.hpp"
#include "support/environment.hpp"

namespace tessera::common::cache_cpp {
namespace {

namespace fs = std::filesystem;
using test::Environment;
using ::testing::HasSubstr;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Cache, IsWhereTheUserSays) {
  const Environment given{{"TESSERA_CACHE_DIR", "/here"}, {"XDG_CACHE_HOME", "/there"}, {"HOME", "/"}};
  EXPECT_EQ(cache_directory()->lexically_normal(), "/here/");
  setenv("TESSERA_CACHE_DIR", "", 1);
  EXPECT_EQ(cache_directory(), "/there/tessera");
  setenv("XDG_CACHE_HOME", "", 1);
  EXPECT_EQ(cache_directory()->lexically_normal(), "/.cache/tessera");
}

TEST(Cache, IsNowhereWithoutAHome) {
  const Environment given{{"TESSERA_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", ""}};
  EXPECT_EQ(cache_directory(), std::nullopt);
  const PrivateFolder folder(::testing::TempDir());
  const auto home = folder.path() / "home";
  setenv("HOME", home.c_str(), 1);
  EXPECT_EQ(cache_directory(), std::nullopt);
  EXPECT_FALSE(fs::exists(home));
}

TEST(Cache, DoesNotMoveWithTheCurrentFolder) {
  const Environment given{{"TESSERA_CACHE_DIR", "beside"}};
  EXPECT_TRUE(cache_directory()->is_absolute());
}

TEST(PrivateFolder, IsForNobodyElseAndGoesWithItsContents) {
  fs::path path;
  {
    const PrivateFolder folder(::testing::TempDir());
    path = folder.path();
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    write_whole(path / "file", "text");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THROW(PrivateFolder{path}, RuntimeError);
}

TEST(PrivateFolder, StaysWhenAForkedChildEnds) {
  auto folder = std::make_unique<PrivateFolder>(::testing::TempDir());
  const auto path = folder->path();
  const pid_t child = fork();
  if (child == 0) {
    folder.reset();
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs::exists(path));
}

/// Writes the file in a process whose limit on file sizes is 0.
[[noreturn]] void write_without_leave(const fs::path& file) {
  const rlimit none{0, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &none);
  int result = 1;
  try {
    write_whole(file, "text");
  } catch (const RuntimeError& error) {
    if (std::string(error.what()).find("File too large") != std::string::npos) result = 2;
  }
  sigset_t left, blocked;
  sigpending(&left);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  if (sigismember(&left, SIGXFSZ) == 1 || sigismember(&blocked, SIGXFSZ) == 1) result = 3;
  _exit(result);
}

TEST(WholeFile, ThatIsTooLargeIsAnErrorAndNoSignal) {
  const PrivateFolder folder(::testing::TempDir());
  EXPECT_EXIT(write_without_leave(folder.path() / "file"), ::testing::ExitedWithCode(2), "");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(WholeFile, IsKeptOnlyWhereThereIsAPlace) {
  const PrivateFolder folder(::testing::TempDir());
  keep_if_possible(folder.path() / "new" / "file", "text");
  EXPECT_EQ(read(folder.path() / "new" / "file"), "text");
  EXPECT_NO_THROW(keep_if_possible("/proc/new/file", "text"));
  EXPECT_NO_THROW(keep_if_possible("", "text"));
}

}  // namespace
}  // namespace tessera::common::cache_cpp
