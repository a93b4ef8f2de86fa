// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <tessera/lapack.hpp>

#include "sinks/submit.hpp"

namespace tessera::detail {

class Session;

/// The pivots of a factorization: one tile for each panel that has pivots.
class PivotTiles {
 public:
  /// @param m, n   dimensions of the matrix
  /// @param panel  columns per panel
  PivotTiles(std::shared_ptr<Session> session, Index m, Index n, Index panel);

  /// Assigns the pivots of each panel of a distributed A to the process of the panel.
  void assign(sinks::Exchange& exchange, const tile::Stored& A);
  /// Brings all pivots of a distributed matrix to every process, each of which then has its own copy. Call this after
  /// the last task that writes them.
  void give_to_all(sinks::Exchange& exchange, int processes, int priority);
  /// Declares that every process sets these pivots itself, and thus has its own copy.
  void keep_everywhere(std::shared_ptr<tile::Processes> processes);

  /// Sets the pivots. @pre no task uses them
  /// @param pivots  1-based rows of the matrix
  void set(const std::vector<Index>& pivots);
  /// Waits for the pivots and returns them as 1-based rows of the matrix.
  std::vector<Index> wait() const;

  /// Whether these are pivots of a matrix that is distributed over these processes.
  bool belong_to(const std::shared_ptr<tile::Processes>& processes) const { return processes_ == processes; }
  Index panels() const noexcept { return static_cast<Index>(tiles_.size()); }  ///< number of panels that have pivots
  Index panel() const noexcept { return panel_; }
  Index rows() const noexcept { return m_; }
  Index columns() const noexcept { return n_; }
  starpu_data_handle_t handle(Index k) const { return tiles_[static_cast<std::size_t>(k)].handle(); }

 private:
  /// Calls `use` with the pivots of panel k in host memory, acquired in the given mode.
  template <typename Use>
  void access(Index k, starpu_data_access_mode mode, Use use) const;
  Index count(Index k) const;

  std::shared_ptr<Session> session_;            // keeps StarPU running while the handles exist
  std::shared_ptr<tile::Processes> processes_;  // keeps StarPU-MPI running; null: the matrix is not distributed
  Index m_, n_, panel_;
  std::vector<sinks::TemporaryTile> tiles_;
};

}  // namespace tessera::detail

namespace tessera::algorithms {

/// The tiles of pivots as algorithms use them: a plain value, which keeps no tile alive.
class PivotHandles {
 public:
  /// @param panel  columns per panel
  PivotHandles(std::vector<starpu_data_handle_t> tiles, Index panel) : tiles_(std::move(tiles)), panel_(panel) {}
  PivotHandles(const detail::PivotTiles& pivots)  // NOLINT(google-explicit-constructor): algorithms take any pivots
      : panel_(pivots.panel()) {
    for (Index k = 0; k < pivots.panels(); k++) tiles_.push_back(pivots.handle(k));
  }

  Index panels() const noexcept { return static_cast<Index>(tiles_.size()); }
  Index panel() const noexcept { return panel_; }
  starpu_data_handle_t handle(Index k) const { return tiles_[static_cast<std::size_t>(k)]; }

 private:
  std::vector<starpu_data_handle_t> tiles_;
  Index panel_;
};

}  // namespace tessera::algorithms

namespace tessera::detail {

struct PivotsAccess {
  static Pivots pivots(std::shared_ptr<PivotTiles> tiles) { return Pivots(std::move(tiles)); }
  static const PivotTiles& tiles(const Pivots& pivots) { return *pivots.tiles_; }
};

}  // namespace tessera::detail
