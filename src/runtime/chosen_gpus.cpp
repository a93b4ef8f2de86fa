// SPDX-License-Identifier: BSD-3-Clause
#include "chosen_gpus.hpp"

#include <starpu_config.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "common/variables.hpp"
#include "devices/opencl/opencl.hpp"

namespace tessera::runtime {

namespace {

/// StarPU's variable for the memory limit of all GPUs of a kind, or of a single one.
std::string starpu_limit(bool opencl, const std::string& number = "") {
  return std::string("STARPU_LIMIT_") + (opencl ? "OPENCL_" : "CUDA_") + (number.empty() ? "" : number + "_") + "MEM";
}

/// Probes the CUDA GPUs assigned to this process.
/// @param wanted  -1: all of its share
device::gpu::Probe probe_share(const RuntimeOptions& options, int wanted) {
  if (options.node_parts <= 1) return device::gpu::probe(wanted);
  const auto count = static_cast<int>(device::gpu::visible_devices().size());
  const auto first_of = [&](int part) { return part * count / options.node_parts; };
  const int first = first_of(options.node_part), share = std::max(1, first_of(options.node_part + 1) - first);
  auto found = device::gpu::probe(wanted > 0 ? wanted : share, first);
  int sharers = 0;
  for (int part = 0; part < options.node_parts; part++) sharers += first_of(part) == first ? 1 : 0;
  for (auto& gpu : found.usable) share_memory(gpu, sharers);
  return found;
}

void require_allowed(const RuntimeOptions& options) {
  const int cuda = std::max(0, options.cuda), opencl = std::max(0, options.opencl);
  if (cuda + opencl == 0 || options.gpus <= cuda + opencl) return;
  throw common::option_error("gpus", "is " + std::to_string(options.gpus) +
                                         ", but the options cuda and opencl allow only " +
                                         std::to_string(cuda + opencl) + " devices");
}

/// Throws if fewer devices of a kind are found than the user has asked for.
/// @param option  the name of that number in RuntimeOptions
void require_found(int asked_for, const device::gpu::Probe& found, const char* option, const char* devices) {
  if (asked_for <= std::ssize(found.usable)) return;
  const std::string why = found.unusable.empty() ? "" : " (" + found.unusable.front() + ")";
  throw common::option_error(option, "is " + std::to_string(asked_for) + ", but this machine has " +
                                         std::to_string(found.usable.size()) + " " + devices + " that can be used" +
                                         why);
}

device::gpu::Probe probe_cuda(const RuntimeOptions& options) {
  const bool limited = options.gpus >= 0 && (options.cuda < 0 || options.gpus < options.cuda);
  auto found = probe_share(options, limited ? options.gpus : options.cuda);
  require_found(limited ? std::min(options.gpus, options.cuda) : options.cuda, found, "cuda", "CUDA GPUs");
  return found;
}

/// The OpenCL devices that the user has asked for. All processes of a node take the same ones.
/// @param cuda  number of CUDA GPUs in the session
device::gpu::Probe probe_opencl(const RuntimeOptions& options, int cuda) {
  const bool limited = options.gpus >= 0 && options.gpus - cuda < options.opencl;
  auto found =
      device::opencl::probe(limited ? options.gpus - cuda : options.opencl, device::opencl::Kinds::All, cuda > 0);
  if (!limited) require_found(options.opencl, found, "opencl", "OpenCL devices");
  if (const int room = STARPU_MAXNODES - 1 - cuda; std::ssize(found.usable) > room)
    throw common::option_error("opencl", "is " + std::to_string(options.opencl) + ", but with " + std::to_string(cuda) +
                                             " CUDA GPUs this StarPU has room for only " + std::to_string(room) +
                                             " OpenCL devices");
  for (auto& gpu : found.usable) share_memory(gpu, std::max(1, options.node_parts));
  return found;
}

void add(device::gpu::Probe& to, const device::gpu::Probe& more) {
  to.usable.insert(to.usable.end(), more.usable.begin(), more.usable.end());
  to.unusable.insert(to.unusable.end(), more.unusable.begin(), more.unusable.end());
}

}  // namespace

void share_memory(device::gpu::Info& gpu, int sharers) {
  gpu.memory /= static_cast<std::size_t>(sharers);
  gpu.free = std::min(gpu.free, gpu.memory);
}

void share_memory_of_twins(std::vector<device::gpu::Info>& gpus) {
  if (std::ranges::none_of(gpus, &device::gpu::Info::of_nvidia) ||
      std::ranges::all_of(gpus, &device::gpu::Info::opencl))
    return;
  for (auto& gpu : gpus)
    if (!gpu.opencl || gpu.of_nvidia) share_memory(gpu, 2);
}

device::gpu::Probe find_gpus(const RuntimeOptions& options) {
  if (options.gpus == 0) return {};
  require_allowed(options);
  const bool no_cuda = options.cuda == 0 || (options.cuda < 0 && options.opencl > 0);
  auto found = no_cuda ? device::gpu::Probe() : probe_cuda(options);
  const auto cuda = static_cast<int>(found.usable.size());
  if (options.opencl > 0) {
    add(found, probe_opencl(options, cuda));
    share_memory_of_twins(found.usable);
  } else if (options.opencl < 0 && cuda > 0) {
    for (const auto& gpu : device::opencl::gpus_of_other_makers())
      found.unusable.push_back(gpu +
                               ": only the CUDA GPUs compute unless TESSERA_DEVICES=cuda=N,opencl=N asks for both");
  } else if (options.opencl < 0 && options.node_parts <= 1) {
    // Only with a single process per node: otherwise all processes would take the same OpenCL devices.
    add(found, device::opencl::probe(options.gpus, device::opencl::Kinds::Gpus));
  }
  return found;
}

bool is_limited(Index memory, bool opencl) {
  return memory > 0 || std::getenv(starpu_limit(opencl).c_str()) != nullptr;
}

void limit_memory(const std::vector<device::gpu::Info>& gpus, Index memory, common::StarpuVariables& variables) {
  constexpr double mebibyte = 1 << 20, workspace = 64 * mebibyte;  // for the workspace, see devices/cuda/handles.hpp
  for (const auto& gpu : gpus) {
    if (static_cast<double>(memory) * mebibyte > static_cast<double>(gpu.memory))
      throw common::option_error("gpu_memory", "is " + std::to_string(memory) + " MiB, but GPU " +
                                                   std::to_string(gpu.ordinal) + " has " +
                                                   std::to_string(gpu.memory >> 20));
    if (is_limited(memory, gpu.opencl)) continue;
    const auto most = static_cast<Index>(share_of_memory * (static_cast<double>(gpu.free) - workspace) / mebibyte);
    variables.set(starpu_limit(gpu.opencl, std::to_string(gpu.ordinal)),
                  std::to_string(std::max<Index>(1, most)));  // 0 would mean no limit
  }
  for (const bool opencl : {false, true})
    if (memory > 0)
      variables.set(starpu_limit(opencl), std::to_string(memory), common::StarpuVariables::IfSet::Replace);
}

}  // namespace tessera::runtime
