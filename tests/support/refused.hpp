// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

namespace tessera::test {

/// `call` throws an `Error` that names routine, position, argument and what is wrong with it, and submits nothing.
template <typename Error, typename Call>
void expect_refused(Call call, const std::string& routine, int position, const std::string& argument,
                    const std::string& problem) {
  const auto tasks = statistics().tasks;
  try {
    call();
    ADD_FAILURE() << routine << " accepted an illegal argument " << position << ", " << argument;
  } catch (const Error& error) {
    EXPECT_EQ(error.routine(), routine);
    EXPECT_EQ(error.position(), position) << error.what();
    EXPECT_EQ(error.argument(), argument) << error.what();
    EXPECT_THAT(error.what(), ::testing::HasSubstr(routine));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(argument));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(problem));
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an error of another type: " << error.what();
  }
  EXPECT_EQ(statistics().tasks, tasks);
}

}  // namespace tessera::test
