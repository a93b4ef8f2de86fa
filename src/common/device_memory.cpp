// SPDX-License-Identifier: BSD-3-Clause
#include "device_memory.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace tessera::detail::device_memory {

namespace {

// From the interface of CUDA's driver, whose header may be missing.
using GetAttributes = int (*)(unsigned count, const int* attributes, void** values, unsigned long long address);
constexpr std::array attribute_names{2, 8};  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE, …_IS_MANAGED
constexpr std::uint64_t memory_of_device = 2;

/// cuPointerGetAttributes; null: not found yet.
std::atomic<GetAttributes> get_attributes = nullptr;

/// The number of libraries that the process has ever loaded.
unsigned long long libraries_loaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_adds;
        return 1;  // the first entry already holds the total
      },
      &count);
  return count;
}

std::atomic<bool> is_over = false;

/// A forked child cannot use CUDA, and another thread may have been inside the driver.
void forget_in_children() { get_attributes = nullptr, is_over = true; }

/// Looks for the driver if a library has been loaded since the last look.
void look_for_driver() {
  static std::atomic<unsigned long long> seen = 0;
  static std::atomic<bool> forks_are_watched = false;
  const auto loaded = libraries_loaded();
  if (is_over || seen.exchange(loaded) == loaded) return;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);  // stays open: the function must stay
  if (driver == nullptr) return;
  if (!forks_are_watched.exchange(true)) pthread_atfork(nullptr, nullptr, forget_in_children);
  get_attributes = reinterpret_cast<GetAttributes>(dlsym(driver, "cuPointerGetAttributes"));
}

}  // namespace

bool may_exist(Look look) noexcept {
  if (get_attributes != nullptr) return true;
  [[gnu::tls_model("initial-exec")]] thread_local unsigned calls = 0;
  constexpr unsigned one_of = 64;
  if (look == Look::Seldom && calls++ % one_of != 0) return false;
  look_for_driver();
  return get_attributes != nullptr;
}

bool contains(const void* data) noexcept {
  const auto ask = get_attributes.load();
  if (ask == nullptr) return false;
  std::array<std::uint64_t, 2> values{};  // the driver fills as many bytes as each attribute has
  std::array<void*, 2> places{&values[0], &values[1]};
  // Fails if the driver has not been initialized. Memory unknown to CUDA has no attributes.
  if (ask(attribute_names.size(), attribute_names.data(), places.data(), reinterpret_cast<std::uintptr_t>(data)) != 0)
    return false;
  return values[0] == memory_of_device && values[1] == 0;
}

}  // namespace tessera::detail::device_memory
