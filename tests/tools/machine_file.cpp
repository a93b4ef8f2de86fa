// SPDX-License-Identifier: BSD-3-Clause
// The machine description that tessera-info --describe prints: the laboratory reads it, and finds the measured values
// in it.
#include "info/machine_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "devices/simulated/machine_description.hpp"
#include "support/files.hpp"

namespace tessera::test {
namespace {

/// Two fast GPUs connected by NVLink, and a slow one on the bus. All three share a link to the host.
info::MeasuredMachine three_gpus() {
  info::MeasuredMachine machine;
  machine.conditions = "driver 1, CUDA 13.0";
  machine.places = {{"0000:19:00.0", {0, 1}, 1, {}}, {"", {0, 1}, 0, {}}};
  machine.cores = 24, machine.core_rate = 31.25e9;
  info::MeasuredKind fast{.name = "Fast [GPU], 2nd", .memory = 80e9, .memory_rate = 3e12}, slow = fast;
  fast.products['d'] = {{256, 20e-6}, {512, 30e-6}, {1024, 100e-6}, {2048, 400e-6}};
  fast.products['s'] = fast.products['c'] = fast.products['z'] = {{1024, 50e-6}};
  fast.columns = device::CostCurve({{4096, 4096 / 20e9}, {65536, 65536 / 50e9}});
  slow.name = "Slow GPU", slow.products['d'] = slow.products['s'] = {{256, 1e-3}};
  slow.products['c'] = slow.products['z'] = {{256, 8e-3}};
  machine.kinds = {fast, slow};
  machine.gpus = {0, 0, 1};
  machine.links = {{50e9, 50e9, 10e9},
                   {45e9, 45e9, 9e9},
                   {8e-6, 8e-6, 20e-6},
                   {{0, 300e9, 9e9}, {310e9, 0, 2e9}, {9e9, 2e9, 0}},
                   90e9,
                   98e9};
  return machine;
}

device::simulated::Machine read_back(const info::MeasuredMachine& machine) {
  const Scratch folder;
  const auto file = folder.path() / "mine.json";
  std::ofstream(file) << info::machine_file(machine);
  return device::simulated::read_machine(file);
}

TEST(MachineFile, TheLaboratoryReadsWhatWasMeasured) {
  const auto machine = read_back(three_gpus());
  EXPECT_EQ(machine.cores, 24);
  EXPECT_DOUBLE_EQ(machine.core_rate, 31.25e9);
  ASSERT_EQ(machine.gpu_count(), 3);
  const auto& fast = machine.kind_of(1);
  EXPECT_EQ(fast.name, "Fast  GPU   2nd");  // names are part of an XML file
  EXPECT_EQ(machine.kind_of(2).name, "Slow GPU");
  EXPECT_DOUBLE_EQ(fast.memory, 80e9);
  EXPECT_DOUBLE_EQ(fast.memory_rate, 3e12);
  EXPECT_NEAR(fast.kernels.at("gemm").seconds(2.0 * 1024 * 1024 * 1024), 100e-6, 1e-9);
  EXPECT_DOUBLE_EQ(fast.types.at('s'), 0.5);
  EXPECT_DOUBLE_EQ(fast.types.at('c'), 0.125);
  EXPECT_DOUBLE_EQ(machine.kind_of(2).types.at('z'), 2);
  EXPECT_NEAR(fast.in->computing.seconds(4096), 4096 / 20e9, 1e-12);
  EXPECT_NEAR(fast.in->idle.seconds(4096), 4096 / 50e9, 1e-12);
}

TEST(MachineFile, SaysWhereTheGpusAre) {
  const auto text = info::machine_file(three_gpus());
  EXPECT_NE(text.find("GPU 0 is at 0000:19:00.0, near NUMA node 0."), text.npos) << text;
  EXPECT_EQ(text.find("GPU 1 is"), text.npos) << "nobody knows";
}

TEST(MachineFile, LinksAreThoseOfTheMachine) {
  const auto machine = read_back(three_gpus());
  EXPECT_DOUBLE_EQ(machine.gpus[0].in, 50e9);
  EXPECT_DOUBLE_EQ(machine.gpus[2].out, 9e9);
  EXPECT_DOUBLE_EQ(machine.gpus[2].latency, 20e-6);
  EXPECT_NEAR(machine.total_in(3), 90e9, 1e6);
  EXPECT_EQ(machine.peer(0, 1).way, device::simulated::PeerLink::Way::NvLink);
  EXPECT_DOUBLE_EQ(machine.peer(1, 0).rate, 300e9);
  EXPECT_EQ(machine.peer(0, 2).way, device::simulated::PeerLink::Way::None);
  EXPECT_EQ(machine.peer(1, 2).way, device::simulated::PeerLink::Way::None);
  EXPECT_EQ(machine.shared.front().both, 0);
  EXPECT_EQ(machine.peers_together, 0);
  auto limited = three_gpus();
  limited.links.both_together = 120e9, limited.links.peers_together = 310e9;
  EXPECT_NEAR(read_back(limited).total_both(3), 120e9, 1e6);
  EXPECT_NEAR(read_back(limited).peers_together, 310e9, 1e6);
}

TEST(MachineFile, OneGpuSharesNothing) {
  auto machine = three_gpus();
  machine.gpus = {0};
  machine.kinds.resize(1);
  machine.links = {{50e9}, {45e9}, {8e-6}, {{0}}, 50e9, 45e9};
  const auto read = read_back(machine);
  EXPECT_TRUE(read.shared.empty());
  EXPECT_EQ(read.gpu_count(), 1);
}

}  // namespace
}  // namespace tessera::test
