// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/runtime.hpp>

#include <hwloc.h>
#include <starpu.h>

#include <tessera/error.hpp>

#include "session.hpp"

namespace tessera {

Runtime::Runtime(const RuntimeOptions& options) : session_(detail::session(options)) {}

Runtime::~Runtime() {
  if (detail::in_forked_child()) return;
  detail::require_can_wait("Runtime::~Runtime");  // ends the program, and says why
  session_->wait_for_everything();
}

bool Runtime::joined() const noexcept { return session_->joined(); }

void wait() {
  const auto session = detail::session_to_wait("tessera::wait");
  session->wait_for_everything();
  session->calls().failures().forget_told();
  session->calls().failures().check();
}

namespace {

Device host_device(const detail::Session& session) {
  Device host{Device::Kind::Cpu, 0, session.cpu_workers(), "CPU", 0};
  hwloc_topology_t topology = nullptr;
  hwloc_topology_init(&topology);
  hwloc_topology_load(topology);
  const auto* machine = hwloc_get_root_obj(topology);
  host.memory = machine->total_memory;
  const auto* package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  for (const auto* object : {package, static_cast<decltype(package)>(machine)})
    if (object != nullptr)
      if (const char* model = hwloc_obj_get_info_by_name(const_cast<hwloc_obj_t>(object), "CPUModel"))
        host.name = model;
  hwloc_topology_destroy(topology);
  return host;
}

}  // namespace

std::vector<Device> devices() {
  const auto session = detail::session();
  std::vector<Device> all{host_device(*session)};
  const auto found = session->joined() ? gpu::probe(-1).usable : session->gpu_info();
  for (int g = 0; g < session->gpu_count(); g++) {
    const int ordinal = session->gpus()[static_cast<std::size_t>(g)];
    Device device{Device::Kind::Gpu, ordinal,
                  static_cast<int>(session->gpu_workers()[static_cast<std::size_t>(g)].size()), "GPU", 0};
    for (const auto& info : found)
      if (info.ordinal == ordinal) std::tie(device.name, device.memory) = std::tie(info.name, info.memory);
    all.push_back(std::move(device));
  }
  return all;
}

void pause_recording() {
  const auto session = detail::session_to_wait("tessera::pause_recording");
  if (session->recording()) session->recording()->pause();
}

void resume_recording() {
  const auto session = detail::session_to_wait("tessera::resume_recording");
  if (session->recording()) session->recording()->resume();
}

std::vector<std::string> unused_devices() { return detail::session()->unused_devices(); }
int cpu_workers() { return detail::session()->cpu_workers(); }
int gpu_count() { return detail::session()->gpu_count(); }
Placement placement() { return detail::session()->placement(); }
std::string policy() { return detail::session()->policy(); }

std::string starpu_version() {
  int major = 0, minor = 0, release = 0;
  starpu_get_version(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace tessera
