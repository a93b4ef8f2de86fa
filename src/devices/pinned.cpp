// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/pinned.hpp>

#include <starpu.h>
#include <sys/mman.h>

#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "common/device_choice.hpp"
#include "gpu.hpp"
#include "gpu_workers.hpp"
#include "places.hpp"

namespace tessera {

namespace {

/// Memory passed to `host_register`. Machines that pin nothing also record it, so that wrong calls fail everywhere.
struct Registered {
  explicit Registered(std::size_t length) : bytes(length) {}
  std::size_t bytes;
  std::optional<device::gpu::PinnedMemory> pinned;
};

struct Registry {
  std::mutex mutex;
  std::map<std::uintptr_t, Registered> ranges;  ///< by start address; they do not overlap
};

/// Never destroyed, because CUDA may be gone at exit.
Registry& registry() {
  static auto& the_one = *new Registry;
  return the_one;
}

bool overlaps(const Registry& registry, std::uintptr_t begin, std::size_t bytes) {
  const auto next = registry.ranges.lower_bound(begin);
  if (next != registry.ranges.end() && next->first - begin < bytes) return true;
  if (next == registry.ranges.begin()) return false;
  const auto before = std::prev(next);
  return begin - before->first < before->second.bytes;
}

/// Pages that are still untouched, spread over NUMA nodes if there are any to choose from. MAP_FAILED if there is no
/// memory.
void* map_pages(std::size_t bytes, const std::vector<int>& nodes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
#ifdef STARPU_SIMGRID  // simulated matrices are not touched, and may be larger than the memory of this machine
  constexpr int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#else
  constexpr int how = MAP_PRIVATE | MAP_ANONYMOUS;
#endif
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, how, -1, 0);
  if (data == MAP_FAILED) return data;
  if (bytes >= huge_page) madvise(data, bytes, MADV_HUGEPAGE);
  if (!nodes.empty()) device::starpus_machine().spread(data, bytes, nodes);
  return data;
}

/// The GPUs that TESSERA_DEVICES allows. Found once, because the probe creates a CUDA context on each GPU.
const std::vector<int>& allowed_gpus() {
  static const auto& allowed = *new auto([] {
    const auto choice = common::device_choice();
    std::vector<int> gpus;
    for (const auto& gpu : device::gpu::probe(choice.cuda >= 0 ? choice.cuda : choice.gpus).usable)
      gpus.push_back(gpu.ordinal);
    return gpus;
  }());
  return allowed;
}

/// The GPUs of the running StarPU. A context on a GPU that others use would take its memory.
std::vector<int> gpus_of_starpu() {
  std::set<int> gpus;
  if (starpu_is_initialized() != 0)
    for (const int worker : device::gpu_workers::of(STARPU_CUDA_WORKER)) gpus.insert(starpu_worker_get_devid(worker));
  return {gpus.begin(), gpus.end()};
}

/// The GPUs of the running StarPU; if none runs, the allowed ones.
std::vector<int> measured_gpus() { return starpu_is_initialized() != 0 ? gpus_of_starpu() : allowed_gpus(); }

/// The total rate at which `measured_gpus()` copy from and to pages that are spread over these NUMA nodes [bytes/s]; 0
/// if it cannot be measured, for example for lack of memory.
double measured_rate(const std::vector<int>& nodes) {
  std::vector<int> gpus;
  try {
    gpus = measured_gpus();
  } catch (const Error&) {
    return 0;  // the start of the session will report the error
  }
  const auto bytes = gpus.size() * (std::size_t{64} << 20);
  void* const data = gpus.empty() ? MAP_FAILED : map_pages(bytes, nodes);
  if (data == MAP_FAILED) return 0;
  double rate = 0;
  try {
    const device::gpu::PinnedMemory pinned(data, bytes, gpus.front());
    rate = device::gpu::rate_of_pinned(data, bytes, gpus);
  } catch (const RuntimeError&) {
  }
  munmap(data, bytes);
  return rate;
}

}  // namespace

bool host_register(void* data, std::size_t bytes) {
  if (data == nullptr) throw ArgumentError("host_register", 1, "data", "is null");
  if (bytes == 0) throw ArgumentError("host_register", 2, "bytes", "is 0, must be at least 1");
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  if (bytes > std::numeric_limits<std::uintptr_t>::max() - begin)
    throw ArgumentError("host_register", 2, "bytes",
                        "is " + std::to_string(bytes) + ", more than the address space holds");
  auto& registered = registry();
  const std::lock_guard lock(registered.mutex);
  if (overlaps(registered, begin, bytes))
    throw ArgumentError("host_register", 1, "data", "begins a range that overlaps registered memory");
  const auto [place, added] = registered.ranges.try_emplace(begin, bytes);
  if (!device::gpu::can_pin()) return false;
  try {
    const auto gpus = gpus_of_starpu();
    place->second.pinned.emplace(data, bytes, gpus.empty() ? std::nullopt : std::optional(gpus.front()));
  } catch (...) {
    registered.ranges.erase(place);
    throw;
  }
  return true;
}

void host_unregister(void* data) {
  auto& registered = registry();
  const std::lock_guard lock(registered.mutex);
  if (registered.ranges.erase(reinterpret_cast<std::uintptr_t>(data)) == 0)
    throw ArgumentError("host_unregister", 1, "data", "is not the start of registered memory");
}

namespace detail {

PinnedPages::PinnedPages(Index size, std::size_t element_size) {
  if (size < 0) throw ArgumentError("PinnedBuffer", 1, "size", "is " + std::to_string(size) + ", must be at least 0");
  if (size == 0) return;
  const auto elements = static_cast<std::size_t>(size);
  const auto bytes = elements * element_size;
  const bool too_many = elements > std::numeric_limits<std::size_t>::max() / element_size;
  // All GPUs read the buffer. If it were on a single NUMA node, the GPUs of other sockets would all use that node's
  // links.
  static const auto nodes =
      device::gpu::can_pin() ? device::nodes_for_memory(device::starpus_machine(), device::gpu_places(), measured_rate)
                             : std::vector<int>();
  void* data = too_many ? MAP_FAILED : map_pages(bytes, nodes);
  if (data == MAP_FAILED)
    throw RuntimeError("PinnedBuffer: there is no memory for " + std::to_string(size) + " elements of " +
                       std::to_string(element_size) + " bytes");
  PinnedPages made;
  made.data_ = data, made.bytes_ = bytes;
  made.pinned_ = host_register(data, bytes);
  swap(made);
}

PinnedPages::~PinnedPages() {
  if (data_ == nullptr) return;
  // The memory mapped here is registered, unless `host_register` failed in the constructor.
  auto& registered = registry();
  {
    const std::lock_guard lock(registered.mutex);
    registered.ranges.erase(reinterpret_cast<std::uintptr_t>(data_));
  }
  munmap(data_, bytes_);
}

}  // namespace detail

}  // namespace tessera
