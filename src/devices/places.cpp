// SPDX-License-Identifier: BSD-3-Clause
#include "places.hpp"

#include <pthread.h>
#include <sched.h>

#include <set>
#include <string>

#include "common/environment.hpp"
#include "devices/opencl/opencl.hpp"
#include "gpu.hpp"

namespace tessera::device {

namespace {

// Nothing here is destroyed, since a session may outlive it.

Topology load(bool with_devices) {
  if (const std::string file(common::environment("STARPU_HWLOC_INPUT")); !file.empty())
    return Topology::from_file(file);
  return with_devices ? Topology::with_devices() : Topology();
}

/// @param name  hwloc's name for the devices, without the number
std::vector<Place> look_for(int count, const char* name, std::string (*address)(int)) {
  if (count == 0) return {};
  // Reads the devices only if there are several NUMA nodes to choose from, because reading them takes longer.
  static const auto& machine = starpus_machine().nodes().size() == 1 ? starpus_machine() : *new Topology(load(true));
  std::vector<Place> places;
  for (int i = 0; i < count; i++) places.push_back(machine.place(address(i), name + std::to_string(i)));
  return places;
}

}  // namespace

const Topology& starpus_machine() {
  static const auto& machine = *new Topology(load(false));
  return machine;
}

const std::vector<Place>& gpu_places() {
  static const auto& places =
      *new auto(look_for(static_cast<int>(gpu::visible_devices().size()), "cuda", gpu::pci_address));
  return places;
}

const std::vector<Place>& opencl_places() {
  static const auto& places = *new auto(look_for(opencl::device_count(), "opencl0d", opencl::pci_address));
  return places;
}

std::vector<int> nodes_near(const std::vector<Place>& places) {
  std::set<int> nodes;
  for (const auto& place : places)
    nodes.insert(place.nodes.begin(), place.nodes.begin() + static_cast<std::ptrdiff_t>(place.near));
  return {nodes.begin(), nodes.end()};
}

std::vector<int> nodes_for_memory(const Topology& machine, const std::vector<Place>& places,
                                  const std::function<double(const std::vector<int>&)>& rate) {
  const auto nodes = machine.nodes();
  std::vector<int> all;
  for (std::size_t n = 0; n < nodes.size(); n++)
    if (!nodes[n].memory_only) all.push_back(static_cast<int>(n));
  if (all.size() <= 1) return {};
  const auto near = nodes_near(places);
  constexpr double clear_gain = 1.05;  // measured rates vary
  return near == all || clear_gain * rate(near) >= rate(all) ? near : all;
}

void run_near(const Place& place) {
  cpu_set_t allowed, near;
  CPU_ZERO(&allowed);
  CPU_ZERO(&near);
  if (pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed) != 0) return;
  for (const int processor : place.processors)
    if (processor < CPU_SETSIZE && CPU_ISSET(processor, &allowed)) CPU_SET(processor, &near);
  if (CPU_COUNT(&near) > 0) pthread_setaffinity_np(pthread_self(), sizeof near, &near);
}

}  // namespace tessera::device
