// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/lapack.hpp>

#include "sinks/submit.hpp"

namespace tessera::detail {

class Session;

/// What a QR factorization produces in addition to its matrix: for each panel with reflectors, a tile with their scalar
/// factors tau, and their block (see codelet.hpp).
class ReflectorTiles {
 public:
  /// @param m, n   dimensions of the matrix
  /// @param panel  columns per panel
  /// @param type   letter of the elements
  ReflectorTiles(std::shared_ptr<Session> session, Index m, Index n, Index panel, char type);

  /// Sets tau. @pre no task uses tau
  template <Scalar T>
  void set(const T* tau);
  /// Waits for the factorization, and returns tau with `all` elements.
  template <Scalar T>
  void wait(T* tau) const;

  Index panels() const noexcept { return static_cast<Index>(factors_.size()); }  ///< number of panels with reflectors
  Index panel() const noexcept { return panel_; }
  Index rows() const noexcept { return m_; }
  Index columns() const noexcept { return n_; }
  Index all() const noexcept { return std::min(m_, n_); }
  Index count(Index k) const noexcept { return std::min(panel_, all() - k * panel_); }
  char type() const noexcept { return type_; }
  starpu_data_handle_t factors(Index k) const { return factors_[static_cast<std::size_t>(k)].handle(); }
  starpu_data_handle_t block(Index k) const { return blocks_[static_cast<std::size_t>(k)].handle(); }
  /// Releases a block that no later task uses.
  void release_block(Index k) { blocks_[static_cast<std::size_t>(k)].release(); }

 private:
  /// Calls `use` with the factors tau of panel k in host memory, acquired in the given mode.
  template <Scalar T, typename Use>
  void access(Index k, starpu_data_access_mode mode, Use use) const;

  std::shared_ptr<Session> session_;  // keeps StarPU running while the handles exist
  Index m_, n_, panel_;
  char type_;
  std::vector<sinks::TemporaryTile> factors_, blocks_;
};

struct ReflectorsAccess {
  static Reflectors reflectors(std::shared_ptr<ReflectorTiles> tiles) { return Reflectors(std::move(tiles)); }
  static ReflectorTiles& tiles(const Reflectors& reflectors) { return *reflectors.tiles_; }
};

}  // namespace tessera::detail
