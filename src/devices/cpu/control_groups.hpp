// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::device {

/// The limits that control groups set for this process, for example those of a batch job, a service or a container. A
/// limit of a group also applies to all groups inside it, so the tightest limit from the process's own group up to the
/// root counts. Version 1 has one hierarchy of groups per resource; version 2 has a single hierarchy. A system may use
/// both.
class ControlGroups {
 public:
  /// Finds out where the hierarchies are mounted.
  /// @param root  the folder that contains proc and sys
  explicit ControlGroups(std::filesystem::path root = "/");

  /// The control groups of the system, read once, because they are mounted before programs start.
  static const ControlGroups& of_system();

  /// Bytes that the process can still allocate; infinity if unlimited. The file cache counts as free.
  double free_memory() const;
  /// The processor time that the process gets, in cores; infinity if unlimited.
  double processors() const;

 private:
  struct Hierarchy {
    std::filesystem::path mount;  ///< mount point, relative to root_
    std::string group;            ///< the group that is mounted there: "/", except in some containers
    std::string resources;        ///< version 1: for example "cpu,cpuacct"; version 2: "", which means all
  };

  /// The folders of the process's group and of all groups above it, for "memory" or "cpu".
  /// @param version  version of the hierarchies to use: 1 or 2
  std::vector<std::filesystem::path> folders(const std::string& resource, int version) const;

  std::filesystem::path root_;
  std::vector<Hierarchy> hierarchies_;
};

}  // namespace tessera::device
