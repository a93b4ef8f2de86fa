// SPDX-License-Identifier: BSD-3-Clause
// Where devices are attached to the host.
#include "devices/cpu/topology.hpp"

#include <gmock/gmock.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

#include "devices/places.hpp"
#include "support/files.hpp"

namespace tessera::device::topology_cpp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// two_sockets.xml is drac-12 of Grid'5000, an IBM 8335-GTB with two P100 at each of two POWER8: the file
// tests/hwloc/xml/power8gpudistances.xml of hwloc 2.9 (copyright Inria, BSD-3-Clause) without caches, infos and
// distances. cluster_on_die.xml is a Cisco UCSB-B200-M4 with two Xeon E5-2683 v3, irregular_groups.xml an SGI UV 2000,
// and node_without_cores.xml an Itanium: 28intel64-2p2g7c-CoDgroups.v1tov2.xml,
// 64intel64-3g2n+2n-irregulargroups+pci.xml and 8ia64-2n2s2c+1n.v1tov2.xml from the same folder, without caches, infos
// and some devices. The first has only two cores of each cluster and the second one core of each socket, all of which
// are allowed. The other machines are made up.
const std::filesystem::path folder = TESSERA_MACHINES;

/// Sets environment variables for hwloc until the end of the test.
class Synthetic {
 public:
  explicit Synthetic(const char* description) {
    setenv("HWLOC_SYNTHETIC", description, 1), setenv("HWLOC_THISSYSTEM", "1", 1);
  }
  ~Synthetic() { unsetenv("HWLOC_SYNTHETIC"), unsetenv("HWLOC_THISSYSTEM"); }
  Synthetic(const Synthetic&) = delete;
  Synthetic& operator=(const Synthetic&) = delete;
};

TEST(Topology, AddsUpTheCachesOfAllCores) {
  const Synthetic clusters("package:2 l2:3(size=2097152) core:2 pu:2");
  EXPECT_EQ(Topology().second_level_caches(), 6U << 21);
  const Synthetic none("package:2 core:3 pu:1");
  EXPECT_EQ(Topology().second_level_caches(), 0U);
}

TEST(Topology, KnowsTheSocketOfEachOfFourGpus) {
  const auto machine = Topology::from_file(folder / "two_sockets.xml");
  EXPECT_EQ(machine.cores(), 8);
  ASSERT_EQ(machine.nodes().size(), 2U);
  EXPECT_EQ(machine.nodes()[1].cores, 4);
  EXPECT_EQ(machine.nodes()[1].memory, 68450713600U);
  for (const char* left : {"0002:01:00.0", "0003:01:00.0"})
    EXPECT_THAT(machine.place(left, "").nodes, ElementsAre(0, 1)) << left;
  for (const char* right : {"000a:01:00.0", "000b:01:00.0"})
    EXPECT_THAT(machine.place(right, "").nodes, ElementsAre(1, 0)) << right;
  const auto place = machine.place("000a:01:00.0", "");
  EXPECT_EQ(place.near, 1U);
  EXPECT_THAT(place.processors, ElementsAre(80, 81, 88, 89, 96, 97, 104, 105));
}

TEST(Topology, FindsADeviceByItsNameIfItsAddressIsNotThere) {
  const auto machine = Topology::from_file(folder / "two_sockets.xml");
  EXPECT_THAT(machine.place("", "cuda2").nodes, ElementsAre(1, 0));
  EXPECT_THAT(machine.place("0000:01:00.0", "opencl0d3").nodes, ElementsAre(1, 0));
  EXPECT_THAT(machine.place("0002:01:00.0", "cuda2").nodes, ElementsAre(0, 1)) << "the address is the better one";
}

TEST(Topology, OrdersSubNumaClustersByTheirDistances) {
  const auto machine = Topology::from_file(folder / "sub_numa_clusters.xml");
  const auto cluster = machine.place("0000:3b:00.0", "");
  EXPECT_THAT(cluster.nodes, ElementsAre(1, 0, 3, 2));
  EXPECT_EQ(cluster.near, 1U);
  EXPECT_THAT(cluster.processors, ElementsAre(2, 3));
  const auto socket = machine.place("0000:9b:00.0", "");
  EXPECT_THAT(socket.nodes, ElementsAre(2, 3, 0, 1)) << "attached to the socket: both of its clusters are near";
  EXPECT_EQ(socket.near, 2U);
  EXPECT_THAT(socket.processors, ElementsAre(4, 5, 6, 7));
}

TEST(Topology, OrdersTheClustersOfADie) {
  const auto machine = Topology::from_file(folder / "cluster_on_die.xml");
  ASSERT_EQ(machine.nodes().size(), 4U);
  EXPECT_EQ(machine.nodes()[3].cores, 2);
  const auto place = machine.place("0000:01:00.0", "");
  EXPECT_THAT(place.nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(place.near, 1U) << "all devices are attached to one of the two clusters";
  EXPECT_THAT(place.processors, ElementsAre(0, 1));
  EXPECT_THAT(nodes_near({place}), ElementsAre(0));
}

// Four of the eight sockets are in pairs, and two GPUs at sockets that are not.
TEST(Topology, OrdersIrregularGroupsByTheirDistances) {
  const auto machine = Topology::from_file(folder / "irregular_groups.xml");
  const auto fourth = machine.place("0002:01:00.0", ""), seventh = machine.place("0004:01:00.0", "");
  EXPECT_THAT(fourth.nodes, ElementsAre(4, 0, 1, 2, 3, 5, 6, 7));
  EXPECT_THAT(seventh.nodes, ElementsAre(7, 0, 1, 4, 2, 3, 5, 6));
  EXPECT_EQ(seventh.near, 1U);
  EXPECT_THAT(nodes_near({seventh, fourth}), ElementsAre(4, 7));
  EXPECT_THAT(machine.place("0003:01:00.0", "").nodes, ElementsAre(5, 6, 0, 1, 2, 3, 4, 7)) << "its pair is nearer";
}

TEST(Topology, DoesNotGuess) {
  const auto machine = Topology::from_file(folder / "sub_numa_clusters.xml");
  for (const auto& place : {machine.place("0000:e1:00.0", ""), machine.place("", ""), machine.place("nonsense", "x")}) {
    EXPECT_THAT(place.nodes, ElementsAre(0, 1, 2, 3)) << place.address;
    EXPECT_EQ(place.near, 0U) << place.address;
    EXPECT_THAT(place.processors, IsEmpty()) << place.address;
  }
  EXPECT_THROW(Topology::from_file(folder / "not there.xml"), std::runtime_error);
}

TEST(Topology, AsksTheSystemAboutDevicesThatHwlocDoesNotSee) {
  const Synthetic machine("pack:2 group:2 [numa] core:1 pu:2");
  const test::Scratch devices;
  std::filesystem::create_directories(devices.path() / "0000:3b:00.0");
  std::ofstream(devices.path() / "0000:3b:00.0" / "local_cpulist") << "4-5\n";
  const auto place = Topology().place("0000:3b:00.0", "", devices.path());
  EXPECT_THAT(place.nodes, ElementsAre(2, 3, 0, 1)) << "without distances, the same socket is nearer";
  EXPECT_THAT(place.processors, ElementsAre(4, 5));
  EXPECT_EQ(Topology().place("0000:3c:00.0", "", devices.path()).near, 0U);
}

double unasked(const std::vector<int>& /*nodes*/) { throw std::logic_error("there is no choice"); }

TEST(Topology, HasNothingToChooseWithOneNode) {
  const Synthetic machine("numa:1 core:2 pu:1");
  const auto place = Topology::with_devices().place("", "");
  EXPECT_THAT(place.nodes, ElementsAre(0));
  EXPECT_EQ(place.near, 1U);
  EXPECT_THAT(nodes_for_memory(Topology(), {place}, unasked), IsEmpty());
}

TEST(NodesNear, AreThoseOfAllDevices) {
  const auto machine = Topology::from_file(folder / "two_sockets.xml");
  const auto left = machine.place("0003:01:00.0", ""), right = machine.place("000a:01:00.0", ""), unknown = Place{};
  EXPECT_THAT(nodes_near({right, right}), ElementsAre(1));
  EXPECT_THAT(nodes_near({right, unknown, left}), ElementsAre(0, 1));
  EXPECT_THAT(nodes_near({unknown}), IsEmpty());
}

TEST(NodesForMemory, AreTheFasterOnesOfThoseNearDevicesAndAll) {
  const auto machine = Topology::from_file(folder / "two_sockets.xml");
  const auto left = machine.place("0002:01:00.0", ""), right = machine.place("000a:01:00.0", "");
  EXPECT_THAT(nodes_for_memory(machine, {left, right}, unasked), ElementsAre(0, 1));
  const auto near_is_faster = [](const std::vector<int>& nodes) { return 1.0 / static_cast<double>(nodes.size()); };
  EXPECT_THAT(nodes_for_memory(machine, {right}, near_is_faster), ElementsAre(1));
  const auto all_are_faster = [](const std::vector<int>& nodes) { return static_cast<double>(nodes.size()); };
  EXPECT_THAT(nodes_for_memory(machine, {right}, all_are_faster), ElementsAre(0, 1));
  EXPECT_THAT(nodes_for_memory(machine, {Place{}}, all_are_faster), ElementsAre(0, 1)) << "better than nobody knows";
}

// Memory without processors may be that of a GPU.
TEST(NodesForMemory, AreNotThoseWithoutProcessors) {
  const auto machine = Topology::from_file(folder / "node_without_cores.xml");
  ASSERT_EQ(machine.nodes().size(), 3U);
  EXPECT_FALSE(machine.nodes()[1].memory_only);
  EXPECT_TRUE(machine.nodes()[2].memory_only);
  const auto all_are_faster = [](const std::vector<int>& nodes) { return static_cast<double>(nodes.size()); };
  EXPECT_THAT(nodes_for_memory(machine, {Place{}}, all_are_faster), ElementsAre(0, 1));
  auto place = Place{};
  place.nodes = {1, 0, 2}, place.near = 1;
  EXPECT_THAT(nodes_for_memory(machine, {place}, all_are_faster), ElementsAre(0, 1));
}

// hwloc takes memory without processors for local to those of the nearest node. Only the system knows.
TEST(NodesForMemory, AreNotThoseOfWhichTheSystemSaysThatTheyHaveNoProcessors) {
  const test::Scratch scratch;
  const auto machine_of = [&](const char* online, const char* has_cpu) {
    std::ofstream(scratch.path() / "online") << online << '\n';
    std::ofstream(scratch.path() / "has_cpu") << has_cpu << '\n';
    return Topology::from_file(folder / "two_sockets.xml", scratch.path());
  };
  const auto only_right = machine_of("0-1", "1");
  EXPECT_TRUE(only_right.nodes()[0].memory_only);
  EXPECT_EQ(only_right.nodes()[0].cores, 0);
  EXPECT_FALSE(only_right.nodes()[1].memory_only);
  EXPECT_EQ(only_right.place("0002:01:00.0", "").near, 0U) << "no processors are near this GPU";
  EXPECT_THAT(nodes_for_memory(only_right, {Place{}}, unasked), IsEmpty());
  EXPECT_FALSE(machine_of("0,8", "8").nodes()[0].memory_only) << "those are the nodes of another machine";
}

TEST(NodesForMemory, ThereIsNoChoiceBetweenOneSocketAndTheMemoryOfAGpu) {
  const test::Scratch scratch;
  std::ifstream file(folder / "node_without_cores.xml");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const auto second = text.find("<object type=\"NUMANode\" os_index=\"2\"");
  ASSERT_NE(second, std::string::npos);
  text.erase(second, text.find("/>", second) + 2 - second);  // its cores then have no memory of their own
  std::ofstream(scratch.path() / "one_socket.xml") << text;
  const auto machine = Topology::from_file(scratch.path() / "one_socket.xml");
  ASSERT_EQ(machine.nodes().size(), 2U);
  EXPECT_THAT(nodes_for_memory(machine, {Place{}}, unasked), IsEmpty());
}

/// Pages that have not been touched.
class Pages {
 public:
  static constexpr std::size_t bytes = 1 << 20;
  Pages() : data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Pages() { munmap(data_, bytes); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* data() const { return data_; }
  /// The kernel's placement policy for the pages; empty if it is not reported, as in some containers.
  std::optional<int> policy() const {
    int mode = 0;
    if (syscall(SYS_get_mempolicy, &mode, nullptr, 0, data_, MPOL_F_ADDR) != 0) return {};
    return mode;
  }
  bool may_be_placed() const { return syscall(SYS_mbind, data_, bytes, MPOL_DEFAULT, nullptr, 0, 0) == 0; }

 private:
  void* data_;
};

TEST(Topology, SpreadsMemoryPageByPage) {
  const Pages pages;
  if (!pages.may_be_placed() || pages.policy() != MPOL_DEFAULT) GTEST_SKIP() << "the system refuses";
  Topology().spread(pages.data(), Pages::bytes, {0});
  EXPECT_EQ(pages.policy(), MPOL_INTERLEAVE);
}

// This machine does not have the nodes.
TEST(Topology, LeavesMemoryAloneIfTheSystemRefuses) {
  const Synthetic machine("numa:512 core:1 pu:1");
  const Pages pages;
  const auto before = pages.policy();
  EXPECT_NO_THROW(Topology().spread(pages.data(), Pages::bytes, {500, 511}));
  EXPECT_EQ(pages.policy(), before);
  std::memset(pages.data(), 1, Pages::bytes);  // there is memory for all of them
}

TEST(RunNear, KeepsAThreadNearADevice) {
  std::thread([] {
    const auto allowed = [] {
      cpu_set_t set;
      pthread_getaffinity_np(pthread_self(), sizeof set, &set);
      return set;
    };
    const auto before = allowed();
    int first = 0;
    while (!CPU_ISSET(first, &before)) first++;
    Place place;
    run_near(place);
    const auto unknown = allowed();
    EXPECT_TRUE(CPU_EQUAL(&before, &unknown)) << "nobody knows where";
    place.processors = {first, CPU_SETSIZE};
    run_near(place);
    const auto after = allowed();
    EXPECT_EQ(CPU_COUNT(&after), 1);
    EXPECT_TRUE(CPU_ISSET(first, &after));
  }).join();
}

}  // namespace
}  // namespace tessera::device::topology_cpp
