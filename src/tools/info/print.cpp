// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "info/facts.hpp"
#include "shared/formatting.hpp"
#include "workload/explanation.hpp"

namespace tessera::info {

namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;
using Json = nlohmann::ordered_json;

std::string device_name(const Device& device) {
  if (device.kind == Device::Kind::Cpu) return "CPU";
  return fmt::format("{} {}", device.opencl ? "OpenCL" : "GPU", device.id);
}

void print_devices(const Facts& facts) {
  fmt::print("\nDevices\n");
  if (!facts.running) {
    fmt::print("  The runtime does not start: {}\n", facts.why_not_running);
    for (std::size_t g = 0; g < facts.software.visible_gpus.size(); g++)
      fmt::print("  GPU {:<4} {}\n", g, facts.software.visible_gpus[g]);
    return;
  }
  for (const auto& device : facts.running->devices)
    fmt::print("  {:<8} {:<44} {:>4} {:<7} {:>8.1f} GiB\n", device_name(device), device.name, device.workers,
               device.workers == 1 ? "worker" : "workers", static_cast<double>(device.memory) / gibibyte);
  if (!facts.running->cores.empty()) fmt::print("  cores: {}\n", facts.running->cores);
  for (const auto& why : facts.running->unused) fmt::print("  not used: {}\n", why);
}

/// Each NUMA node with the devices attached to it. A device attached to several nodes appears at all of them.
void print_nodes(const HostNodes& host) {
  fmt::print("\nMemory of the host\n");
  std::set<std::string> placed;
  for (std::size_t node = 0; node < host.nodes.size(); node++) {
    std::string here;
    for (const auto& [name, place] : host.devices)
      if (const auto end = place.nodes.begin() + static_cast<std::ptrdiff_t>(place.near);
          std::find(place.nodes.begin(), end, static_cast<int>(node)) != end) {
        here += fmt::format("{}{}{}", here.empty() ? "" : ", ", name,
                            place.address.empty() ? "" : " (" + place.address + ")");
        placed.insert(name);
      }
    fmt::print("  {:<8} {:>4} core{} {:>8.1f} GiB   {}\n", fmt::format("NUMA {}", node), host.nodes[node].cores,
               host.nodes[node].cores == 1 ? " " : "s", static_cast<double>(host.nodes[node].memory) / gibibyte, here);
  }
  for (const auto& [name, place] : host.devices)
    if (!placed.contains(name)) fmt::print("  unknown  {:<24} {}\n", "", name);
}

void print_links(const char* source, const Links& links) {
  if (links.nodes.size() < 2) return;
  fmt::print("\nLinks [GB/s], {}; from row to column\n  {:<8}", source, "");
  for (const auto& node : links.nodes) fmt::print(" {:>8}", node);
  for (std::size_t from = 0; from < links.nodes.size(); from++) {
    fmt::print("\n  {:<8}", links.nodes[from]);
    for (const double rate : links.bytes_per_second[from])
      fmt::print(" {:>8}", rate > 0 ? fmt::format("{:.1f}", rate * 1e-9) : "-");
  }
  if (links.h2d_together > 0)
    fmt::print("\n  all GPUs at once: {:.1f} in, {:.1f} out", links.h2d_together * 1e-9, links.d2h_together * 1e-9);
  fmt::print("\n");
}

void print_software(const Facts& facts) {
  const auto& s = facts.software;
  const auto line = [](const char* what, const std::string& text) { fmt::print("  {:<10} {}\n", what, text); };
  fmt::print("\nSoftware\n");
  line("Tessera", fmt::format("{}, {} CUDA, {} OpenCL", s.tessera, s.with_cuda ? "with" : "without",
                              s.with_opencl ? "with" : "without"));
  line("StarPU", fmt::format("{} with {}", s.starpu, s.starpu_features));
  line("", s.starpu_library);
  if (facts.running)
    line("policy", fmt::format("{}, placement by {}", facts.running->policy, facts.running->placement));
  line("host BLAS", s.blas);
  line("", fmt::format("{}, {} thread{} by default", s.blas_library, s.blas_threads, s.blas_threads == 1 ? "" : "s"));
  if (!s.blas_advice.empty()) line("", s.blas_advice);
  line("cache", s.cache);
  if (!s.cache_trouble.empty())
    line("", s.cache_trouble + ": each process measures the machine again; see TESSERA_CACHE_DIR");
}

void print_plans(const std::vector<PlannedProduct>& products) {
  if (products.empty()) return;
  fmt::print("\nTiles for C = A B + C with n x n matrices\n  {:<4} {:>7} {:>12} {:>8} {:>9} {:>14}\n", "type", "n",
             "tile of C", "chunk k", "block", "predicted [s]");
  for (const auto& [type, n, plan] : products) {
    const auto block = plan.panels.exist()    ? std::string("panels")
                       : plan.block.rows == 0 ? "all of C"
                                              : fmt::format("{}x{}", plan.block.rows, plan.block.columns);
    const auto seconds = plan.seconds > 0 ? tools::significant(plan.seconds, 3) : "-";  // given tiles are not predicted
    fmt::print("  {:<4} {:>7} {:>12} {:>8} {:>9} {:>14}\n         {}\n", type, n,
               fmt::format("{}x{}", plan.tile.m, plan.tile.n), plan.tile.k, block, seconds, plan.reason);
  }
}

void print_distributed(const std::vector<PlannedDistributedProduct>& plans) {
  for (const auto& [type, product, tile, processes, blocks, loads] : plans) {
    fmt::print("\n{}gemm with {}x{} C and {} terms over {}x{} processes, tiles of {}, {} GPU{} a process\n", type,
               product.m, product.n, product.k, product.p, product.q, tile, processes.gpus,
               processes.gpus == 1 ? "" : "s");
    fmt::print("  blocks of C       b x c = {}x{} tiles a process, {}x{} of them ({})\n", blocks.rows, blocks.columns,
               blocks.down, blocks.across, blocks.whole ? "c1: all of C at once" : "c2: one block after another");
    fmt::print("  chunks            d = {} terms, {} in each block\n", blocks.chunk, blocks.chunks);
    if (blocks.holds_back)
      fmt::print("  look-ahead        l = {} chunk{}\n", blocks.ahead, blocks.ahead == 1 ? "" : "s");
    else fmt::print("  look-ahead        none: the copies of all inputs fit into the memory of the host\n");
    fmt::print("  network           {:.4g} GB received by each process\n", loads.received * 1e-9);
    if (processes.gpus > 0)
      fmt::print(
          "  each GPU          {:.4g} GB of A and B loaded (case {}; {:.4g} if columns divided evenly), {:.4g} GB of C "
          "loaded and written back\n",
          loads.inputs * 1e-9, loads.memory_case, loads.even_inputs * 1e-9, loads.result * 1e-9);
  }
}

Json to_json(const PlannedDistributedProduct& plan) {
  const auto& [type, product, tile, processes, blocks, loads] = plan;
  return {{"type", std::string(1, type)},
          {"p", product.p},
          {"q", product.q},
          {"m", product.m},
          {"n", product.n},
          {"k", product.k},
          {"tile", tile},
          {"gpus", processes.gpus},
          {"gpu_memory", processes.gpu_memory},
          {"host_memory", processes.host_memory},
          {"b", blocks.rows},
          {"c", blocks.columns},
          {"d", blocks.chunk},
          {"holds_back", blocks.holds_back},
          {"look_ahead", blocks.ahead},
          {"blocks", blocks.down * blocks.across},
          {"chunks", blocks.chunks},
          {"whole", blocks.whole},
          {"received", loads.received},
          {"case", std::string(1, loads.memory_case)},
          {"gpu_inputs", loads.inputs},
          {"gpu_inputs_even", loads.even_inputs},
          {"gpu_result", loads.result}};
}

Json to_json(const Links& links) {
  Json json{{"nodes", links.nodes}, {"bytes_per_s", links.bytes_per_second}, {"latency_s", links.seconds_latency}};
  if (links.h2d_together > 0) json["h2d_together"] = links.h2d_together, json["d2h_together"] = links.d2h_together;
  return json;
}

Json to_json(const HostNodes& host) {
  auto nodes = Json::array(), devices = Json::array();
  for (const auto& node : host.nodes) nodes.push_back({{"cores", node.cores}, {"memory", node.memory}});
  for (const auto& [name, place] : host.devices)
    devices.push_back({{"name", name}, {"pci", place.address}, {"nodes", place.nodes}, {"near", place.near}});
  return {{"nodes", nodes}, {"devices", devices}};
}

Json to_json(const Device& device) {
  return {{"kind", device.kind == Device::Kind::Cpu ? "cpu" : "gpu"},
          {"id", device.id},
          {"name", device.name},
          {"workers", device.workers},
          {"memory", device.memory},
          {"opencl", device.opencl}};
}

Json to_json(const PlannedProduct& product) {
  const auto& plan = product.plan;
  return {{"type", std::string(1, product.type)},
          {"n", product.n},
          {"tile_m", plan.tile.m},
          {"tile_n", plan.tile.n},
          {"tile_k", plan.tile.k},
          {"block_rows", plan.block.rows},
          {"block_columns", plan.block.columns},
          {"gpu_rows", plan.grid.p},
          {"gpu_columns", plan.grid.q},
          {"sums_per_tile", plan.sums},
          {"panels", plan.panels.exist()},
          {"predicted_s", plan.seconds},
          {"reason", plan.reason}};
}

}  // namespace

void print_text(const Facts& facts) {
  fmt::print("Tessera {}\n", facts.software.tessera);
  print_devices(facts);
  for (const auto& plan : facts.plans) {
    fmt::print("\n");
    for (const auto& line : bench::explanation_lines(plan)) fmt::print("{}\n", line);
  }
  if (!facts.plans.empty()) return;
  if (facts.running) print_nodes(facts.running->host);
  if (facts.running) print_links("from StarPU's model", facts.running->links);
  if (facts.measured) print_links("measured now", *facts.measured);
  print_software(facts);
  print_plans(facts.products);
  print_distributed(facts.distributed);
}

void print_json(const Facts& facts) {
  const auto& s = facts.software;
  Json json{{"tessera", s.tessera},
            {"with_cuda", s.with_cuda},
            {"with_opencl", s.with_opencl},
            {"visible_gpus", s.visible_gpus},
            {"cache", s.cache}};
  json["cache_trouble"] = s.cache_trouble.empty() ? Json(nullptr) : Json(s.cache_trouble);
  json["starpu"] = {{"version", s.starpu}, {"library", s.starpu_library}, {"features", s.starpu_features}};
  json["host_blas"] = {{"config", s.blas}, {"library", s.blas_library}, {"threads", s.blas_threads}};
  json["runtime_error"] = facts.running ? Json(nullptr) : Json(facts.why_not_running);
  if (const auto& r = facts.running) {
    json["devices"] = Json::array();
    for (const auto& device : r->devices) json["devices"].push_back(to_json(device));
    json["cores"] = r->cores.empty() ? Json(nullptr) : Json(r->cores);
    json["unused"] = r->unused, json["policy"] = r->policy, json["placement"] = r->placement;
    json["links"] = to_json(r->links), json["host"] = to_json(r->host);
  }
  if (facts.measured) json["links_measured"] = to_json(*facts.measured);
  json["tiles"] = Json::array();
  for (const auto& product : facts.products) json["tiles"].push_back(to_json(product));
  if (!facts.plans.empty()) json["plans"] = facts.plans;
  if (!facts.distributed.empty()) json["distributed"] = Json::array();
  for (const auto& plan : facts.distributed) json["distributed"].push_back(to_json(plan));
  fmt::print("{}\n", json.dump(2));
}

}  // namespace tessera::info
