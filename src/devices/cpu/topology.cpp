// SPDX-License-Identifier: BSD-3-Clause
#include "topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>

#include <tessera/error.hpp>

namespace tessera::device {

namespace {

namespace fs = std::filesystem;

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

constexpr const char* of_this_system = "/sys/devices/system/node";

hwloc_topology_t load(const std::string& xml, bool with_devices) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) throw RuntimeError("hwloc cannot be initialized");
  if (with_devices)
    for (const auto type : {HWLOC_OBJ_BRIDGE, HWLOC_OBJ_PCI_DEVICE})
      hwloc_topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (with_devices && !xml.empty())
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_OS_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if ((!xml.empty() && hwloc_topology_set_xml(topology, xml.c_str()) != 0) || hwloc_topology_load(topology) != 0) {
    hwloc_topology_destroy(topology);
    throw RuntimeError("hwloc cannot describe this machine" + (xml.empty() ? "" : ": it cannot read " + xml));
  }
  return topology;
}

int count(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return std::max(0, hwloc_get_nbobjs_by_type(topology, type));
}

std::vector<hwloc_obj_t> numa_nodes(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> nodes;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;)
    nodes.push_back(node);
  return nodes;
}

/// A list of numbers in a file of the system, or null.
Bitmap list_in(const fs::path& file) {
  std::ifstream stream(file);
  std::string text;
  Bitmap list(hwloc_bitmap_alloc());
  if (!std::getline(stream, text) || hwloc_bitmap_list_sscanf(list.get(), text.c_str()) != 0) return nullptr;
  return list;
}

/// The device with this address or name, or null.
hwloc_obj_t find_device(hwloc_topology_t topology, const std::string& address, const std::string& name) {
  if (!address.empty())
    if (const auto device = hwloc_get_pcidev_by_busidstring(topology, address.c_str()); device != nullptr)
      return device;
  for (hwloc_obj_t device = nullptr; (device = hwloc_get_next_osdev(topology, device)) != nullptr;)
    if (device->name != nullptr && device->name == name) return device;
  return nullptr;
}

/// The processors near a device: those of the part of the host to which hwloc has attached the device, or else those
/// that the system reports. Empty if unknown.
Bitmap processors_near(hwloc_topology_t topology, const std::string& address, const std::string& name,
                       const fs::path& pci_devices) {
  Bitmap near(hwloc_bitmap_alloc());
  const auto device = find_device(topology, address, name);
  if (const auto host = device == nullptr ? nullptr : hwloc_get_non_io_ancestor_obj(topology, device);
      host != nullptr && host->parent != nullptr) {
    hwloc_bitmap_copy(near.get(), host->cpuset);
  } else if (!address.empty() && hwloc_topology_is_thissystem(topology) != 0) {
    std::string list;
    if (std::getline(std::ifstream(pci_devices / address / "local_cpulist"), list))
      hwloc_bitmap_list_sscanf(near.get(), list.c_str());
  }
  return near;
}

/// The distance of each NUMA node from the nearest of the `near` nodes, from the system's table. Without a table, the
/// number of levels up to the nearest common ancestor in the topology.
std::vector<double> distances(hwloc_topology_t topology, const std::vector<hwloc_obj_t>& nodes,
                              const std::vector<hwloc_obj_t>& near) {
  unsigned tables = 1;
  hwloc_distances_s* table = nullptr;
  if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &tables, &table, HWLOC_DISTANCES_KIND_MEANS_LATENCY,
                                  0) != 0)
    tables = 0;
  const auto between = [&](hwloc_obj_t from, hwloc_obj_t to) -> double {
    hwloc_uint64_t there = 0, back = 0;
    if (tables > 0 && hwloc_distances_obj_pair_values(table, from, to, &there, &back) == 0)
      return static_cast<double>(there);
    return -hwloc_get_common_ancestor_obj(topology, from->parent, to->parent)->depth;
  };
  std::vector<double> least;
  for (const auto node : nodes) {
    double distance = std::numeric_limits<double>::infinity();
    for (const auto from : near) distance = std::min(distance, between(from, node));
    least.push_back(distance);
  }
  if (tables > 0) hwloc_distances_release(topology, table);
  return least;
}

}  // namespace

void Topology::Free::operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }

Topology::Topology(hwloc_topology* loaded, const fs::path& system_nodes) : topology_(loaded) {
  // hwloc takes such a node for local to the processors of the nearest other node, if the system tells which one that
  // is.
  const auto with_processors = list_in(system_nodes / "has_cpu"), all = list_in(system_nodes / "online");
  const bool known = !system_nodes.empty() && with_processors != nullptr && all != nullptr &&
                     hwloc_bitmap_isequal(all.get(), hwloc_topology_get_complete_nodeset(loaded)) != 0;
  for (const auto node : numa_nodes(loaded))
    if (known ? hwloc_bitmap_isset(with_processors.get(), node->os_index) == 0
              : hwloc_bitmap_iszero(node->complete_cpuset) != 0)
      memory_only_.insert(node->os_index);
}

Topology::Topology() : Topology(load({}, false), of_this_system) {}
Topology Topology::with_devices() { return {load({}, true), of_this_system}; }
Topology Topology::from_file(const fs::path& xml, const fs::path& system_nodes) {
  return {load(xml, true), system_nodes};
}

int Topology::cores() const {
  const int cores = count(topology_.get(), HWLOC_OBJ_CORE);
  return cores > 0 ? cores : count(topology_.get(), HWLOC_OBJ_PU);
}

int Topology::allowed_cores() const {
  const Bitmap allowed(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology_.get(), allowed.get(), HWLOC_CPUBIND_PROCESS) != 0) return 1;
  int cores = 0;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology_.get(), HWLOC_OBJ_CORE, core)) != nullptr;)
    cores += hwloc_bitmap_intersects(core->cpuset, allowed.get());
  return std::max(1, cores);
}

std::vector<Topology::Node> Topology::nodes() const {
  std::vector<Node> nodes;
  for (const auto node : numa_nodes(topology_.get()))
    if (const auto memory = node->attr->numanode.local_memory; memory_only_.contains(node->os_index))
      nodes.push_back({0, memory, true});
    else
      nodes.push_back(
          {hwloc_get_nbobjs_inside_cpuset_by_type(topology_.get(), node->cpuset, HWLOC_OBJ_CORE), memory, false});
  if (nodes.empty()) nodes.push_back({cores(), memory(), false});
  return nodes;
}

std::size_t Topology::memory() const { return hwloc_get_root_obj(topology_.get())->total_memory; }

std::string Topology::processor() const {
  for (const auto object :
       {hwloc_get_obj_by_type(topology_.get(), HWLOC_OBJ_PACKAGE, 0), hwloc_get_root_obj(topology_.get())})
    if (const char* model = object == nullptr ? nullptr : hwloc_obj_get_info_by_name(object, "CPUModel");
        model != nullptr)
      return model;
  return {};
}

std::size_t Topology::second_level_caches() const {
  std::size_t bytes = 0;
  for (hwloc_obj_t cache = nullptr;
       (cache = hwloc_get_next_obj_by_type(topology_.get(), HWLOC_OBJ_L2CACHE, cache)) != nullptr;)
    bytes += cache->attr->cache.size;
  return bytes;
}

Place Topology::place(const std::string& address, const std::string& name, const fs::path& pci_devices) const {
  const auto nodes = numa_nodes(topology_.get());
  Place place{address, std::vector<int>(std::max<std::size_t>(1, nodes.size())), 0, {}};
  std::iota(place.nodes.begin(), place.nodes.end(), 0);
  if (place.nodes.size() == 1) place.near = 1;
  if (place.nodes.size() == 1) return place;
  const auto processors = processors_near(topology_.get(), address, name, pci_devices);
  std::vector<hwloc_obj_t> near;
  for (const auto node : nodes)
    if (!memory_only_.contains(node->os_index) && hwloc_bitmap_intersects(node->cpuset, processors.get()) != 0)
      near.push_back(node);
  if (near.empty()) return place;
  const auto distance = distances(topology_.get(), nodes, near);
  const auto rank = [&](int node) {
    const auto n = static_cast<std::size_t>(node);
    return std::pair(std::ranges::find(near, nodes[n]) == near.end(), distance[n]);
  };
  std::ranges::stable_sort(place.nodes, {}, rank);
  place.near = near.size();
  for (int unit = -1; (unit = hwloc_bitmap_next(processors.get(), unit)) >= 0;) place.processors.push_back(unit);
  return place;
}

void Topology::spread(void* data, std::size_t bytes, const std::vector<int>& nodes) const {
  const Bitmap set(hwloc_bitmap_alloc());
  const auto all = numa_nodes(topology_.get());
  for (const int node : nodes) hwloc_bitmap_set(set.get(), all.at(static_cast<std::size_t>(node))->os_index);
  hwloc_set_area_membind(topology_.get(), data, bytes, set.get(), HWLOC_MEMBIND_INTERLEAVE, HWLOC_MEMBIND_BYNODESET);
}

}  // namespace tessera::device
