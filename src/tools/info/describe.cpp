// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <starpu.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <tessera/tessera.h>

#include "algorithms/plan.hpp"
#include "common/cache.hpp"
#include "common/of_type.hpp"
#include "common/starpu_version.hpp"
#include "devices/cpu/free_memory.hpp"
#include "devices/cpu/host_blas.hpp"
#include "info/facts.hpp"
#include "plan/plans.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "shared/runtime_options.hpp"
#include "tile/default_tile.hpp"
#include "tile/split.hpp"

namespace tessera::info {

namespace {

/// The path of the library that defines `symbol`.
std::string library_of(const char* symbol) {
  Dl_info found{};
  void* address = dlsym(RTLD_DEFAULT, symbol);
  return address != nullptr && dladdr(address, &found) != 0 ? found.dli_fname : "not found";
}

std::string starpu_features() {
  std::vector<std::string> with;
#ifdef STARPU_USE_CUDA
  with.push_back(fmt::format("CUDA (at most {} GPUs)", STARPU_MAXCUDADEVS));
#endif
#ifdef STARPU_USE_OPENCL
  with.push_back(fmt::format("OpenCL (at most {} devices)", STARPU_MAXOPENCLDEVS));
#endif
#ifdef STARPU_SIMGRID
  with.push_back("SimGrid");
#endif
#ifdef STARPU_USE_FXT
  with.push_back("FxT");
#endif
#ifdef STARPU_HAVE_HWLOC
  with.push_back("hwloc");
#endif
#ifdef STARPU_USE_MPI
  with.push_back("MPI");
#endif
  return fmt::format("{}", fmt::join(with, ", "));
}

std::string blas_name() {
  auto* config = reinterpret_cast<char* (*)()>(device::cpu::symbol("openblas_get_config"));
  return config != nullptr ? config() : "not OpenBLAS";
}

/// An OpenBLAS that is older than the processor may not know it, and then chooses kernels for any x86-64 processor,
/// which are several times slower.
std::string blas_advice() {
#ifdef __x86_64__
  auto* const core = reinterpret_cast<char* (*)()>(device::cpu::symbol("openblas_get_corename"));
  const bool may_choose = blas_name().find("DYNAMIC_ARCH") != std::string::npos;
  if (core == nullptr || !may_choose || __builtin_cpu_supports("avx2") == 0) return "";
  constexpr std::array with_avx2{"Excavator", "Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"};
  const std::string_view name(core());
  if (std::ranges::find(with_avx2, name) != with_avx2.end()) return "";
  const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                          __builtin_cpu_supports("avx512vl") != 0;
  return fmt::format("its kernels are for {}, without this processor's AVX{}: try OPENBLAS_CORETYPE={}", name,
                     has_avx512 ? "-512" : "2", has_avx512 ? "SkylakeX" : "Haswell");
#else
  return "";
#endif
}

std::string node_name(unsigned node) {
  switch (starpu_node_get_kind(node)) {
  case STARPU_CPU_RAM:
    return starpu_memory_nodes_get_numa_count() > 1 ? fmt::format("NUMA {}", starpu_memory_node_get_devid(node))
                                                    : "host";
  case STARPU_CUDA_RAM: return fmt::format("GPU {}", starpu_memory_node_get_devid(node));
  case STARPU_OPENCL_RAM: return fmt::format("OpenCL {}", starpu_memory_node_get_devid(node));
  default: return fmt::format("node {}", node);
  }
}

Links modelled_links() {
  Links links;
  const unsigned count = starpu_memory_nodes_get_count();
  const auto known = [](double x) { return std::isfinite(x) && x > 0 ? x : 0; };
  for (unsigned from = 0; from < count; from++) {
    links.nodes.push_back(node_name(from));
    auto& rates = links.bytes_per_second.emplace_back();
    auto& latencies = links.seconds_latency.emplace_back();
    for (unsigned to = 0; to < count; to++) {
      rates.push_back(from == to ? 0 : known(starpu_transfer_bandwidth(from, to)) * 1e6);     // StarPU counts in MB/s
      latencies.push_back(from == to ? 0 : known(starpu_transfer_latency(from, to)) * 1e-6);  // and in µs
    }
  }
  return links;
}

HostNodes look_at_nodes() {
  HostNodes host{device::starpus_machine().nodes(), {}};
  const auto add = [&](const char* kind, const std::vector<device::Place>& places) {
    for (std::size_t i = 0; i < places.size(); i++) host.devices.emplace_back(fmt::format("{} {}", kind, i), places[i]);
  };
  add("GPU", device::gpu_places()), add("OpenCL", device::opencl_places());
  return host;
}

}  // namespace

Software look_at_software() {
  Software software;
  software.tessera = tessera_version();
  software.starpu = common::starpu_version_text();
  software.starpu_library = library_of("starpu_init");
  software.starpu_features = starpu_features();
  software.blas = blas_name();
  software.blas_advice = blas_advice();
  software.blas_library = device::cpu::library();
  software.blas_threads = device::cpu::threads();
  const auto cache = common::cache_directory();
  software.cache = cache ? cache->string() : "none: HOME names no folder";
  if (cache) software.cache_trouble = common::why_not_writable(*cache / "starpu");
  software.visible_gpus = device::gpu::visible_devices();
#ifdef TESSERA_WITH_CUDA
  software.with_cuda = true;
#endif
#ifdef TESSERA_WITH_OPENCL
  software.with_opencl = true;
#endif
  return software;
}

Links measure_links(const std::vector<device::gpu::Info>& devices) {
  std::vector<int> ordinals;
  std::size_t bytes = std::size_t{256} << 20;
  Links links{.nodes = {"host"}, .bytes_per_second = {{0}}, .seconds_latency = {{0}}};
  for (const auto& device : devices) {
    ordinals.push_back(device.ordinal);
    bytes = std::min(bytes, device.memory / 8);
    links.nodes.push_back(fmt::format("GPU {}", device.ordinal));
  }
  const auto rates = device::gpu::measure_links(ordinals, bytes);
  for (std::size_t g = 0; g < devices.size(); g++) {
    links.bytes_per_second[0].push_back(rates.h2d[g]);
    links.seconds_latency[0].push_back(rates.latency[g]);
    auto& row = links.bytes_per_second.emplace_back(std::vector{rates.d2h[g]});
    row.insert(row.end(), rates.peer[g].begin(), rates.peer[g].end());
    links.seconds_latency.emplace_back(row.size(), 0.0);
  }
  links.h2d_together = rates.h2d_together, links.d2h_together = rates.d2h_together;
  return links;
}

Running look_at_runtime(const std::vector<std::string>& visible_gpus) {
  Running running{
      devices(),        unused_devices(), runtime::session()->cores(), policy(), tools::placement_name(placement()),
      modelled_links(), look_at_nodes()};
  for (std::size_t ordinal = 0; ordinal < visible_gpus.size(); ordinal++) {
    const auto name = fmt::format("GPU {}", ordinal);
    const bool used = std::ranges::any_of(running.devices, [&](const Device& device) {
      return device.kind == Device::Kind::Gpu && !device.opencl && device.id == static_cast<int>(ordinal);
    });
    const bool explained =
        std::ranges::any_of(running.unused, [&](const auto& why) { return why.starts_with(name + ":"); });
    if (!used && !explained)
      running.unused.push_back(fmt::format("{} ({}): not requested", name, visible_gpus[ordinal]));
  }
  return running;
}

PlannedProduct plan_product(char type, Index n) {
  return common::with_type(type, [&]<Scalar T>(T) {
    const auto session = runtime::session();
    return PlannedProduct{type, n,
                          plan::plan_product(session->machine(), type_letter<T>, Op::NoTrans, Op::NoTrans, n, n, n)};
  });
}

PlannedDistributedProduct plan_distributed(char type, const DistributedProduct& product) {
  return common::with_type(type, [&]<Scalar T>(T) {
    const auto session = runtime::session();
    const auto& machine = session->machine();
    PlannedDistributedProduct plan{type, product, tile::default_tile(machine, type_letter<T>), {}, {}, {}};
    plan.processes = {product.p, product.q, machine.gpu_count(), machine.gpu_memory, device::free_memory()};
    const auto tiles = [&](Index x) { return tile::divide_up(x, plan.tile); };
    const double bytes = sizeof(T) * static_cast<double>(plan.tile) * static_cast<double>(plan.tile);
    const tile::TiledProduct tiled{tiles(product.m), tiles(product.n), tiles(product.k), bytes, bytes, bytes};
    plan.blocks = tile::choose_process_blocks(plan.processes, tiled);
    plan.loads = tile::predicted_loads(plan.processes, tiled, plan.blocks);
    return plan;
  });
}

}  // namespace tessera::info
