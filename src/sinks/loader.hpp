// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "devices/tile_interface.hpp"
#include "dump.hpp"
#include "runtime/fair_shares.hpp"
#include "runtime/session.hpp"
#include "tile/tile.hpp"

namespace tessera::sinks {

/// Selects the GPU on which to request a tile that several GPUs use. The others then copy it from there.
enum class LoadOn {
  FirstUser,
  /// The GPU over whose link the fewest bytes have been requested so far. Tiles in pageable memory are not requested if
  /// the driving thread of a GPU takes part in each of their copies.
  LeastLoaded
};

/// A sink that, instead of submitting tasks, requests the tiles they read, in the order of first use. Tiles that a task
/// writes first are not requested.
///
/// StarPU shows the scheduling policy only ready tasks, which are the next tasks of each sum. The policy cannot know
/// what the sums need afterwards, and fetches the inputs of later sums too early. In a small call, it requests the
/// tiles of only the next two tasks of a worker, so the links are often idle. Where this matters, all loads are
/// requested before the first task is submitted.
/// @pre  the GPUs have memory for all requested tiles. If other calls or programs use this memory, requests evict tiles
///       before they are used, and these are then fetched again.
class Loader {
 public:
  /// @param delay  A task that reads, but does not write, a temporary tile waits for other tasks. Its other tiles are
  ///               therefore needed later: they are requested after the tiles of this many further such tasks.
  explicit Loader(const detail::Session& session, LoadOn on = LoadOn::FirstUser, Index delay = 0)
      : session_(session), on_(on), delay_(delay), priority_(session.shares().first()) {}

  /// Takes the arguments of Submitter::submit.
  template <typename Args, std::size_t count>
  void submit(const starpu_codelet& codelet, const tile::Access (&accesses)[count], const Args& args, int owner,
              starpu_data_handle_t /*wanted_next*/ = nullptr) {
    submit(codelet, std::span<const tile::Access>(accesses), args, owner);
  }
  void submit(const starpu_codelet& /*codelet*/, std::span<const tile::Access> accesses, const auto& /*args*/,
              int owner) {
    const auto waits = [](const tile::Access& access) { return access.handle == nullptr && access.mode == STARPU_R; };
    if (delay_ == 0 || std::ranges::none_of(accesses, waits)) return load(accesses, owner);
    waiting_.push_back({{accesses.begin(), accesses.end()}, owner});
    if (std::ssize(waiting_) > delay_) load_first_waiting();
  }
  void step(Index /*k*/) {}
  static bool runs(starpu_data_handle_t /*tile*/) { return false; }
  /// Temporary tiles are not loaded.
  struct Temporary {
    static starpu_data_handle_t handle() { return nullptr; }
  };
  static Temporary temporary(const tile::Tile& /*stands_for*/, Index /*m*/, Index /*n*/, std::size_t /*element_size*/) {
    return {};
  }
  static std::optional<Temporary> partial_sum(const tile::Tile& /*C*/, std::size_t /*element_size*/) {
    return Temporary{};
  }

  /// Requests a tile that the GPU `owner` reads, unless it was already requested.
  void load(starpu_data_handle_t tile, int owner) {
    const auto [at, is_new] = users_.try_emplace(tile);
    if (on_ == LoadOn::FirstUser) {
      if (is_new) request(tile, owner);
      return;
    }
    if (is_new) order_.push_back(tile);
    auto& users = at->second;
    if (std::ranges::find(users, owner) == users.end()) users.push_back(owner);
  }

  /// Requests the remaining tiles, as far as they fit beside those of other calls. Call this after the last task.
  /// @pre  for `LeastLoaded`, the call's Submitter exists
  void finish() {
    while (!waiting_.empty()) load_first_waiting();
    const double memory = session_.machine().gpu_memory, room = memory * session_.shares().part_of_memory();
    std::vector<std::size_t> bytes(session_.machine().gpus.size());
    const auto of_link = [&](int gpu) -> auto& { return bytes[static_cast<std::size_t>(gpu)]; };
    for (const auto tile : order_) {
      if (!travels_alone(tile)) continue;
      const int gpu = *std::ranges::min_element(users_[tile], {}, of_link);
      const auto size = starpu_data_get_size(tile);
      if (memory > 0 && static_cast<double>(of_link(gpu) + size) > room) continue;
      of_link(gpu) += size;
      request(tile, gpu);
    }
  }

 private:
  struct Waiting {
    std::vector<tile::Access> accesses;
    int owner;
  };

  void load(std::span<const tile::Access> accesses, int owner) {
    if (owner >= session_.machine().gpu_count()) return;  // cores read host memory
    for (const auto& access : accesses) {
      if (access.handle == nullptr) continue;
      if ((access.mode & STARPU_R) != 0) load(access.handle, access.owner >= 0 ? access.owner : owner);
      else users_.try_emplace(access.handle);
    }
  }
  void load_first_waiting() {
    load(waiting_.front().accesses, waiting_.front().owner);
    waiting_.pop_front();
  }
  void request(starpu_data_handle_t tile, int gpu) {
    if (auto* const dump = Dump::active()) dump->request(tile, gpu, priority_);
    const int worker = session_.machine().gpu_workers[static_cast<std::size_t>(gpu)].front();
    starpu_data_prefetch_on_node_prio(tile, starpu_worker_get_memory_node(static_cast<unsigned>(worker)), 1,
                                      priority_--);
  }
  bool travels_alone(starpu_data_handle_t tile) const {
    return session_.machine().posts_copies || starpu_data_get_interface_ops(tile) == device::tile_interface::pinned();
  }

  const detail::Session& session_;
  const LoadOn on_;
  const Index delay_;
  std::deque<Waiting> waiting_;
  std::vector<starpu_data_handle_t> order_;  ///< tiles for `finish` to request
  std::map<starpu_data_handle_t, std::vector<int>> users_;
  /// Different for each request: when a task also asks for a tile, StarPU moves its request behind all others of the
  /// same priority. Priorities start at that of the call's first task, because calls also share the links.
  int priority_;
};

}  // namespace tessera::sinks
