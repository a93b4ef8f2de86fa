// SPDX-License-Identifier: BSD-3-Clause
// Limits of control groups, on trees of files that imitate several systems.
#include "devices/cpu/control_groups.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/files.hpp"

namespace tessera::device::control_groups_cpp {
namespace {

/// A system of files.
struct Tree : test::Scratch {
  void file(const std::filesystem::path& name, const std::string& text) const {
    std::filesystem::create_directories((path() / name).parent_path());
    test::write_file(path() / name, text);
  }
  /// The limit of a version 2 group, and the usage of its processes.
  void memory(const std::string& group, const std::string& most, int used, int cached) const {
    file(group + "/memory.max", most + "\n");
    file(group + "/memory.current", std::to_string(used) + "\n");
    file(group + "/memory.stat", "anon 5\ninactive_file " + std::to_string(cached) + "\nunevictable 3\n");
  }
  double free_memory() const { return ControlGroups(path()).free_memory(); }
  double processors() const { return ControlGroups(path()).processors(); }
};

constexpr const char* version_2 =
    "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n31 25 0:27 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n";
constexpr const char* version_1 =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:3 - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n";

TEST(ControlGroups, OfVersion2LimitTheGroupsBelowThem) {
  const Tree tree;
  tree.file("proc/self/mountinfo", version_2);
  tree.file("proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0\n");
  const std::string root = "sys/fs/cgroup/", job = root + "system.slice/slurmstepd.scope/job_7";
  tree.memory(job + "/step_0", "max", 100, 0);
  tree.memory(job, "1000", 700, 50);
  tree.memory(root + "system.slice", "5000", 1000, 0);
  EXPECT_EQ(tree.free_memory(), 1000 - (700 - 50));
  tree.memory(job + "/step_0", "400", 100, 0);
  EXPECT_EQ(tree.free_memory(), 300) << "the own group";
  tree.memory(root + "system.slice", "5000", 4900, 20);
  EXPECT_EQ(tree.free_memory(), 120) << "a group above, that others fill";
  tree.file(job + "/memory.high", "720\n");
  EXPECT_EQ(tree.free_memory(), 70) << "where processes are slowed down";
  tree.memory(root + "system.slice", "5000", 5100, 20);
  EXPECT_EQ(tree.free_memory(), 0);
}

TEST(ControlGroups, OfVersion1LimitTheGroupsBelowThem) {
  const Tree tree;
  tree.file("proc/self/mountinfo", version_1);
  tree.file("proc/self/cgroup", "9:name=systemd:/other\n4:memory:/slurm/uid_5/job_7\n1:cpu,cpuacct:/slurm/uid_6\n");
  const std::string memory = "sys/fs/cgroup/memory/slurm/uid_5/";
  const auto limit = [&](const std::string& group, const std::string& most, const std::string& used) {
    tree.file(group + "memory.limit_in_bytes", most), tree.file(group + "memory.usage_in_bytes", used);
    tree.file(group + "memory.stat", "inactive_file 1\ntotal_inactive_file 20\n");
  };
  limit(memory + "job_7/", "9223372036854771712", "500");
  limit(memory, "1000", "600");
  EXPECT_EQ(tree.free_memory(), 1000 - (600 - 20));
  const std::string cpu = "sys/fs/cgroup/cpu,cpuacct/slurm/";
  tree.file(cpu + "uid_6/cpu.cfs_quota_us", "-1\n"), tree.file(cpu + "uid_6/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(tree.processors()));
  tree.file(cpu + "cpu.cfs_quota_us", "350000\n"), tree.file(cpu + "cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(tree.processors(), 3.5);
}

TEST(ControlGroups, OfVersion2ShareOutCores) {
  const Tree tree;
  tree.file("proc/self/mountinfo", version_2);
  tree.file("proc/self/cgroup", "0::/a/b/c\n");
  tree.file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(tree.processors()));
  tree.file("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  EXPECT_EQ(tree.processors(), 2);
  tree.file("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(tree.processors(), 0.5);
}

/// A hybrid system: version 1 limits memory, and version 2 exists without controllers.
TEST(ControlGroups, MayBeOfBothVersions) {
  const Tree tree;
  tree.file("proc/self/mountinfo",
            version_1 + std::string("41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n"));
  tree.file("proc/self/cgroup", "4:memory:/job\n0::/user\n");
  tree.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "300\n");
  tree.file("sys/fs/cgroup/unified/user/cgroup.procs", "1\n");
  EXPECT_EQ(tree.free_memory(), 300);
}

/// A container may see its own group as the root, whatever the group's name is outside.
TEST(ControlGroups, AreFoundInContainers) {
  const Tree tree;
  tree.file("sys/fs/cgroup/memory.max", "800\n"), tree.file("sys/fs/cgroup/memory.current", "100\n");
  tree.file("sys/fs/cgroup/own/memory.max", "600\n"), tree.file("sys/fs/cgroup/own/memory.current", "0\n");
  const std::string mount = " /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  for (const auto& [mounted, group, free] : {std::tuple{"/", "/", 700},
                                             {"/docker/f00", "/docker/f00", 700},
                                             {"/docker/f00", "/docker/f00/own", 600},
                                             {"/docker/f00", "/elsewhere/own", 700},
                                             {"/", "/../../outside", 700}}) {
    tree.file("proc/self/mountinfo", std::string("31 25 0:27 ") + mounted + mount);
    tree.file("proc/self/cgroup", std::string("0::") + group + "\n");
    EXPECT_EQ(tree.free_memory(), free) << group << " in " << mounted;
  }
}

TEST(ControlGroups, NeedNotExist) {
  const Tree tree;
  EXPECT_TRUE(std::isinf(tree.free_memory()) && std::isinf(tree.processors()));
}

}  // namespace
}  // namespace tessera::device::control_groups_cpp
