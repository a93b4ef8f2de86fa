// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

/// StarPU's records, with StarPU's numbers. Times are seconds after the trace began.
namespace tessera::trace {

struct RecordedBuffer {
  std::uint64_t handle = 0, bytes = 0;
  bool read = false, write = false, scratch = false;
};

struct RecordedTask {
  long job = 0;
  std::string name;
  bool of_the_program = false;                  ///< not of StarPU's own making
  int worker = -1;                              ///< -1: it was not started
  double submitted = -1, start = -1, end = -1;  ///< negative: not recorded
  double flops = 0;
  std::uint64_t tag = 0;
  std::vector<RecordedBuffer> buffers;
  std::vector<long> after;
};

struct RecordedData {
  std::uint64_t handle = 0, bytes = 0;
  std::string name;
  bool temporary = false;
  std::vector<int> coordinates;
};

/// tasks.rec, in no order
std::vector<RecordedTask> read_tasks(const std::filesystem::path& file);
/// data.rec: in the order in which they were unregistered, then those that were not
std::vector<RecordedData> read_data(const std::filesystem::path& file);
/// sched_tasks.rec: when a job was given to the scheduler for the first time
std::unordered_map<long, double> read_pushes(const std::filesystem::path& file);

}  // namespace tessera::trace
