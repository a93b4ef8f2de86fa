// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

struct hwloc_topology;

namespace tessera::device {

/// Where a device is attached to the host.
struct Place {
  std::string address;     ///< on the PCI bus, such as "0000:3b:00.0"; empty: unknown
  std::vector<int> nodes;  ///< all NUMA nodes by hwloc's logical numbers, nearest first
  std::size_t near = 0;  ///< number of these nodes, counted from the first, to which the device is attached; 0: unknown
  std::vector<int> processors;  ///< processors of the near nodes, by the system's numbers
};

/// A machine as hwloc sees it.
class Topology {
 public:
  struct Node {
    int cores = 0;
    std::size_t memory = 0;    ///< [bytes]
    bool memory_only = false;  ///< the machine has no processors there, for example because it is a GPU's memory
  };

  /// This machine, without devices.
  Topology();
  /// This machine with its PCI devices. hwloc does not ask their drivers, because that would start CUDA, OpenCL and X,
  /// and change the environment.
  static Topology with_devices();
  /// The machine that hwloc has exported to an XML file, with all devices.
  /// @param system_nodes  that machine's folder of NUMA nodes; empty: not known
  static Topology from_file(const std::filesystem::path& xml, const std::filesystem::path& system_nodes = {});

  int cores() const;                ///< counted as StarPU counts them
  int allowed_cores() const;        ///< cores on which this process may run, whatever their number of hardware threads
  std::vector<Node> nodes() const;  ///< NUMA nodes; at least one
  std::size_t memory() const;       ///< [bytes]
  std::string processor() const;    ///< the processor's model; empty: unknown
  std::size_t second_level_caches() const;  ///< of all cores together [bytes]; 0: unknown

  /// Finds a device. Looks for its PCI address, then for the name that hwloc's plugins gave it in a file, and finally
  /// asks the system.
  /// @param name         such as "cuda0"
  /// @param pci_devices  the system's folder of PCI devices
  Place place(const std::string& address, const std::string& name,
              const std::filesystem::path& pci_devices = "/sys/bus/pci/devices") const;

  /// Interleaves untouched pages over NUMA nodes. Does nothing if the system refuses.
  void spread(void* data, std::size_t bytes, const std::vector<int>& nodes) const;

 private:
  struct Free {
    void operator()(hwloc_topology* topology) const;
  };
  Topology(hwloc_topology* loaded, const std::filesystem::path& system_nodes);

  std::unique_ptr<hwloc_topology, Free> topology_;
  std::set<unsigned> memory_only_;  ///< NUMA nodes without processors, by the system's numbers
};

}  // namespace tessera::device
