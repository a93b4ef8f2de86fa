// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "laboratory.hpp"
#include "support/files.hpp"

namespace tessera::test {

/// A machine with one GPU, on links of 10 GB/s.
/// @param product  milliseconds of a product of order 1024
inline nlohmann::json machine(double product) {
  return {{"source", nlohmann::json::array()},
          {"assumed", nlohmann::json::array()},
          {"cpu", {{"cores", 2}, {"core_gflops", 1}}},
          {"kinds",
           {{"gpu",
             {{"memory_gb", 16},
              {"memory_gbps", 1000},
              {"task_overhead_us", 0},
              {"kernels_ms", {{"gemm", {{1024, product}}}}},
              {"types", {{"s", 1}, {"c", 1}, {"z", 1}}}}}}},
          {"gpus", {"gpu"}},
          {"host_links", {{{"gpus", {0}}, {"in_gbps", 10}, {"out_gbps", 10}, {"latency_us", 1}}}},
          {"shared_links", nlohmann::json::array()},
          {"peer_links", nlohmann::json::array()}};
}

/// The row of a simulation with Tessera's policy.
inline nlohmann::json row_on(const nlohmann::json& machine, const std::string& arguments) {
  const Scratch folder;
  write_file(folder / "machine.json", machine.dump());
  return row_of("--platform " + (folder / "machine.json").string() + " --policy tessera " + arguments);
}

/// The row of a product of order 2048 in doubles.
inline nlohmann::json product(const nlohmann::json& machine, int tile, const std::string& arguments = "") {
  return row_on(machine, "--size 2048 --tile " + std::to_string(tile) + " " + arguments);
}
inline double seconds(const nlohmann::json& machine, int tile, const std::string& arguments = "") {
  return product(machine, tile, arguments).at("median_s");
}

inline constexpr double operand = 8.0 * 2048 * 2048;  // bytes

}  // namespace tessera::test
