// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/of_type.hpp"
#include "graph.hpp"
#include "machine_model.hpp"
#include "tile/tile.hpp"

namespace tessera::plan {

/// The sink that writes operations into a graph, which a Rehearsal then runs on a model of the machine.
class Rehearse {
 public:
  /// @param loads_first  whether all inputs are requested at the start, in the order of first use
  Rehearse(Graph& graph, bool loads_first) : graph_(graph), loads_first_(loads_first) {}

  template <typename Args>
  void submit(const starpu_codelet& codelet, std::span<const tile::Access> accesses, const Args& args, int owner,
              starpu_data_handle_t wanted_next = nullptr) {
    if constexpr (requires { args.spreads; })
      if (args.blocked && !args.spreads)
        inspect(accesses[1].handle, owner, static_cast<double>(common::size_of(args.work.type)), is_panel<Args>);
    Operation operation{kind_of(name_of<Args>(codelet)), args.work.flops, owner, -1, false};
    if (wanted_next != nullptr) operation.wanted_next = as_tile(wanted_next);
    operation.products = args.work.beside;
    operation.order = args.work.order;
    operation.panel = {args.work.rows, args.work.columns, args.work.moved};
    operation.first = static_cast<int>(graph_.further.size());
    std::size_t inputs = 0;
    for (const auto& access : accesses) {
      const int tile = as_tile(access.handle);
      const bool writes = (access.mode & STARPU_W) != 0, reads = (access.mode & STARPU_R) != 0;
      if (loads_first_ && owner < graph_.gpus) {
        if (reads) request(access.handle, access.owner >= 0 ? access.owner : owner);
        else is_new(index(tile));  // a tile that is written first is not requested, see sinks::Loader
      }
      if (writes && operation.output < 0) operation.output = tile, operation.reads_output = reads;
      else if (!writes && inputs < operation.inputs.size()) operation.inputs[inputs++] = tile;
      else graph_.further.push_back({tile, writes, reads});
    }
    operation.end = static_cast<int>(graph_.further.size());
    graph_.operations.push_back(operation);
  }
  template <typename Args, std::size_t count>
  void submit(const starpu_codelet& codelet, const tile::Access (&accesses)[count], const Args& args, int owner,
              starpu_data_handle_t wanted_next = nullptr) {
    submit(codelet, std::span<const tile::Access>(accesses), args, owner, wanted_next);
  }
  void step(Index /*k*/) {}
  /// Requests a tile at the start, unless it already was.
  void request(starpu_data_handle_t handle, int gpu) {
    const auto tile = index(as_tile(handle));
    if (!graph_.tiles[tile].temporary && is_new(tile)) graph_.requests.emplace_back(as_tile(handle), gpu);
  }
  void load(starpu_data_handle_t tile, int gpu) { request(tile, gpu); }
  /// Always false: nothing may be prepared that only a real task would release.
  static bool runs(starpu_data_handle_t /*tile*/) { return false; }

  class Temporary {
   public:
    Temporary() = default;
    explicit Temporary(starpu_data_handle_t handle) : handle_(handle) {}
    starpu_data_handle_t handle() const noexcept { return handle_; }

   private:
    starpu_data_handle_t handle_ = nullptr;
  };
  Temporary temporary(const tile::Tile& /*stands_for*/, Index m, Index n, std::size_t element_size) {
    const double elements = static_cast<double>(m) * static_cast<double>(n);
    return Temporary(as_handle(graph_.add_temporary(elements * static_cast<double>(element_size))));
  }
  std::optional<Temporary> partial_sum(const tile::Tile& C, std::size_t element_size) {
    return temporary(C, C.rows, C.columns, element_size);
  }

  /// The number of an operation in Graph::kinds.
  int kind_of(const char* name) {
    const auto found = std::ranges::find(graph_.kinds, std::string_view(name));
    if (found == graph_.kinds.end()) return graph_.kinds.emplace_back(name), static_cast<int>(graph_.kinds.size()) - 1;
    return static_cast<int>(found - graph_.kinds.begin());
  }

 private:
  template <typename Args>
  static constexpr bool is_panel = requires(Args args) {
    args.next_sum;
  };
  /// The triangle's part of a panel step. Its products are counted separately.
  template <typename Args>
  static const char* name_of(const starpu_codelet& codelet) {
    if constexpr (!is_panel<Args>) return codelet.name;
    else return std::string_view(codelet.name) == "trsm_panel" ? "trsm" : "trmm";
  }

  /// Adds the task that sums up a tile before an operation that must know whether the tile is finite, see Ops::inspect.
  /// Each step on a panel does this for the next step, so only the first one needs such a task.
  void inspect(starpu_data_handle_t handle, int owner, double element_size, bool only_once) {
    const int tile = as_tile(handle);
    inspected_.resize(graph_.tiles.size());
    if (only_once && inspected_[index(tile)]) return;
    inspected_[index(tile)] = true;
    graph_.operations.push_back(
        {kind_of("inspect"), graph_.tiles[index(tile)].bytes / element_size, owner, tile, true});
  }

  /// Whether neither a request nor an operation that only writes has used the tile before.
  bool is_new(std::size_t tile) {
    used_.resize(graph_.tiles.size());
    return !std::exchange(used_[tile], true);
  }

  Graph& graph_;
  bool loads_first_;
  std::vector<char> used_;       ///< by tile, see `is_new`
  std::vector<bool> inspected_;  ///< by tile
};

}  // namespace tessera::plan
