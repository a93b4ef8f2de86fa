// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

namespace tessera::test {

/// `call` throws an `Error` that names routine, position, one of the arguments, and what is wrong with it, and submits
/// nothing.
/// @param arguments  of the routine, in their order; "" where it has one that is never named
/// @param blamed     which of them may be named: two operands do not fit together, and either is wrong
template <typename Error, typename Call>
void expect_refused(Call call, const std::string& routine, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& blamed, const std::string& problem) {
  const auto tasks = statistics().tasks;
  try {
    call();
    ADD_FAILURE() << routine << " accepted an illegal " << ::testing::PrintToString(blamed);
  } catch (const Error& error) {
    EXPECT_EQ(error.routine(), routine);
    EXPECT_THAT(blamed, ::testing::Contains(error.argument())) << error.what();
    const auto position = std::ranges::find(arguments, error.argument()) - arguments.begin() + 1;
    EXPECT_EQ(error.position(), position) << error.what();
    EXPECT_THAT(error.what(), ::testing::HasSubstr(routine));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(error.argument()));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(problem));
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an error of another type: " << error.what();
  }
  EXPECT_EQ(statistics().tasks, tasks);
}

/// The same where only one argument can be meant.
template <typename Error, typename Call>
void expect_refused(Call call, const std::string& routine, int position, const std::string& argument,
                    const std::string& problem) {
  std::vector<std::string> arguments(static_cast<std::size_t>(position));
  arguments.back() = argument;
  expect_refused<Error>(call, routine, arguments, {argument}, problem);
}

}  // namespace tessera::test
