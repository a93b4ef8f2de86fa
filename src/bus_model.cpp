// SPDX-License-Identifier: BSD-3-Clause
#include "bus_model.hpp"

#include <hwloc.h>
#include <starpu.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <sstream>

#include <tessera/error.hpp>

#include "gpu.hpp"

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

/// Cores, NUMA nodes and CUDA devices as StarPU counts them. A count that differs from StarPU's makes it calibrate
/// after all.
struct Counts {
  int cores = 0;
  int numa_nodes = 0;
  int devices = 0;
};

Counts count_hardware(int devices) {
  hwloc_topology_t topology = nullptr;
  hwloc_topology_init(&topology);
  hwloc_topology_load(topology);
  const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  const int units = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
  const int nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  hwloc_topology_destroy(topology);
  return {cores > 0 ? cores : units, std::clamp(nodes, 1, STARPU_MAXNUMANODES), std::min(devices, STARPU_MAXCUDADEVS)};
}

/// As StarPU names its files: up to the first dot.
std::string host_name() {
  if (const char* forced = std::getenv("STARPU_HOSTNAME"); forced != nullptr && *forced != '\0') return forced;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

/// In the cache, or where that cannot be written (a service without a home), in a folder for temporary files.
fs::path writable_folder(const fs::path& name) {
  std::error_code error;
  for (const auto& parent : {cache_directory(), fs::temp_directory_path(error) / "tessera"}) {
    fs::create_directories(parent / name, error);
    if (!error && access((parent / name).c_str(), W_OK) == 0) return parent / name;
  }
  throw RuntimeError("no folder for what is measured of the machine's links; set TESSERA_CACHE_DIR to one");
}

void write_file(const fs::path& path, const std::string& text) {
  const auto draft = path.string() + "." + std::to_string(getpid());
  {
    std::ofstream file(draft);
    file << text;
    if (!file.flush()) throw RuntimeError("cannot write " + draft);
  }
  std::error_code error;
  fs::rename(draft, path, error);  // another process may be writing the same file: each sees a whole one
  if (error) throw RuntimeError("cannot write " + path.string() + ": " + error.message());
}

/// A square table over the host's NUMA nodes and the devices. The links of all NUMA nodes are taken for the same; what
/// is between NUMA nodes StarPU asks for only with STARPU_USE_NUMA. StarPU does not see the last value of a line, nor
/// the last line: both are dummies.
std::string table(const gpu::LinkRates& rates, int numa_nodes, const std::function<double(double)>& cell) {
  constexpr double between_numa_nodes = 50e9;
  std::ostringstream text;
  const auto devices = rates.h2d.size();
  text << "# from (row) to (column): NUMA nodes, then GPUs\n";
  for (int from = 0; from < numa_nodes; from++) {
    for (int to = 0; to < numa_nodes; to++) text << (from == to ? 0.0 : cell(between_numa_nodes)) << '\t';
    for (const double rate : rates.h2d) text << cell(rate) << '\t';
    text << "nan\n";
  }
  for (std::size_t from = 0; from < devices; from++) {
    for (int to = 0; to < numa_nodes; to++) text << cell(rates.d2h[from]) << '\t';
    for (std::size_t to = 0; to < devices; to++) text << (from == to ? 0.0 : cell(rates.peer[from][to])) << '\t';
    text << "nan\n";
  }
  text << "nan\tnan\n";
  return text.str();
}

std::string config(const Counts& counts) {
  std::ostringstream text;
  text << "# Current configuration\n"
       << counts.cores << " # Number of CPUs\n"
       << counts.numa_nodes << " # Number of NUMA nodes\n"
       << counts.devices << " # Number of CUDA nodes\n";
  for (const char* kind : {"OpenCL", "FPGA", "Disk", "MPI_MS", "TCPIP_MS", "HIP"})  // StarPU's order of node kinds
    text << "0 # Number of " << kind << " nodes\n";
  return text.str();
}

std::string affinity(const Counts& counts) {
  std::ostringstream text;
  text << "# GPU\t";
  for (int node = 0; node < counts.numa_nodes; node++) text << "NUMA" << node << '\t';
  text << '\n';
  for (int device = 0; device < counts.devices; device++) {
    text << device << '\t';
    for (int node = 0; node < counts.numa_nodes; node++) text << node << '\t';
    text << '\n';
  }
  return text.str();
}

/// Only simulations read it, but StarPU calibrates if it is not there.
constexpr const char* no_platform = "<!-- measured without a calibration: no platform for simulation -->\n";

/// The measured rates of the devices that answer, spread over all of them: StarPU counts the others too.
gpu::LinkRates rates_of_all(int devices) {
  std::vector<int> usable;
  for (const auto& gpu : gpu::probe(-1).usable) usable.push_back(gpu.ordinal);
  const auto measured = gpu::measure_links(usable, std::size_t{64} << 20);
  gpu::LinkRates all;
  const auto place = [&](int device) {  // of the device in `measured`, or of any other
    const auto found = std::ranges::find(usable, device);
    return static_cast<std::size_t>(found == usable.end() ? 0 : found - usable.begin());
  };
  const double slowest = 1e9;  // for what could not be measured; nothing will use it
  for (int from = 0; from < devices; from++) {
    const bool known = !usable.empty();
    all.h2d.push_back(known ? measured.h2d[place(from)] : slowest);
    all.d2h.push_back(known ? measured.d2h[place(from)] : slowest);
    all.latency.push_back(known ? measured.latency[place(from)] : 1e-5);
    auto& row = all.peer.emplace_back();
    for (int to = 0; to < devices; to++) {
      const double rate = known ? measured.peer[place(from)][place(to)] : 0;
      row.push_back(rate > 0 ? rate : slowest);
    }
  }
  return all;
}

void write_bus_files(const fs::path& folder, const Counts& counts) {
  const auto rates = rates_of_all(counts.devices);
  const double latency = *std::ranges::max_element(rates.latency);
  const auto file = [&](const char* ending) { return folder / (host_name() + ending); };
  write_file(file(".bandwidth"), table(rates, counts.numa_nodes, [](double rate) { return rate / 1e6; }));  // MB/s
  write_file(file(".latency"), table(rates, counts.numa_nodes, [&](double) { return latency * 1e6; }));     // µs
  write_file(file(".affinity"), affinity(counts));
  for (const char* version : {".platform.v4.xml", ".platform.xml"}) write_file(file(version), no_platform);
  write_file(file(".config"), config(counts));  // last: it is the one that StarPU looks for
}

}  // namespace

std::optional<TemporaryVariable> prepare_bus_model() {
  const auto devices = gpu::visible_devices();
  if (devices.empty() || std::getenv("STARPU_PERF_MODEL_DIR") != nullptr) return std::nullopt;
  const auto counts = count_hardware(static_cast<int>(devices.size()));
  std::string names;
  for (const auto& name : devices) names += name + ";";
  const auto key = std::to_string(counts.cores) + "-cores-" + std::to_string(counts.numa_nodes) + "-nodes-" +
                   std::to_string(counts.devices) + "-gpus-" + std::to_string(std::hash<std::string>{}(names));
  const auto folder = writable_folder(fs::path("starpu") / key / "bus");
  std::error_code unknown;  // counts as not there
  if (!fs::exists(folder / (host_name() + ".config"), unknown)) write_bus_files(folder, counts);
  return TemporaryVariable("STARPU_PERF_MODEL_DIR", folder.parent_path().string());
}

}  // namespace tessera::detail
