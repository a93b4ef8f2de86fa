// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tessera::test {

/// Runs tessera-simulate with these arguments. TESSERA_TEST_SIMULATE names the program.
inline Ended simulate(const std::string& arguments, unsigned seconds = 150) {
  const char* program = std::getenv("TESSERA_TEST_SIMULATE");
  if (program == nullptr) throw std::runtime_error("TESSERA_TEST_SIMULATE must name tessera-simulate");
  std::vector<std::string> words{program};
  std::istringstream text(arguments);
  for (std::string word; text >> word;) words.push_back(word);
  return run_program(words, seconds);
}

/// The JSON rows of several simulations, all of which must succeed.
inline std::vector<nlohmann::json> rows_of(const std::string& arguments, unsigned seconds = 150) {
  const auto ended = simulate("--json - " + arguments, seconds);
  EXPECT_EQ(ended.status, 0) << arguments << '\n' << ended.err;
  std::vector<nlohmann::json> rows;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

/// The row of one simulation.
inline nlohmann::json row_of(const std::string& arguments) {
  const auto rows = rows_of(arguments);
  if (rows.size() != 1) throw std::runtime_error("not one simulation: " + arguments);
  return rows.front();
}

/// The values of a field for each GPU.
inline std::vector<double> per_gpu(const nlohmann::json& row, const char* field) {
  std::vector<double> all;
  for (const auto& gpu : row.at("per_gpu")) all.push_back(gpu.at(field));
  return all;
}

}  // namespace tessera::test
