// SPDX-License-Identifier: BSD-3-Clause
#include "device_memory.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace tessera::common::device_memory {

namespace {

// From the interface of CUDA's driver, whose header may be missing.
using GetAttributes = int (*)(unsigned count, const int* attributes, void** values, unsigned long long address);
using GetRange = int (*)(unsigned long long* begin, std::size_t* bytes, unsigned long long address);
enum Attribute {
  memory_type = 2,
  is_managed = 8,
  device_ordinal = 9,
  is_of_malloc = 10,  // IS_LEGACY_CUDA_IPC_CAPABLE
  range_begin = 11,   // RANGE_START_ADDR
  pool = 17,
  mapping_size = 18,
  mapping_begin = 19
};  // CU_POINTER_ATTRIBUTE_…
constexpr std::uint64_t memory_of_device = 2;

/// cuPointerGetAttributes; null: not found yet.
std::atomic<GetAttributes> get_attributes = nullptr;
/// cuMemGetAddressRange, found at the same time.
std::atomic<GetRange> get_range = nullptr;

/// The values of some attributes of an address. Empty if the driver has not been found or initialized, or does not know
/// the address.
template <std::size_t count>
std::optional<std::array<std::uint64_t, count>> look_up(const void* data, const std::array<int, count>& attributes) {
  const auto ask = get_attributes.load();
  std::array<std::uint64_t, count> values{};  // the driver writes as many bytes as each value has
  std::array<void*, count> places{};
  for (std::size_t i = 0; i < count; i++) places[i] = &values[i];
  if (ask == nullptr || ask(count, attributes.data(), places.data(), reinterpret_cast<std::uintptr_t>(data)) != 0)
    return std::nullopt;
  return values;
}

/// The number of libraries that the process has ever loaded.
unsigned long long libraries_loaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_adds;
        return 1;  // the first entry already holds the total of the process
      },
      &count);
  return count;
}

std::atomic<bool> is_over = false;

/// Called in a forked child, which cannot use CUDA. Another thread may have been inside the driver.
void forget_in_children() { get_attributes = nullptr, is_over = true; }

/// Looks for the driver if a library has been loaded since the last search.
void look_for_driver() {
  static std::atomic<unsigned long long> searched = 0;  ///< how many libraries a search has seen that found no driver
  static std::atomic<bool> forks_are_watched = false;
  if (is_over) return;
  const auto loaded = libraries_loaded();
  if (loaded == searched) return;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);  // never closed: its functions must stay
  if (driver == nullptr) {
    searched = loaded;  // not earlier: other threads must not take a search for its end
    return;
  }
  if (!forks_are_watched.exchange(true)) pthread_atfork(nullptr, nullptr, forget_in_children);
  get_range = reinterpret_cast<GetRange>(dlsym(driver, "cuMemGetAddressRange_v2"));
  get_attributes = reinterpret_cast<GetAttributes>(dlsym(driver, "cuPointerGetAttributes"));
}

}  // namespace

bool may_exist() noexcept {
  if (get_attributes == nullptr) look_for_driver();
  return get_attributes != nullptr;
}

std::optional<Allocated> allocated(const void* data) noexcept {
  const auto values = look_up<3>(data, {memory_type, is_managed, device_ordinal});
  if (!values || ((*values)[0] != memory_of_device && (*values)[1] == 0)) return std::nullopt;
  return Allocated{static_cast<int>((*values)[2]), (*values)[1] != 0};
}

std::optional<int> gpu_of(const void* data) noexcept {
  const auto memory = allocated(data);
  return memory && !memory->managed ? std::optional(memory->gpu) : std::nullopt;
}

namespace {

/// The bytes from an address to where the memory that is mapped to it ends; unlimited if the driver does not know.
std::size_t bytes_of_mapping(const std::byte* data) {
  const auto values = look_up<2>(data, {mapping_begin, mapping_size});
  if (!values) return unlimited;
  const auto end = (*values)[0] + (*values)[1], address = std::uint64_t{reinterpret_cast<std::uintptr_t>(data)};
  return (*values)[0] <= address && address < end ? end - address : unlimited;
}

}  // namespace

std::size_t bytes_from(const void* data, std::size_t wanted) noexcept {
  const auto ask = get_range.load();
  const auto values = look_up<1>(data, {is_of_malloc});
  if (ask == nullptr || !values) return unlimited;
  if ((*values)[0] != 0) {
    unsigned long long begin = 0;
    std::size_t bytes = 0;
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    return ask(&begin, &bytes, address) == 0 ? bytes - (address - begin) : unlimited;
  }
  const auto gpu = gpu_of(data);
  std::size_t bytes = 0;
  while (bytes < wanted) {  // one piece of the mapped memory after another
    const auto* const next = static_cast<const std::byte*>(data) + bytes;
    if (gpu_of(next) != gpu) break;
    const auto piece = bytes_of_mapping(next);
    if (piece == unlimited) return unlimited;
    bytes += piece;
  }
  return bytes;
}

void* pool_of(const void* data) noexcept {
  const auto values = look_up<1>(data, {pool});
  return values ? reinterpret_cast<void*>((*values)[0]) : nullptr;
}

bool are_in_one_range(const void* a, const void* b) noexcept {
  return look_up<1>(a, {range_begin}) == look_up<1>(b, {range_begin});
}

}  // namespace tessera::common::device_memory
