// SPDX-License-Identifier: BSD-3-Clause
// Makes simulated copies between host and GPU take as long as the columns of the tile require.
//
// StarPU tells SimGrid the bytes of a copy and its two ends, but not the tile. Three functions that it calls are
// therefore replaced here: one records the columns of each copy that StarPU starts, one executes copies, and one
// executes kernels. The latter two change the rate of the link whenever a copy or a kernel starts or ends. All three
// call the function that they replace.
#include <dlfcn.h>
#include <starpu.h>

#include <algorithm>
#include <deque>
#include <map>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <tuple>

#include "devices/simulated/machine_description.hpp"
#include "devices/simulated/sized_tiles.hpp"
#include "machine/starpu_files.hpp"

#include "simulate/simulation.hpp"

namespace {

using tessera::device::PartialTile;

bool staged = false;
constexpr double staging_buffer_bytes = 2 << 20;  // as in src/devices/packed_columns.hpp

/// A copy between host and GPU.
struct Way {
  int gpu;
  bool in;  ///< from the host to the GPU
  bool operator<(const Way& other) const { return std::tie(gpu, in) < std::tie(other.gpu, other.in); }
};

struct Copy {
  double bytes;
  double column;  ///< bytes of one contiguous column
};

/// A link between host and GPU in one direction. StarPU runs one copy on it at a time.
struct Link {
  std::deque<Copy> waiting;  ///< copies that StarPU has started, but SimGrid has not, in order
  double column = 0;         ///< column bytes of the copy that SimGrid is executing; 0: no copy, or unknown
};

std::map<Way, Link> links;
std::map<int, int> kernels;  ///< number of kernels that each GPU is executing

/// The bytes of a column; the average if columns differ, as in a triangle.
double column_bytes(const PartialTile& tile) {
  const auto bytes = static_cast<double>(tile.bytes);
  const auto& matrix = tile.matrix;
  const bool contiguous = tile.part == tessera::device::Part::All && matrix.ld <= matrix.nx;
  return contiguous ? bytes : bytes / static_cast<double>(matrix.ny);
}

void begin(unsigned from, unsigned to) {
  const auto* tile = tessera::device::tile_interface::take_last_sized();
  const bool in = starpu_node_get_kind(from) == STARPU_CPU_RAM;
  if (tile == nullptr || in == (starpu_node_get_kind(to) == STARPU_CPU_RAM)) return;
  links[{starpu_memory_node_get_devid(in ? to : from), in}].waiting.push_back(
      {static_cast<double>(tile->bytes), column_bytes(*tile)});
}

/// The number in the name of a simulated GPU, or -1.
int gpu_of(const simgrid::s4u::Host& host) {
  const std::string& name = host.get_name();
  return name.starts_with("CUDA") ? std::stoi(name.substr(4)) : -1;
}

/// The column bytes of the next copy of this size; 0 if unknown, because the copy is not a tile of Tessera.
double next_column(Link& link, double bytes) {
  // Entries of other sizes are skipped: StarPU may query the size of a tile and then copy other data.
  const auto found = std::ranges::find(link.waiting, bytes, &Copy::bytes);
  if (found == link.waiting.end()) return 0;
  const double column = found->column;
  link.waiting.erase(link.waiting.begin(), found + 1);
  return column;
}

/// Sets the rate of the link for its current copy. Does nothing if the machine has no column times.
void set_rate(Way way) {
  const auto& machine = tessera::device::simulated::described_machine();
  const auto& kind = machine.kind_of(way.gpu);
  const auto& times = way.in ? kind.in : kind.out;
  if (!times || staged) return;
  const auto& gpu = machine.gpus[static_cast<std::size_t>(way.gpu)];
  double rate = way.in ? gpu.in : gpu.out;
  if (const double column = links[way].column; column > 0)
    rate = std::min(rate, column / (kernels[way.gpu] > 0 ? times->computing : times->idle).seconds(column));
  simgrid::s4u::Link::by_name(tessera::machine::host_link(way.gpu, way.in))->set_bandwidth(rate);
}

void add_kernels(int gpu, int count) {
  kernels[gpu] += count;
  for (const bool in : {true, false})
    if (links[{gpu, in}].column > 0) set_rate({gpu, in});
}

/// The original function with this name, which a function of this program replaces.
template <typename Function>
Function* replaced(Function* /*replacement*/, const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (found == nullptr) throw std::runtime_error(std::string("StarPU or SimGrid has no function ") + name);
  return found;
}

}  // namespace

void tessera::simulate::stage_copies() { staged = true; }

extern "C" void starpu_interface_start_driver_copy_async(unsigned from, unsigned to, double* start) {
  static auto* const original =
      replaced(&starpu_interface_start_driver_copy_async, "starpu_interface_start_driver_copy_async");
  begin(from, to);
  original(from, to, start);
}

extern "C" void sg_host_sendto(sg_host_t from, sg_host_t to, double bytes) {
  static auto* const original = replaced(&sg_host_sendto, "sg_host_sendto");
  const int source = gpu_of(*from), target = gpu_of(*to);
  if ((source < 0) == (target < 0)) return original(from, to, bytes);  // a copy between GPUs
  const Way way{std::max(source, target), target >= 0};
  auto& link = links[way];
  link.column = next_column(link, bytes);
  set_rate(way);
  if (staged)
    simgrid::s4u::this_actor::sleep_for(std::min(bytes, staging_buffer_bytes) /
                                        tessera::device::simulated::described_machine().staging->core_rate);
  original(from, to, bytes);
  link.column = 0;
  set_rate(way);
}

extern "C" void sg_actor_execute(double flops) {
  static auto* const original = replaced(&sg_actor_execute, "sg_actor_execute");
  const int gpu = gpu_of(*simgrid::s4u::this_actor::get_host());
  if (gpu >= 0) add_kernels(gpu, 1);
  original(flops);
  if (gpu >= 0) add_kernels(gpu, -1);
}
