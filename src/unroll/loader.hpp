// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <set>
#include <span>

#include "dump.hpp"
#include "exchange.hpp"
#include "runtime/fair_shares.hpp"
#include "runtime/session.hpp"
#include "tile/tile.hpp"

namespace tessera::unroll {

/// Takes tasks where a Submitter would submit them, and loads what they read.
/// @tparam Self  has load(tile, owner)
template <typename Self>
class LoaderOfTasks {
 public:
  /// Takes the arguments of Submitter::submit.
  template <typename Args, std::size_t count>
  void submit(const starpu_codelet& codelet, const Access (&accesses)[count], const Args& args, int owner,
              starpu_data_handle_t /*wanted_next*/ = nullptr) {
    submit(codelet, std::span<const Access>(accesses), args, owner);
  }
  void submit(const starpu_codelet& /*codelet*/, std::span<const Access> accesses, const auto& /*args*/, int owner) {
    for (const auto& access : accesses)
      if (access.handle != nullptr && (access.mode & STARPU_R) != 0)
        static_cast<Self&>(*this).load(access.handle, access.owner >= 0 ? access.owner : owner);
  }
  void step(Index /*k*/) {}
  static bool runs(starpu_data_handle_t /*tile*/) { return false; }
  /// Nothing is loaded of a temporary tile.
  struct Temporary {
    static starpu_data_handle_t handle() { return nullptr; }
  };
  static Temporary temporary(const tile::Tile& /*stands_for*/, Index /*m*/, Index /*n*/, std::size_t /*element_size*/) {
    return {};
  }
};

/// Requests tiles in the order of the calls, each on its owner, or the GPU that uses it first. Other GPUs find it
/// there.
///
/// StarPU shows the scheduling policy only tasks that are ready, which are the next tasks of each sum. So the policy
/// does not know what the sums need after that, and fetches the inputs of later sums too early. Where the order of all
/// loads matters, they are requested before the first task is submitted.
/// @pre  the GPUs have memory for all tiles that are requested. If other calls or programs use it meanwhile, requests
///       evict tiles that were loaded and not yet used, which are then fetched again.
class Loader : public LoaderOfTasks<Loader> {
 public:
  explicit Loader(const detail::Session& session) : session_(session), priority_(session.shares().first()) {}

  /// Requests a tile, unless it was requested before.
  void load(starpu_data_handle_t tile, int owner) {
    if (!requested_.insert(tile).second) return;
    if (auto* const dump = Dump::active()) dump->request(tile, owner, priority_);
    const int worker = session_.machine().gpu_workers[static_cast<std::size_t>(owner)].front();
    starpu_data_prefetch_on_node_prio(tile, starpu_worker_get_memory_node(static_cast<unsigned>(worker)), 1,
                                      priority_--);
  }

 private:
  const detail::Session& session_;
  std::set<starpu_data_handle_t> requested_;
  /// Different for each request: when a task asks for a tile as well, StarPU puts the request behind all others of the
  /// same priority. They begin at the priority of the call's first task, since calls share the links, too.
  int priority_;
};

}  // namespace tessera::unroll
