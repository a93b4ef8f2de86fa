// SPDX-License-Identifier: BSD-3-Clause
#include "chosen_gpus.hpp"

#include <starpu_config.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include <tessera/error.hpp>

#include "machine/opencl.hpp"

namespace tessera::detail {

namespace {

/// StarPU's variable for the memory of all GPUs of a kind, or of one.
std::string starpu_limit(bool opencl, const std::string& number = "") {
  return std::string("STARPU_LIMIT_") + (opencl ? "OPENCL_" : "CUDA_") + (number.empty() ? "" : number + "_") + "MEM";
}

/// The smaller of two numbers of devices, where -1 means all.
int smaller(int a, int b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); }

/// The GPUs of CUDA that this process asks.
/// @param wanted  -1: all of its share
gpu::Probe probe_share(const RuntimeOptions& options, int wanted) {
  if (options.node_parts <= 1) return gpu::probe(wanted);
  const auto count = static_cast<int>(gpu::visible_devices().size());
  const auto first_of = [&](int part) { return part * count / options.node_parts; };
  const int first = first_of(options.node_part), share = std::max(1, first_of(options.node_part + 1) - first);
  auto found = gpu::probe(wanted > 0 ? wanted : share, first);
  int sharers = 0;
  for (int part = 0; part < options.node_parts; part++) sharers += first_of(part) == first ? 1 : 0;
  for (auto& gpu : found.usable) {
    gpu.memory /= static_cast<std::size_t>(sharers);
    gpu.free = std::min(gpu.free, gpu.memory);
  }
  return found;
}

void require_found(int wanted, const gpu::Probe& probe, int field, const char* option, const char* devices) {
  if (wanted <= std::ssize(probe.usable)) return;
  const std::string why = probe.unusable.empty() ? "" : " (" + probe.unusable.front() + ")";
  throw ArgumentError("Runtime", field, option,
                      "is " + std::to_string(wanted) + ", but this machine has " + std::to_string(probe.usable.size()) +
                          " " + devices + " that can be used" + why);
}

gpu::Probe probe_cuda(const RuntimeOptions& options) {
  if (options.cuda == 0) return {};
  const int wanted = smaller(options.gpus, options.cuda);
  auto found = probe_share(options, wanted);
  if (options.cuda > 0) require_found(wanted, found, 14, "cuda", "GPUs of CUDA");
  return found;
}

/// @param cuda  GPUs of CUDA that the session has
gpu::Probe probe_opencl(const RuntimeOptions& options, int cuda) {
  const int left = options.gpus < 0 ? -1 : options.gpus - cuda;
  // Several processes of a node would all take the same OpenCL devices.
  const bool only_if_asked = cuda > 0 || options.node_parts > 1, asked = options.opencl > 0;
  if (options.opencl == 0 || left == 0 || (only_if_asked && !asked)) return {};
  const int wanted = smaller(options.opencl, left);
  // With both numbers, the user has chosen, and may have the same GPU twice.
  auto found = opencl::probe(wanted, asked ? opencl::Kinds::All : opencl::Kinds::Gpus, cuda > 0 && options.cuda < 0);
  if (asked) require_found(wanted, found, 10, "opencl", "OpenCL devices");
  if (const int room = STARPU_MAXNODES - 1 - cuda; std::ssize(found.usable) > room)
    throw ArgumentError("Runtime", 10, "opencl",
                        "is " + std::to_string(wanted) + ", but this StarPU has room for " + std::to_string(room));
  return found;
}

}  // namespace

gpu::Probe find_gpus(const RuntimeOptions& options) {
  if (options.gpus == 0) return {};
  auto found = probe_cuda(options);
  auto devices = probe_opencl(options, static_cast<int>(found.usable.size()));
  std::ranges::move(devices.usable, std::back_inserter(found.usable));
  std::ranges::move(devices.unusable, std::back_inserter(found.unusable));
  return found;
}

bool is_limited(Index memory, bool opencl) {
  return memory > 0 || std::getenv(starpu_limit(opencl).c_str()) != nullptr;
}

std::vector<TemporaryVariable> limit_memory(const std::vector<gpu::Info>& gpus, Index memory) {
  constexpr double mebibyte = 1 << 20, workspace = 64 * mebibyte;  // the workspace: codelets/device_handles.hpp
  std::vector<TemporaryVariable> limits;
  for (const auto& gpu : gpus) {
    if (static_cast<double>(memory) * mebibyte > static_cast<double>(gpu.memory))
      throw ArgumentError("Runtime", 8, "gpu_memory",
                          "is " + std::to_string(memory) + " MiB, but GPU " + std::to_string(gpu.ordinal) + " has " +
                              std::to_string(gpu.memory >> 20));
    if (is_limited(memory, gpu.opencl)) continue;
    const auto most = static_cast<Index>(share_of_memory * (static_cast<double>(gpu.free) - workspace) / mebibyte);
    limits.emplace_back(starpu_limit(gpu.opencl, std::to_string(gpu.ordinal)),
                        std::to_string(std::max<Index>(1, most)));  // 0 would be no limit
  }
  for (const bool opencl : {false, true})
    if (memory > 0)
      limits.emplace_back(starpu_limit(opencl), std::to_string(memory), TemporaryVariable::IfSet::Replace);
  return limits;
}

}  // namespace tessera::detail
