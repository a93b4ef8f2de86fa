// SPDX-License-Identifier: BSD-3-Clause
#include "chosen_gpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <tessera/error.hpp>

#include "machine/opencl.hpp"

namespace tessera::detail {

namespace {

/// StarPU's variable for the memory of all GPUs of a kind, or of one.
std::string starpu_limit(bool opencl, const std::string& number = "") {
  return std::string("STARPU_LIMIT_") + (opencl ? "OPENCL_" : "CUDA_") + (number.empty() ? "" : number + "_") + "MEM";
}

/// The GPUs of CUDA that this process asks.
gpu::Probe probe_share(const RuntimeOptions& options) {
  if (options.node_parts <= 1) return gpu::probe(options.gpus);
  const auto count = static_cast<int>(gpu::visible_devices().size());
  const auto first_of = [&](int part) { return part * count / options.node_parts; };
  const int first = first_of(options.node_part), share = std::max(1, first_of(options.node_part + 1) - first);
  auto found = gpu::probe(options.gpus > 0 ? options.gpus : share, first);
  int sharers = 0;
  for (int part = 0; part < options.node_parts; part++) sharers += first_of(part) == first ? 1 : 0;
  for (auto& gpu : found.usable) {
    gpu.memory /= static_cast<std::size_t>(sharers);
    gpu.free = std::min(gpu.free, gpu.memory);
  }
  return found;
}

void require_opencl(int wanted, const gpu::Probe& probe) {
  if (wanted <= std::ssize(probe.usable)) return;
  const std::string why = probe.unusable.empty() ? "" : " (" + probe.unusable.front() + ")";
  throw ArgumentError("Runtime", 10, "opencl",
                      "is " + std::to_string(wanted) + ", but this machine has " + std::to_string(probe.usable.size()) +
                          " OpenCL devices that can be used" + why);
}

Gpus probe_gpus(const RuntimeOptions& options) {
  if (options.opencl > 0) {
    const int wanted = options.gpus > 0 ? options.gpus : options.opencl;
    if (wanted > options.opencl)
      throw ArgumentError("Runtime", 2, "gpus",
                          "is " + std::to_string(wanted) + ", but TESSERA_OPENCL allows only " +
                              std::to_string(options.opencl) + " OpenCL devices");
    Gpus devices{opencl::probe(wanted, opencl::Kinds::All), true};
    require_opencl(wanted, devices.probe);
    return devices;
  }
  Gpus cuda{probe_share(options)};
  // Several processes of a node would all take the same OpenCL devices.
  if (!cuda.probe.usable.empty() || options.opencl == 0 || options.node_parts > 1) return cuda;
  auto found = opencl::probe(options.gpus, opencl::Kinds::Gpus);
  auto& reasons = cuda.probe.unusable;
  reasons.insert(reasons.end(), found.unusable.begin(), found.unusable.end());
  if (found.usable.empty()) return cuda;
  return {{std::move(found.usable), std::move(reasons)}, true};
}

}  // namespace

Gpus find_gpus(const RuntimeOptions& options) { return options.gpus == 0 ? Gpus{} : probe_gpus(options); }

bool is_limited(Index memory, bool opencl) {
  return memory > 0 || std::getenv(starpu_limit(opencl).c_str()) != nullptr;
}

std::vector<TemporaryVariable> limit_memory(const std::vector<gpu::Info>& gpus, bool opencl, Index memory) {
  constexpr double mebibyte = 1 << 20, workspace = 64 * mebibyte;  // the workspace: codelets/device_handles.hpp
  std::vector<TemporaryVariable> limits;
  for (const auto& gpu : gpus) {
    if (static_cast<double>(memory) * mebibyte > static_cast<double>(gpu.memory))
      throw ArgumentError("Runtime", 8, "gpu_memory",
                          "is " + std::to_string(memory) + " MiB, but GPU " + std::to_string(gpu.ordinal) + " has " +
                              std::to_string(gpu.memory >> 20));
    if (is_limited(memory, opencl)) continue;
    const auto most = static_cast<Index>(share_of_memory * (static_cast<double>(gpu.free) - workspace) / mebibyte);
    limits.emplace_back(starpu_limit(opencl, std::to_string(gpu.ordinal)),
                        std::to_string(std::max<Index>(1, most)));  // 0 would be no limit
  }
  if (memory > 0) limits.emplace_back(starpu_limit(opencl), std::to_string(memory), TemporaryVariable::IfSet::Replace);
  return limits;
}

}  // namespace tessera::detail
