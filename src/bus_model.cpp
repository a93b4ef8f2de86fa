// SPDX-License-Identifier: BSD-3-Clause
#include "bus_model.hpp"

#include <hwloc.h>
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

/// Cores and CUDA devices as StarPU counts them. A count that differs from StarPU's makes StarPU calibrate after all.
struct Counts {
  int cores = 0;
  int devices = 0;
};

int count_cores() {
  hwloc_topology_t topology = nullptr;
  hwloc_topology_init(&topology);
  hwloc_topology_load(topology);
  const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  const int units = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
  hwloc_topology_destroy(topology);
  return cores > 0 ? cores : units;
}

/// As StarPU names its files: up to the first dot.
std::string host_name() {
  if (const char* forced = std::getenv("STARPU_HOSTNAME"); forced != nullptr && *forced != '\0') return forced;
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

void write_file(const fs::path& path, const std::string& text) {
  const auto draft = path.string() + "." + std::to_string(getpid());
  {
    std::ofstream file(draft);
    file << text;
    if (!file.flush()) throw RuntimeError("cannot write " + draft);
  }
  fs::rename(draft, path);  // another process may be writing the same file: each sees a whole one
}

/// A square table over host memory (node 0) and the devices. StarPU does not see the last value of a line, nor the last
/// line: both are dummies.
std::string table(const gpu::LinkRates& rates, const std::function<double(double)>& cell) {
  std::ostringstream text;
  const auto devices = rates.h2d.size();
  text << "# from (row) to (column): host, then the GPUs\n" << 0.0;
  for (const double rate : rates.h2d) text << '\t' << cell(rate);
  text << "\tnan\n";
  for (std::size_t from = 0; from < devices; from++) {
    text << cell(rates.d2h[from]);
    for (std::size_t to = 0; to < devices; to++) text << '\t' << (from == to ? 0.0 : cell(rates.peer[from][to]));
    text << "\tnan\n";
  }
  text << "nan\tnan\n";
  return text.str();
}

std::string config(const Counts& counts) {
  std::ostringstream text;
  text << "# Current configuration\n"
       << counts.cores << " # Number of CPUs\n"
       << "1 # Number of NUMA nodes\n"
       << counts.devices << " # Number of CUDA nodes\n";
  for (const char* kind : {"OpenCL", "FPGA", "Disk", "MPI_MS", "TCPIP_MS", "HIP"})  // StarPU's order of node kinds
    text << "0 # Number of " << kind << " nodes\n";
  return text.str();
}

std::string affinity(const Counts& counts) {
  std::ostringstream text;
  text << "# GPU\tNUMA0\t\n";
  for (int device = 0; device < counts.devices; device++) text << device << "\t0\t\n";
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
  write_file(file(".bandwidth"), table(rates, [](double rate) { return rate / 1e6; }));  // MB/s
  write_file(file(".latency"), table(rates, [&](double) { return latency * 1e6; }));     // µs
  write_file(file(".affinity"), affinity(counts));
  for (const char* version : {".platform.v4.xml", ".platform.xml"}) write_file(file(version), no_platform);
  write_file(file(".config"), config(counts));  // last: it is the one that StarPU looks for
}

}  // namespace

std::optional<TemporaryVariable> prepare_bus_model() {
  const auto devices = gpu::visible_devices();
  if (devices.empty() || std::getenv("STARPU_PERF_MODEL_DIR") != nullptr) return std::nullopt;
  constexpr int most_devices = 8;  // StarPU counts no further (--enable-maxcudadev)
  const Counts counts{count_cores(), std::min(static_cast<int>(devices.size()), most_devices)};
  std::string names;
  for (const auto& name : devices) names += name + ";";
  const auto key = std::to_string(counts.cores) + "-cores-" + std::to_string(counts.devices) + "-gpus-" +
                   std::to_string(std::hash<std::string>{}(names));
  const auto folder = cache_directory() / "starpu" / key;
  std::error_code error;
  fs::create_directories(folder / "bus", error);
  if (error) throw RuntimeError("cannot make the folder " + (folder / "bus").string() + ": " + error.message());
  if (!fs::exists(folder / "bus" / (host_name() + ".config"))) write_bus_files(folder / "bus", counts);
  return TemporaryVariable("STARPU_PERF_MODEL_DIR", folder.string());
}

}  // namespace tessera::detail
