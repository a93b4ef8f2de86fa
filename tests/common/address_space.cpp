// SPDX-License-Identifier: BSD-3-Clause
// A limit on address space starts fewer CPU workers.
#include "common/address_space.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace tessera::test::address_space_cpp {
namespace {

/// Limits the address space of this process to what it has, and some more.
void leave(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto limit = static_cast<rlim_t>(pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes);
  const rlimit both{limit, limit};
  if (pages == 0 || setrlimit(RLIMIT_AS, &both) != 0) std::_Exit(99);
}

constexpr std::size_t room = std::size_t{1000} << 20;  // three workers need 920 MiB, four 1184

TEST(AddressSpace, AsManyWorkersStartAsFit) {
  EXPECT_EXIT((leave(room), std::_Exit(common::workers_that_fit(64, false))), testing::ExitedWithCode(3), "");
  EXPECT_EXIT((leave(room), std::_Exit(common::workers_that_fit(2, false))), testing::ExitedWithCode(2), "");
}

TEST(AddressSpace, TooManyThatAreAskedForAreRefused) {
  const auto refuse = [](std::size_t bytes, int workers, bool all) {
    leave(bytes);
    try {
      common::workers_that_fit(workers, all);
    } catch (const RuntimeError&) {
      std::_Exit(7);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(refuse(room, 4, true), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(refuse(room / 8, 1, false), testing::ExitedWithCode(7), "") << "not even one fits";
}

}  // namespace
}  // namespace tessera::test::address_space_cpp
