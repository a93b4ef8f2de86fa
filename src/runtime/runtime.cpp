// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/runtime.hpp>

#include <hwloc.h>

#include <tuple>

#include "calls.hpp"
#include "common/starpu_version.hpp"
#include "process_session.hpp"
#include "recording.hpp"
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
  Device host{Device::Kind::Cpu, 0, session.machine().cpu_workers, "CPU", 0};
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
  const auto& machine = session->machine();
  const auto found = session->joined() && machine.has_cuda() ? gpu::probe(-1).usable : machine.gpu_info;
  for (std::size_t g = 0; g < machine.gpus.size(); g++) {
    const int ordinal = machine.gpus[g];
    const bool opencl = machine.is_opencl(static_cast<int>(g));
    Device device{Device::Kind::Gpu, ordinal, static_cast<int>(machine.gpu_workers[g].size()), "GPU", 0, opencl};
    for (const auto& info : found)
      if (info.ordinal == ordinal && info.opencl == opencl)
        std::tie(device.name, device.memory) = std::tie(info.name, info.memory);
    all.push_back(std::move(device));
  }
  return all;
}

void pause_recording() {
  const auto session = detail::session_to_wait("tessera::pause_recording");
  if (auto* const recording = session->recording(); recording != nullptr) recording->pause();
}

void resume_recording() {
  const auto session = detail::session_to_wait("tessera::resume_recording");
  if (auto* const recording = session->recording(); recording != nullptr) recording->resume();
}

std::vector<std::string> unused_devices() { return detail::session()->unused_devices(); }
int cpu_workers() { return detail::session()->machine().cpu_workers; }
int gpu_count() { return detail::session()->machine().gpu_count(); }
Placement placement() { return detail::session()->machine().placement; }
std::string policy() { return detail::session()->policy(); }

std::string starpu_version() { return detail::starpu_version_text(); }

}  // namespace tessera
