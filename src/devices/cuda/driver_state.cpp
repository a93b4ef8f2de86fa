// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <array>
#include <memory>

#include "common/not_copyable.hpp"
#include "devices/gpu.hpp"

namespace tessera::device::gpu {

namespace {

/// NVML, the management library of the driver. It is optional: CUDA works without it, and a container may lack it. Its
/// functions return 0 on success.
class Nvml : common::NotCopyable {
 public:
  using Device = void*;
  struct Utilization {
    unsigned gpu, memory;  // [%]
  };

  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    started_ = library_ && ask("nvmlInit_v2") == 0;
  }
  ~Nvml() {
    if (started_) ask("nvmlShutdown");
  }

  bool started() const noexcept { return started_; }

  /// Calls a function of the library by name and returns its status, which is not 0 if there is no such function.
  template <typename... Parameter>
  int ask(const char* function, Parameter... parameter) const {
    auto* const found = reinterpret_cast<int (*)(Parameter...)>(dlsym(library_.get(), function));
    return found == nullptr ? -1 : found(parameter...);
  }

 private:
  struct Close {
    void operator()(void* library) const { dlclose(library); }
  };
  std::unique_ptr<void, Close> library_;
  bool started_ = false;
};

/// Whether other processes compute on a GPU. The reported utilization of the last second includes this process and
/// processes that have ended, so it counts only while another process has a context.
bool used_by_others(const Nvml& nvml, Nvml::Device device) {
  unsigned processes = 0;  // capacity of the list; on return, the length that it would need
  nvml.ask<Nvml::Device, unsigned*, void*>("nvmlDeviceGetComputeRunningProcesses_v3", device, &processes, nullptr);
  Nvml::Utilization used{};
  return processes > 1 && nvml.ask("nvmlDeviceGetUtilizationRates", device, &used) == 0 && used.gpu > 5;
}

std::string version(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

}  // namespace

State state(int device) {
  State state;
  const auto add = [&state](const std::string& text) {
    state.conditions += (state.conditions.empty() ? "" : ", ") + text;
  };
  int cuda = 0, driver = 0, kilohertz = 0;
  if (cudaRuntimeGetVersion(&cuda) == cudaSuccess) add("CUDA " + version(cuda));
  if (cudaDriverGetVersion(&driver) == cudaSuccess) add("driver for CUDA " + version(driver));
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device) == cudaSuccess)
    add(std::to_string(kilohertz / 1000) + " MHz");
  cudaGetLastError();  // clears the error, or a later call would report it

  const Nvml nvml;
  std::array<char, 32> bus{};
  Nvml::Device handle = nullptr;
  if (!nvml.started() || cudaDeviceGetPCIBusId(bus.data(), bus.size(), device) != cudaSuccess ||
      nvml.ask<const char*, Nvml::Device*>("nvmlDeviceGetHandleByPciBusId_v2", bus.data(), &handle) != 0)
    return state;
  std::array<char, 96> name{};
  unsigned milliwatts = 0, megahertz = 0;
  constexpr unsigned of_multiprocessors = 1;
  if (nvml.ask<char*, unsigned>("nvmlSystemGetDriverVersion", name.data(), name.size()) == 0)
    add(std::string("driver ") + name.data());
  if (nvml.ask("nvmlDeviceGetEnforcedPowerLimit", handle, &milliwatts) == 0)
    add(std::to_string(milliwatts / 1000) + " W");
  if (nvml.ask("nvmlDeviceGetApplicationsClock", handle, of_multiprocessors, &megahertz) == 0)
    add("set to " + std::to_string(megahertz) + " MHz");
  state.busy = used_by_others(nvml, handle);
  return state;
}

}  // namespace tessera::device::gpu
