// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

namespace tessera::test {

/// Expects that `call` throws an `Error` with the routine, the position and name of an argument, and the problem, and
/// that it submits no task.
/// @param arguments  names of the routine's arguments, in order; "" for an argument that no error names
/// @param blamed     arguments that the error may name: if two operands do not fit together, either may be wrong
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

/// Expects an error about one particular argument.
template <typename Error, typename Call>
void expect_refused(Call call, const std::string& routine, int position, const std::string& argument,
                    const std::string& problem) {
  std::vector<std::string> arguments(static_cast<std::size_t>(position));
  arguments.back() = argument;
  expect_refused<Error>(call, routine, arguments, {argument}, problem);
}

}  // namespace tessera::test
