// SPDX-License-Identifier: BSD-3-Clause
#include <starpu.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include <tessera/error.hpp>

#include "machine_description.hpp"

namespace tessera::device::simulated {

namespace {

using Json = nlohmann::ordered_json;

/// A value of the file with its path, which appears in messages.
class Field {
 public:
  Field(const std::string& file, std::string path, const Json& value)
      : file_(file), path_(std::move(path)), value_(value) {}

  [[noreturn]] void refuse(const std::string& allowed) const {
    throw RuntimeError(file_ + ": " + (path_.empty() ? "the file" : path_) + " is " + value_.dump() + ", must be " +
                       allowed);
  }

  /// A member. Call `only` first to check the names of the members.
  Field operator[](const std::string& key) const {
    if (!value_.is_object()) refuse("an object");
    if (!value_.contains(key)) throw RuntimeError(file_ + ": " + inside(key) + " is missing");
    return {file_, inside(key), value_[key]};
  }
  bool has(const std::string& key) const { return value_.is_object() && value_.contains(key); }
  /// Refuses unknown members: a misspelt name would otherwise look like an absent field.
  void only(const std::vector<std::string>& keys) const {
    if (!value_.is_object()) refuse("an object");
    for (const auto& [key, unused] : value_.items())
      if (std::ranges::find(keys, key) == keys.end()) {
        std::string known;
        for (const auto& k : keys) known += (known.empty() ? "" : ", ") + k;
        throw RuntimeError(file_ + ": " + inside(key) + " is not a field; known fields: " + known);
      }
  }

  std::vector<Field> items() const {
    if (!value_.is_array()) refuse("a list");
    std::vector<Field> all;
    for (std::size_t i = 0; i < value_.size(); i++)
      all.emplace_back(file_, path_ + "[" + std::to_string(i) + "]", value_[i]);
    return all;
  }
  std::vector<std::pair<std::string, Field>> members() const {
    if (!value_.is_object()) refuse("an object");
    std::vector<std::pair<std::string, Field>> all;
    for (const auto& [key, value] : value_.items()) all.emplace_back(key, Field(file_, inside(key), value));
    return all;
  }

  /// Larger numbers would overflow: StarPU ends the process if a task takes 10²⁴ s.
  static constexpr double largest = 1e12;
  double positive(double most = largest) const {
    return number(most, "a number above 0", [](double x) { return x > 0; });
  }
  double not_negative() const {
    return number(largest, "a number, 0 or more", [](double x) { return x >= 0; });
  }
  int whole(int least, int most) const {
    const double x = number(most, "a whole number from " + std::to_string(least) + " to " + std::to_string(most),
                            [&](double y) { return y >= least && y <= most && y == std::floor(y); });
    return static_cast<int>(x);
  }
  bool truth() const {
    if (!value_.is_boolean()) refuse("true or false");
    return value_;
  }
  std::string text() const {
    if (!value_.is_string()) refuse("a string");
    return value_;
  }

 private:
  std::string inside(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  template <typename Test>
  double number(double most, const std::string& allowed, Test test) const {
    if (!value_.is_number() || !test(value_.get<double>())) refuse(allowed);
    if (value_.get<double>() > most) refuse("at most " + std::to_string(static_cast<std::int64_t>(most)));
    return value_;
  }

  const std::string& file_;
  std::string path_;
  const Json& value_;
};

/// The flops that the codelet counts for an n×n tile of doubles. Covers the operations that may have their own times.
double tile_flops(const std::string& operation, double n) {
  const bool half = operation == "gemmt" || operation == "syrk" || operation == "trmm" || operation == "trsm";
  if (operation == "diagonal_blocks") return 2 * n * 256 * 256;
  if (operation == "potrf" || operation == "trtri" || operation == "lauum") return n * n * n / 3;
  if (operation == "getrf_nopiv") return 2 * n * n * n / 3;
  return (half ? 1 : 2) * n * n * n;
}
const std::vector<std::string> operations{"gemm", "gemmt",           "symm",  "syrk",        "syr2k", "trmm",
                                          "trsm", "diagonal_blocks", "potrf", "getrf_nopiv", "trtri", "lauum"};

/// Reads points sorted by their first number.
/// @param point_of  makes a point from the two numbers
template <typename PointOf>
CostCurve read_curve(const Field& field, const char* names, PointOf point_of) {
  std::vector<CostCurve::Point> points;
  double last = 0;
  for (const auto& point : field.items()) {
    const auto pair = point.items();
    if (pair.size() != 2) point.refuse(names);
    const double x = pair[0].positive();
    if (x <= last) pair[0].refuse("larger than the previous one");
    points.push_back(point_of(x, pair[1].positive()));
    last = x;
  }
  if (points.empty()) field.refuse("a list with at least one point");
  return CostCurve(std::move(points));
}

ColumnTimes read_columns(const Field& field) {
  field.only({"idle", "computing"});
  const auto read = [&](const char* when) {
    return read_curve(field[when], "[bytes of a column, GB/s]", [](double bytes, double rate) {
      return CostCurve::Point{bytes, bytes / (1e9 * rate)};
    });
  };
  return {read("idle"), read("computing")};
}

PanelTimes read_panels(const Field& field) {
  field.only({"alone", "beside_products", "products"});
  const auto read = [&](const char* when) {
    return read_curve(field[when], "[rows, microseconds of a column]", [](double rows, double microseconds) {
      return CostCurve::Point{rows, 1e-6 * microseconds};
    });
  };
  PanelTimes panels{read("alone"), {}};
  if (!field.has("beside_products") && !field.has("products")) return panels;
  panels.beside = {read("beside_products"), field["products"].positive()};
  if (panels.beside->products > 1) field["products"].refuse("at most 1");
  return panels;
}

/// The times of the program's codelets.
std::map<std::string, CostCurve> read_codelets(const Field& field) {
  std::map<std::string, CostCurve> codelets;
  if (!field.has("codelets_ms")) return codelets;
  for (const auto& [name, points] : field["codelets_ms"].members()) {
    if (name.empty()) points.refuse("under the name of a codelet");
    codelets[name] =
        read_curve(points, "[bytes of the task's data, milliseconds]", [](double bytes, double milliseconds) {
          return CostCurve::Point{bytes, 1e-3 * milliseconds};
        });
  }
  return codelets;
}

GpuKind read_kind(const std::string& name, const Field& field) {
  field.only({"memory_gb", "memory_gbps", "task_overhead_us", "kernels_ms", "codelets_ms", "panels_us", "columns_gbps",
              "types"});
  GpuKind kind;
  kind.name = name;
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr(" ()-_.", c) != nullptr; };
  if (name.empty() || !std::ranges::all_of(name, plain))  // the name becomes part of an XML file
    field.refuse("under a name made of letters, digits, spaces and ( ) - _ .");
  kind.memory = 1e9 * field["memory_gb"].positive(1e9);
  kind.memory_rate = 1e9 * field["memory_gbps"].positive();
  kind.task_overhead = 1e-6 * field["task_overhead_us"].not_negative();
  const auto kernels = field["kernels_ms"];
  kernels.only(operations);
  kernels["gemm"];  // requires the field
  for (const auto& [operation, points] : kernels.members())
    kind.kernels[operation] =
        read_curve(points, "[order of the tile, milliseconds]", [&name = operation](double n, double milliseconds) {
          return CostCurve::Point{tile_flops(name, n), 1e-3 * milliseconds};
        });
  // Hermitian tiles take as long as symmetric ones.
  for (const auto& [symmetric, hermitian] : {std::pair{"symm", "hemm"}, {"syrk", "herk"}, {"syr2k", "her2k"}})
    if (const auto found = kind.kernels.find(symmetric); found != kind.kernels.end())
      kind.kernels[hermitian] = kind.kernels[symmetric];
  if (field.has("columns_gbps")) {
    const auto columns = field["columns_gbps"];
    columns.only({"in", "out"});
    kind.in = read_columns(columns["in"]), kind.out = read_columns(columns["out"]);
  }
  if (field.has("panels_us")) kind.panels = read_panels(field["panels_us"]);
  kind.codelets = read_codelets(field);
  kind.types['d'] = 1;
  const auto types = field["types"];
  types.only({"s", "c", "z"});
  for (const char* type : {"s", "c", "z"}) kind.types[*type] = types[type].positive();
  return kind;
}

std::vector<int> read_gpus(const Field& field, int count) {
  std::vector<int> gpus;
  for (const auto& item : field.items()) gpus.push_back(item.whole(0, count - 1));
  if (gpus.empty()) field.refuse("a list with at least one GPU");
  return gpus;
}

void read_host_links(const Field& field, Machine& machine) {
  for (const auto& link : field.items()) {
    link.only({"gpus", "in_gbps", "out_gbps", "latency_us", "half_duplex"});
    for (const int gpu : read_gpus(link["gpus"], machine.gpu_count())) {
      auto& g = machine.gpus[static_cast<std::size_t>(gpu)];
      g.in = 1e9 * link["in_gbps"].positive(), g.out = 1e9 * link["out_gbps"].positive();
      g.latency = 1e-6 * link["latency_us"].not_negative();
      g.half_duplex = link.has("half_duplex") && link["half_duplex"].truth();
    }
  }
  for (int gpu = 0; gpu < machine.gpu_count(); gpu++)
    if (machine.gpus[static_cast<std::size_t>(gpu)].in == 0)
      field.refuse("a list that contains every GPU; GPU " + std::to_string(gpu) + " does not");
}

void read_shared_links(const Field& field, Machine& machine) {
  for (const auto& link : field.items()) {
    link.only({"name", "gpus", "in_gbps", "out_gbps", "both_gbps"});
    link["name"].text();  // the field is a comment, but must be a string
    machine.shared.push_back({read_gpus(link["gpus"], machine.gpu_count()), 1e9 * link["in_gbps"].positive(),
                              1e9 * link["out_gbps"].positive(),
                              link.has("both_gbps") ? 1e9 * link["both_gbps"].positive() : 0});
  }
}

void read_peer_links(const Field& field, Machine& machine) {
  const auto count = machine.gpus.size();
  machine.peers.assign(count, std::vector<PeerLink>(count));
  for (const auto& link : field.items()) {
    link.only({"gpus", "with", "gbps", "together_gbps", "latency_us", "over"});
    if (link.has("together_gbps")) machine.peers_together = 1e9 * link["together_gbps"].positive();
    const auto over = link["over"];
    if (over.text() != "nvlink" && over.text() != "bus") over.refuse("\"nvlink\" or \"bus\"");
    const PeerLink peer{over.text() == "bus" ? PeerLink::Way::Bus : PeerLink::Way::NvLink,
                        1e9 * link["gbps"].positive(), 1e-6 * link["latency_us"].not_negative()};
    const auto group = read_gpus(link["gpus"], machine.gpu_count());
    const auto others = link.has("with") ? read_gpus(link["with"], machine.gpu_count()) : group;
    for (const int a : group)
      for (const int b : others)
        if (a != b)
          for (const auto& [from, to] : {std::pair{a, b}, {b, a}})
            machine.peers[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = peer;
  }
}

Network read_network(const Field& field) {
  field.only({"processes_per_node", "in_gbps", "out_gbps", "inside_gbps", "core_gbps", "latency_us"});
  Network network;
  network.processes_per_node = field["processes_per_node"].whole(1, 64);
  network.in = 1e9 * field["in_gbps"].positive(), network.out = 1e9 * field["out_gbps"].positive();
  network.inside = 1e9 * field["inside_gbps"].positive();
  if (field.has("core_gbps")) network.core = 1e9 * field["core_gbps"].positive();
  network.latency = 1e-6 * field["latency_us"].not_negative();
  return network;
}

}  // namespace

Machine read_machine(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::ifstream stream(path);
  if (!stream) throw RuntimeError(file + " cannot be read: " + std::strerror(errno));
  Json json;
  try {
    json = Json::parse(stream);
  } catch (const Json::parse_error& error) {
    throw RuntimeError(file + " is not JSON: " + error.what());
  }
  const Field root(file, "", json);
  root.only(
      {"source", "assumed", "cpu", "kinds", "gpus", "host_links", "shared_links", "peer_links", "staging", "network"});
  for (const char* comment : {"source", "assumed"})
    for (const auto& sentence : root[comment].items()) sentence.text();
  Machine machine;
  machine.name = path.stem().string();
  const auto cpu = root["cpu"];
  cpu.only({"cores", "core_gflops", "panel_gflops", "codelets_ms"});
  machine.cores = cpu["cores"].whole(1, STARPU_MAXCPUS);
  machine.core_rate = 1e9 * cpu["core_gflops"].positive();
  if (cpu.has("panel_gflops")) machine.panel_rate = 1e9 * cpu["panel_gflops"].positive();
  machine.core_codelets = read_codelets(cpu);
  for (const auto& [name, kind] : root["kinds"].members()) machine.kinds.push_back(read_kind(name, kind));
  const auto gpus = root["gpus"].items();
  if (gpus.empty() || gpus.size() > STARPU_MAXCUDADEVS)
    root["gpus"].refuse("a list of 1 to " + std::to_string(STARPU_MAXCUDADEVS) + " kinds");
  for (const auto& gpu : gpus) {
    const auto kind = std::ranges::find(machine.kinds, gpu.text(), &GpuKind::name);
    if (kind == machine.kinds.end()) gpu.refuse("a name from kinds");
    machine.gpus.push_back({.kind = static_cast<std::size_t>(kind - machine.kinds.begin())});
  }
  read_host_links(root["host_links"], machine);
  read_shared_links(root["shared_links"], machine);
  read_peer_links(root["peer_links"], machine);
  if (root.has("staging")) {
    const auto staging = root["staging"];
    staging.only({"gbps", "core_gbps"});
    machine.staging = {1e9 * staging["gbps"].positive(), 1e9 * staging["core_gbps"].positive()};
  }
  if (root.has("network")) machine.network = read_network(root["network"]);
  return machine;
}

}  // namespace tessera::device::simulated
