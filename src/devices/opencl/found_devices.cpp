// SPDX-License-Identifier: BSD-3-Clause
#include "found_devices.hpp"

#include <dlfcn.h>
#include <hwloc/opencl.h>
#include <link.h>
#include <starpu.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>

#include "common/environment.hpp"
#include "common/no_signals.hpp"
#include "common/not_copyable.hpp"
#include "common/variables.hpp"

namespace tessera::device::opencl {

namespace {

/// Restores signal handlers at the end of a scope if a library that was loaded within the scope has replaced them. Some
/// OpenCL drivers do so when they start, because of LLVM. Handlers that another thread of the program sets within the
/// scope stay.
class KeptSignals : common::NotCopyable {
 public:
  KeptSignals() {
    dl_iterate_phdr(remember, &loaded_);
    for (int signal = 1; signal < NSIG; signal++) known_[index(signal)] = sigaction(signal, nullptr, &at(signal)) == 0;
  }
  ~KeptSignals() {
    for (int signal = 1; signal < NSIG; signal++) {
      struct sigaction now {};
      if (known_[index(signal)] && sigaction(signal, nullptr, &now) == 0 && now.sa_handler != at(signal).sa_handler &&
          is_new(now.sa_handler))
        sigaction(signal, &at(signal), nullptr);
    }
  }

 private:
  using Addresses = std::set<std::uintptr_t>;  ///< start addresses of loaded objects

  static int remember(dl_phdr_info* object, std::size_t /*size*/, void* addresses) {
    for (int i = 0; i < object->dlpi_phnum; i++)
      if (object->dlpi_phdr[i].p_type == PT_LOAD) {
        static_cast<Addresses*>(addresses)->insert(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        break;
      }
    return 0;
  }
  bool is_new(void (*handler)(int)) const {
    Dl_info object{};
    return dladdr(reinterpret_cast<void*>(handler), &object) != 0 &&
           !loaded_.contains(reinterpret_cast<std::uintptr_t>(object.dli_fbase));
  }
  static std::size_t index(int signal) { return static_cast<std::size_t>(signal); }
  struct sigaction& at(int signal) {
    return before_[index(signal)];
  }

  Addresses loaded_;
  std::array<struct sigaction, NSIG> before_{};
  std::array<bool, NSIG> known_{};
};

constexpr cl_uint most_platforms = 4;  // StarPU's limit

bool is_positive(const char* variable) { return common::as_number<int>(common::environment(variable)).value_or(0) > 0; }

/// The functions of the driver to which an object belongs: each object begins with their address (cl_khr_icd). If
/// `object` points to elements instead, another thread may be writing the first one at the same time, which does no
/// harm.
[[gnu::no_sanitize("thread")]] const void* driver_of(const void* object) {
  using Address [[gnu::may_alias]] = const void*;
  return *static_cast<const Address*>(object);
}

std::vector<cl_platform_id> platforms() {
  std::array<cl_platform_id, most_platforms> found{};
  cl_uint count = 0;
  if (clGetPlatformIDs(most_platforms, found.data(), &count) != CL_SUCCESS) return {};
  return {found.begin(), found.begin() + std::min(count, most_platforms)};
}

/// Lists devices exactly as StarPU does for the same types.
std::vector<cl_device_id> list(cl_device_type types) {
  const KeptSignals until_drivers_have_started;
  const common::NoSignals in_their_threads;
  std::vector<cl_device_id> devices;
  for (auto* const platform : platforms()) {
    std::array<cl_device_id, STARPU_MAXOPENCLDEVS> found{};
    const auto room = static_cast<cl_uint>(STARPU_MAXOPENCLDEVS - devices.size());
    cl_uint here = 0;
    if (room == 0 || clGetDeviceIDs(platform, types, room, found.data(), &here) != CL_SUCCESS) continue;
    devices.insert(devices.end(), found.begin(), found.begin() + std::min(here, room));
  }
  return devices;
}

struct List {
  bool processors;
  std::vector<cl_device_id> devices;

  explicit List(Kinds kinds)
      : processors(kinds == Kinds::All || is_positive("STARPU_OPENCL_ON_CPUS") ||
                   is_positive("STARPU_OPENCL_ONLY_ON_CPUS")),
        devices(list((is_positive("STARPU_OPENCL_ONLY_ON_CPUS") ? 0 : CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR) |
                     (processors ? CL_DEVICE_TYPE_CPU : 0))) {}
};

const List& the_list(Kinds kinds) {
  static const List list(kinds);
  return list;
}

}  // namespace

const std::vector<cl_device_id>& listed(Kinds kinds) { return the_list(kinds).devices; }
cl_device_id device(int number) { return listed(Kinds::Gpus).at(static_cast<std::size_t>(number)); }
int device_count() { return static_cast<int>(listed(Kinds::Gpus).size()); }

bool is_buffer(const void* data) {
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(void*) != 0) return false;
  const auto* const driver = driver_of(data);
  const auto number = reinterpret_cast<std::uintptr_t>(driver);
  constexpr int bits_of_address = 47;
  Dl_info library{};
  if (driver == nullptr || number % alignof(void*) != 0 || number >> bits_of_address != 0 ||
      dladdr(driver, &library) == 0)
    return false;
  const auto all = platforms();
  cl_mem_object_type type = 0;
  return std::ranges::find(all, driver, driver_of) != all.end() &&
         clGetMemObjectInfo(static_cast<cl_mem>(const_cast<void*>(data)), CL_MEM_TYPE, sizeof(type), &type, nullptr) ==
             CL_SUCCESS;
}

std::string pci_address(int number) {
  constexpr cl_device_info pci_bus_info_khr = 0x410F;
  struct {
    cl_uint domain, bus, device, function;
  } at{};
  if (clGetDeviceInfo(device(number), pci_bus_info_khr, sizeof at, &at, nullptr) != CL_SUCCESS &&
      hwloc_opencl_get_device_pci_busid(device(number), &at.domain, &at.bus, &at.device, &at.function) != 0)
    return {};
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", at.domain, at.bus, at.device, at.function);
  return text.data();
}
bool counts_processors() { return the_list(Kinds::Gpus).processors; }

bool gains_from_pinned_memory(cl_device_id device) {
  if (const auto asked_for = common::flag_in(common::variables::opencl_pinned)) return *asked_for;
  return !is_processor(device) && value_of<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_FALSE;
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (clGetDeviceInfo(device, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(std::strlen(text.c_str()));  // some drivers count more than one terminator
  return text;
}

}  // namespace tessera::device::opencl
