// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <map>
#include <mutex>
#include <span>
#include <string>

#include <tessera/types.hpp>

#include "common/not_copyable.hpp"
#include "exchange.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::sinks {

/// During its lifetime, records what calls submit as text, with one line for each task, each requested tile, and each
/// tile that is sent or received. Two versions of an algorithm with the same text submit the same graph.
///
///     zgemm N C (-1,0) (1,0) 0 0; flops 4.194e+06; A(2,0):r A(1,0):r A(2,1):rw; owner 1; priority -9; term 0
///     request A(2,0); gpu 1; priority -4
///
/// The arguments follow the operation in the order of its struct in codelet.hpp. A temporary tile is named by a number
/// and the tile that it stands for: t3~C(1,0).
class Dump : common::NotCopyable {
 public:
  /// @pre  there is no other Dump
  Dump();
  ~Dump();

  /// The current Dump, or null.
  static Dump* active() noexcept;

  /// What has been submitted so far.
  std::string text() const;

  /// Names the tiles of a matrix by its letter.
  void name(const detail::TileGrid& matrix);
  /// Registers a new temporary tile, which has no memory of the caller.
  void temporary(starpu_data_handle_t tile);
  void stands_for(starpu_data_handle_t temporary, char letter, Index i, Index j);

  struct Task {
    std::string operation, arguments;
    double flops;
    std::span<const Access> accesses;
    int owner, priority;
    Index term;
    starpu_data_handle_t wanted_next;
  };
  void task(const Task& task);
  /// An empty task that only orders others.
  void order(std::span<const Access> accesses);
  void request(starpu_data_handle_t tile, int gpu, int priority);
  void send(starpu_data_handle_t tile, int to, int priority);
  void receive(starpu_data_handle_t tile, int priority);

 private:
  const std::string& name_of(starpu_data_handle_t tile);
  std::string list(std::span<const Access> accesses);
  void line(const std::string& text);

  mutable std::mutex mutex_;
  std::map<starpu_data_handle_t, std::string> names_;
  int temporaries_ = 0, unnamed_ = 0;
  std::string text_;
};

}  // namespace tessera::sinks
