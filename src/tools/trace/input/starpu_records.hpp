// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

/// The contents of StarPU's record files, with StarPU's numbers. Times are seconds after the start of the trace.
namespace tessera::trace {

struct RecordedBuffer {
  std::uint64_t handle = 0, bytes = 0;
  bool read = false, write = false, scratch = false;
};

struct RecordedTask {
  long job = 0;
  std::string name;
  bool of_the_program = false;                  ///< false: submitted by StarPU itself
  int worker = -1;                              ///< -1: not started
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

/// Reads tasks.rec. @return the tasks in no particular order
std::vector<RecordedTask> read_tasks(const std::filesystem::path& file);
/// Reads data.rec. @return the data in the order of their unregistration, then those never unregistered
std::vector<RecordedData> read_data(const std::filesystem::path& file);
/// Reads sched_tasks.rec. @return for each job, when it was first given to the scheduler
std::unordered_map<long, double> read_pushes(const std::filesystem::path& file);

}  // namespace tessera::trace
