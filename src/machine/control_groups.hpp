// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::detail {

/// What the control groups leave to this process: those of a batch job, a service or a container. A limit of a group
/// holds for all groups below it, so the tightest one on the way from the process's own group to the root counts.
/// Version 1 has a hierarchy of groups for each resource, version 2 one for all; a system may have both.
class ControlGroups {
 public:
  /// Reads where the hierarchies are mounted.
  /// @param root  below which proc and sys are
  explicit ControlGroups(std::filesystem::path root = "/");

  /// Those of the system. They are mounted once, before programs start.
  static const ControlGroups& of_system();

  /// Bytes that the process can still take; infinity: not limited. Files that the system has cached count as free.
  double free_memory() const;
  /// The cores' worth of time that the process gets; infinity: not limited.
  double processors() const;

 private:
  struct Hierarchy {
    std::filesystem::path mount;  ///< below root_
    std::string group;            ///< that is mounted there: "/", but in some containers
    std::string resources;        ///< of version 1: "cpu,cpuacct"; "": all, of version 2
  };

  /// The folders of the process's group and of those above it, for "memory" or "cpu".
  /// @param version  of the hierarchies that are looked at: 1 or 2
  std::vector<std::filesystem::path> folders(const std::string& resource, int version) const;

  std::filesystem::path root_;
  std::vector<Hierarchy> hierarchies_;
};

}  // namespace tessera::detail
