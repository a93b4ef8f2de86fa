// SPDX-License-Identifier: BSD-3-Clause
#include "starpu_folder.hpp"

#include <starpu.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <tessera/error.hpp>

#include "bus_files.hpp"
#include "common/environment.hpp"
#include "common/whole_file.hpp"
#include "devices/link_rates.hpp"
#include "devices/opencl/opencl.hpp"
#include "devices/places.hpp"
#include "devices/rates_cache.hpp"

namespace tessera::machine {

namespace {

namespace fs = std::filesystem;

constexpr double rate_of_unused_link = 1e6;  // [bytes/s]; slow, so the policy does not regard the devices as peers

/// Counts cores and NUMA nodes as StarPU does, because StarPU would calibrate if the counts differed.
Bus describe_hardware() {
  const auto &gpus = device::gpu_places(), &opencl = device::opencl_places();
  Bus bus;
  bus.cores = device::starpus_machine().cores();
  bus.numa_nodes = std::min(static_cast<int>(device::starpus_machine().nodes().size()), STARPU_MAXNUMANODES);
  bus.gpus = std::min(static_cast<int>(gpus.size()), STARPU_MAXCUDADEVS);
  bus.opencl_devices = static_cast<int>(opencl.size());
  bus.most_ends = STARPU_MAXNODES;
  const auto add = [&bus](const device::Place& place) {
    auto& nodes = bus.nodes_of.emplace_back();
    std::ranges::copy_if(place.nodes, std::back_inserter(nodes), [&](int node) { return node < bus.numa_nodes; });
  };
  std::for_each_n(gpus.begin(), bus.gpus, add), std::ranges::for_each(opencl, add);
  return bus;
}

/// The host name in StarPU's file names: STARPU_HOSTNAME, or else the host name up to the first dot.
std::string host_name() {
  constexpr std::size_t longest = 63;
  if (const std::string forced(common::environment("STARPU_HOSTNAME")); !forced.empty())
    return forced.substr(0, longest);
  std::array<char, longest + 2> name{};
  gethostname(name.data(), name.size() - 1);
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

/// Sets the rates of all links. A GPU gets the same rate to every NUMA node. StarPU uses the rates between NUMA nodes
/// only with STARPU_USE_NUMA.
/// @param opencl  by device number
void set_rates(Bus& bus, device::gpu::LinkRates rates, std::map<int, device::opencl::LinkRates> opencl) {
  constexpr double between_numa_nodes = 50e9, latency_of_host = 1e-6;
  const double latency = rates.latency.empty() ? latency_of_host : *std::ranges::max_element(rates.latency);
  bus.latency = [latency](int, int) { return latency; };
  bus.rate = [rates = std::move(rates), opencl = std::move(opencl), nodes = bus.numa_nodes,
              gpus_end = bus.numa_nodes + bus.gpus](int from, int to) {
    if (from >= gpus_end || to >= gpus_end) {  // an OpenCL device, which copies only from and to the host
      const auto known = opencl.find(std::max(from, to) - gpus_end);
      if (known == opencl.end() || std::min(from, to) >= nodes) return rate_of_unused_link;
      return from < to ? known->second.to_device : known->second.from_device;
    }
    const auto gpu = [nodes](int end) { return static_cast<std::size_t>(end - nodes); };
    if (from < nodes) return to < nodes ? between_numa_nodes : rates.h2d[gpu(to)];
    return to < nodes ? rates.d2h[gpu(from)] : rates.peer[gpu(from)][gpu(to)];
  };
}

/// The rates of the links of the OpenCL devices, measured once for each kind of device.
std::map<int, device::opencl::LinkRates> opencl_rates(const std::vector<device::gpu::Info>& gpus,
                                                      const fs::path& cache) {
  std::map<int, device::opencl::LinkRates> rates;
  for (const auto& device : gpus) {
    if (!device.opencl) continue;
    const device::RatesCache known(cache, device.name, device::opencl::conditions(device.ordinal));
    const auto to = known.find("to device"), from = known.find("from device");
    auto& measured = rates[device.ordinal] = {to.best_rate(), from.best_rate()};
    if (!to.empty() && !from.empty()) continue;
    measured = device::opencl::measure_link(device.ordinal);
    known.keep("to device", device::CostCurve({{measured.to_device, 1}}));
    known.keep("from device", device::CostCurve({{measured.from_device, 1}}));
  }
  return rates;
}

void require_writable(const fs::path& folder) {
  if (const auto reason = common::why_not_writable(folder); !reason.empty()) throw RuntimeError(reason);
}

bool holds(const fs::path& path, const std::string& text) {
  std::ostringstream found;
  found << std::ifstream(path).rdbuf();
  return found.str() == text;
}

/// Creates StarPU's folders and writes the files. Even the folders for the program's own performance models are needed:
/// StarPU ends the process if it cannot create one.
void fill(const fs::path& folder, const std::string& host, const std::vector<BusFile>& files) {
  constexpr std::size_t longest = 255;  // StarPU truncates longer paths
  for (const auto& file : files)
    if ((folder / "bus" / (host + file.ending)).native().size() > longest)
      throw RuntimeError(folder.string() + " is too long a path for StarPU");
  for (const char* part : {"bus", "codelets", "debug"}) require_writable(folder / part);
  for (const auto& file : files)
    if (const auto path = folder / "bus" / (host + file.ending); !holds(path, file.text))
      common::write_whole(path, file.text);
}

fs::path temporary_folder() {
  std::error_code error;
  const auto folder = fs::temp_directory_path(error);
  return error ? "/tmp" : folder;
}

}  // namespace

StarpuFolder::StarpuFolder(const std::vector<device::gpu::Info>& gpus) {
  const auto host = host_name();
  if (const fs::path given = common::environment("STARPU_PERF_MODEL_DIR"); !given.empty()) {
    std::error_code unknown;
    if (!fs::exists(given / "bus" / (host + ".config"), unknown)) require_writable(given / "bus");
    return;
  }
  auto bus = describe_hardware();
  std::vector<int> used;
  for (const auto& gpu : gpus)
    if (!gpu.opencl && gpu.ordinal < bus.gpus) used.push_back(gpu.ordinal);
  const auto key = folder_name(bus, device::gpu::visible_devices(), used);
  const auto cache = common::cache_directory();
  const auto kept = cache ? *cache / "starpu" / key : fs::path();
  auto opencl = opencl_rates(gpus, cache.value_or(fs::path()));
  const auto file = cache ? kept / (host + ".links.json") : fs::path();
  set_rates(bus, bus.gpus > 0 ? device::link_rates(bus.gpus, used, file) : device::gpu::LinkRates(), std::move(opencl));
  const auto files = bus_files(bus);

  std::string reasons;
  if (cache) {
    try {
      fill(kept, host, files);
      path_ = kept;
      return;
    } catch (const RuntimeError& error) {
      reasons = error.what();
    }
  }
  for (const auto& parent : {temporary_folder(), fs::path("/dev/shm")}) {
    try {
      common::PrivateFolder folder(parent);
      fill(folder.path(), host, files);
      path_ = folder.path();
      private_.emplace(std::move(folder));
      return;
    } catch (const RuntimeError& error) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  throw RuntimeError("StarPU needs a folder that it can write: set TESSERA_CACHE_DIR to one (" + reasons + ")");
}

void StarpuFolder::announce_in(common::StarpuVariables& variables) const {
  if (!path_.empty()) variables.set("STARPU_PERF_MODEL_DIR", path_.string(), common::StarpuVariables::IfSet::Replace);
}

}  // namespace tessera::machine
