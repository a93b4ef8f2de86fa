// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/runtime.hpp>

#include <tuple>
#include <utility>

#include "common/starpu_version.hpp"
#include "devices/cpu/topology.hpp"
#include "devices/gpu.hpp"
#include "process_session.hpp"
#include "recording.hpp"
#include "running_calls.hpp"
#include "session.hpp"

namespace tessera {

Runtime::Runtime(const RuntimeOptions& options) : session_(runtime::session(options)) {}

Runtime::~Runtime() {
  if (runtime::in_forked_child()) return;
  runtime::require_can_wait("Runtime::~Runtime");  // its exception ends the program with the reason
  session_->wait_for_everything();
}

bool Runtime::joined() const noexcept { return session_->joined(); }

void wait() {
  const auto session = runtime::session_to_wait("tessera::wait");
  session->wait_for_everything();
  session->calls().failures().forget_told();
  session->calls().failures().check();
}

void after(CUstream_st* stream) { device::gpu::wait_for_stream(stream); }

namespace {

Device host_device(const detail::Session& session) {
  Device host{Device::Kind::Cpu, 0, session.machine().cpu_workers, "CPU", 0};
  const device::Topology topology;
  host.memory = topology.memory();
  if (auto model = topology.processor(); !model.empty()) host.name = std::move(model);
  return host;
}

}  // namespace

std::vector<Device> devices() {
  const auto session = runtime::session();
  std::vector<Device> all{host_device(*session)};
  const auto& machine = session->machine();
  const auto found = session->joined() && machine.has_cuda() ? device::gpu::probe(-1).usable : machine.gpu_info;
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
  const auto session = runtime::session_to_wait("tessera::pause_recording");
  if (auto* const recording = session->recording(); recording != nullptr) recording->pause();
}

void resume_recording() {
  const auto session = runtime::session_to_wait("tessera::resume_recording");
  if (auto* const recording = session->recording(); recording != nullptr) recording->resume();
}

std::vector<std::string> unused_devices() { return runtime::session()->unused_devices(); }
int cpu_workers() { return runtime::session()->machine().cpu_workers; }
int gpu_count() { return runtime::session()->machine().gpu_count(); }
Placement placement() { return runtime::session()->machine().placement; }
std::string policy() { return runtime::session()->policy(); }

std::string starpu_version() { return common::starpu_version_text(); }

}  // namespace tessera
