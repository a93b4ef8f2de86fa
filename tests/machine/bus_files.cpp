// SPDX-License-Identifier: BSD-3-Clause
// The bus files, which describe the links to StarPU.
#include "machine/bus_files.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera::machine::bus_files_cpp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::map<std::string, std::string> files_of(int numa_nodes, int gpus) {
  Bus bus;
  bus.cores = 12, bus.numa_nodes = numa_nodes, bus.gpus = gpus;
  for (int gpu = 0; gpu < gpus; gpu++) {  // GPU 1 is nearest to node 1, and so on
    auto& nodes = bus.nodes_of.emplace_back();
    for (int node = 0; node < numa_nodes; node++) nodes.push_back((gpu + node) % numa_nodes);
  }
  bus.rate = [](int from, int to) { return 1e9 * (10 * from + to) + 250e3; };
  bus.latency = [](int from, int to) { return 1.5e-6 * (from + to); };
  std::map<std::string, std::string> files;
  for (const auto& file : bus_files(bus)) files[file.ending] = file.text;
  return files;
}

TEST(BusFiles, HaveNoDecimalPoints) {
  auto files = files_of(1, 2);
  EXPECT_EQ(files[".bandwidth"],
            "# from (row) to (column): NUMA nodes, then GPUs\n"
            "0\t100025e-2\t200025e-2\tnan\n"
            "1000025e-2\t0\t1200025e-2\tnan\n"
            "2000025e-2\t2100025e-2\t0\tnan\n"
            "nan\tnan\n");
  EXPECT_EQ(files[".latency"],
            "# from (row) to (column): NUMA nodes, then GPUs\n"
            "0\t15e-1\t3\tnan\n"
            "15e-1\t0\t45e-1\tnan\n"
            "3\t45e-1\t0\tnan\n"
            "nan\tnan\n");
}

TEST(BusFiles, CountWhatStarpuCounts) {
  EXPECT_THAT(
      files_of(2, 3)[".config"],
      HasSubstr("12 # Number of CPUs\n2 # Number of NUMA nodes\n3 # Number of CUDA nodes\n0 # Number of OpenCL"));
  EXPECT_EQ(files_of(2, 3)[".affinity"], "# GPU\tNUMA0\tNUMA1\t\n0\t0\t1\t\n1\t1\t0\t\n2\t0\t1\t\n");
}

TEST(BusFiles, HaveOpenClDevicesBehindTheGpus) {
  Bus bus;
  bus.numa_nodes = 1, bus.gpus = 1, bus.opencl_devices = 2, bus.nodes_of = {{0}, {0}, {0}};
  bus.rate = bus.latency = [](int from, int to) { return 1e6 * (10 * from + to); };
  std::map<std::string, std::string> files;
  for (const auto& file : bus_files(bus)) files[file.ending] = file.text;
  EXPECT_THAT(files[".config"], HasSubstr("1 # Number of CUDA nodes\n2 # Number of OpenCL nodes\n0 # Number of FPGA"));
  EXPECT_EQ(files[".affinity"], "# GPU\tNUMA0\t\n0\t0\t\n0\t0\t\n1\t0\t\n") << "counted from 0 again";
  EXPECT_THAT(files[".bandwidth"], HasSubstr("\n30\t31\t32\t0\tnan\nnan\tnan\n"));
}

TEST(BusFiles, OmitEndpointsBeyondStarpusLimit) {
  Bus bus;
  bus.numa_nodes = 2, bus.gpus = 1, bus.opencl_devices = 4, bus.most_ends = 3;
  bus.nodes_of.assign(5, {0, 1});
  bus.rate = bus.latency = [](int from, int to) { return 1e6 * (10 * from + to); };
  EXPECT_EQ(
      bus_files(bus).front().text,
      "# from (row) to (column): NUMA nodes, then GPUs\n0\t1\t2\tnan\n10\t0\t12\tnan\n20\t21\t0\tnan\nnan\tnan\n");
}

TEST(BusFiles, EndWithTheFileThatStarpuChecks) {
  Bus bus;
  EXPECT_EQ(bus_files(bus).back().ending, ".config");
  EXPECT_THAT(bus_files(bus).front().text, Not(HasSubstr("inf")));
}

/// Processes that see different GPUs of one kind (CUDA_VISIBLE_DEVICES) have different files.
TEST(BusFiles, HaveAFolderForEachSetOfNodes) {
  Bus left, right;
  left.numa_nodes = right.numa_nodes = 2, left.gpus = right.gpus = 1;
  left.nodes_of = {{0, 1}}, right.nodes_of = {{1, 0}};
  EXPECT_NE(folder_name(left, {"one kind"}, {0}), folder_name(right, {"one kind"}, {0}));
  EXPECT_NE(folder_name(left, {"one kind"}, {0}), folder_name(left, {"another"}, {0}));
  right.nodes_of = left.nodes_of;
  EXPECT_EQ(folder_name(left, {"one kind"}, {0}), folder_name(right, {"one kind"}, {0}));
}

/// Only the links of the GPUs that a session uses have been measured.
TEST(BusFiles, HaveAFolderForEachSetOfUsedGpus) {
  Bus bus;
  bus.gpus = 2, bus.nodes_of.assign(2, {0});
  std::set<std::string> names;
  for (const auto& used : std::vector<std::vector<int>>{{}, {0}, {1}, {0, 1}})
    names.insert(folder_name(bus, {"one kind", "one kind"}, used));
  EXPECT_EQ(names.size(), 4U);
}

}  // namespace
}  // namespace tessera::machine::bus_files_cpp
