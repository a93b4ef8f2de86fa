// SPDX-License-Identifier: BSD-3-Clause
// Environment variables reach StarPU without changes to the program's environment. `setenv` and similar functions may
// free a string that another thread got from `getenv`. Calls of them are counted: the functions of this program take
// precedence over the C library's.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

#include "common/starpu_variables.hpp"
#include "support/files.hpp"

namespace {

std::atomic<int> changes = 0;

using Set = int(const char*, const char*, int);
using Remove = int(const char*);
using Put = int(char*);

/// The C library's function.
template <typename Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" int setenv(const char* name, const char* value, int replace) noexcept {
  changes++;
  return original<Set>("setenv")(name, value, replace);
}
extern "C" int unsetenv(const char* name) noexcept {
  changes++;
  return original<Remove>("unsetenv")(name);
}
extern "C" int putenv(char* entry) noexcept {
  changes++;
  return original<Put>("putenv")(entry);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

namespace tessera {
namespace {

using common::StarpuVariables;

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "(none)" : value;
}

/// The environment table and its entries, by address: the program may hold any of these pointers.
std::vector<char*> addresses() {
  std::vector<char*> all;
  for (char** entry = environ; *entry != nullptr; entry++) all.push_back(*entry);
  return all;
}

TEST(Environment, IsNotChangedByASession) {
  setenv("STARPU_SCHED", "eager", 1);  // hidden from StarPU while it starts
  char** const table = environ;
  const auto entries = addresses();
  const int before = changes;
  {
    RuntimeOptions options;
    options.policy = "tessera";
    const Runtime runtime(options);
    EXPECT_EQ(policy(), "tessera");
    EXPECT_EQ(environ, table);
    EXPECT_EQ(addresses(), entries);
  }
  EXPECT_EQ(changes, before);
  EXPECT_EQ(environ, table);
  EXPECT_EQ(addresses(), entries);
  unsetenv("STARPU_SCHED");
}

TEST(Environment, IsNotChangedByARecording) {
  const test::Scratch folder;
  setenv("STARPU_FXT_EVENTS", "TASK|DATA", 1);  // StarPU writes into the string
  const auto entries = addresses();
  const int before = changes;
  {
    RuntimeOptions options;
    options.trace = folder / "trace";
    try {
      const Runtime runtime(options);
      EXPECT_EQ(addresses(), entries);
    } catch (const ArgumentError& error) {
      GTEST_SKIP() << error.what();  // this StarPU cannot record traces
    }
  }
  EXPECT_EQ(changes, before);
  EXPECT_EQ(addresses(), entries);
  EXPECT_EQ(value_of("STARPU_FXT_EVENTS"), "TASK|DATA");
  unsetenv("STARPU_FXT_EVENTS");
}

class Variables : public ::testing::Test {
 protected:
  Variables() {
    setenv("TEST_GIVEN", "theirs", 1);
    setenv("TEST_HIDDEN", "theirs", 1);
    unsetenv("TEST_NEW");
    variables_.set("TEST_GIVEN", "ours", StarpuVariables::IfSet::Replace);
    variables_.set("TEST_NEW", "ours");
    variables_.hide("TEST_HIDDEN");
  }
  ~Variables() override {
    for (const char* name : {"TEST_GIVEN", "TEST_HIDDEN", "TEST_NEW", "TEST_PROGRAM"}) unsetenv(name);
  }
  static void expect_theirs() {
    EXPECT_EQ(value_of("TEST_GIVEN"), "theirs");
    EXPECT_EQ(value_of("TEST_HIDDEN"), "theirs");
    EXPECT_EQ(value_of("TEST_NEW"), "(none)");
  }

  StarpuVariables variables_;
};

TEST_F(Variables, AreInForceTemporarily) {
  {
    const StarpuVariables::InForce now(variables_);
    EXPECT_EQ(value_of("TEST_GIVEN"), "ours");
    EXPECT_EQ(value_of("TEST_HIDDEN"), "(none)");
    EXPECT_EQ(value_of("TEST_NEW"), "ours");
    EXPECT_NE(std::getenv("PATH"), nullptr) << "the others are still there";
  }
  expect_theirs();
}

TEST_F(Variables, KeepWhatIsSet) {
  StarpuVariables kept;
  kept.set("TEST_GIVEN", "ours");
  const StarpuVariables::InForce now(kept);
  EXPECT_EQ(value_of("TEST_GIVEN"), "theirs");
}

TEST_F(Variables, MayBeNested) {
  {
    const StarpuVariables::InForce outer(variables_);
    StarpuVariables more;
    more.set("TEST_NEW", "inner", StarpuVariables::IfSet::Replace);
    {
      const StarpuVariables::InForce inner(more);
      EXPECT_EQ(value_of("TEST_NEW"), "inner");
      EXPECT_EQ(value_of("TEST_GIVEN"), "ours");
    }
    EXPECT_EQ(value_of("TEST_NEW"), "ours");
  }
  expect_theirs();
}

/// A thread that walks through the table, or holds a pointer from getenv, still finds the same contents afterwards.
TEST_F(Variables, StayValidForReaders) {
  char** table = nullptr;
  const char* value = nullptr;
  {
    const StarpuVariables::InForce now(variables_);
    table = environ, value = std::getenv("TEST_NEW");
  }
  { const StarpuVariables::InForce again(variables_); }
  EXPECT_STREQ(value, "ours");
  EXPECT_STRNE(*table, "");
}

TEST_F(Variables, OfTheProgramThatAreSetMeanwhileStay) {
  {
    const StarpuVariables::InForce now(variables_);
    setenv("TEST_PROGRAM", "new", 1);
  }
  EXPECT_EQ(value_of("TEST_PROGRAM"), "new");
  expect_theirs();
}

TEST_F(Variables, OfTheProgramThatAreChangedMeanwhileStay) {
  setenv("TEST_PROGRAM", "old", 1);
  {
    const StarpuVariables::InForce now(variables_);
    setenv("TEST_PROGRAM", "new", 1);
    setenv("TEST_GIVEN", "new", 1);
  }
  EXPECT_EQ(value_of("TEST_PROGRAM"), "new");
  EXPECT_EQ(value_of("TEST_GIVEN"), "new");
  EXPECT_EQ(value_of("TEST_HIDDEN"), "theirs");
  EXPECT_EQ(value_of("TEST_NEW"), "(none)");
}

}  // namespace
}  // namespace tessera
