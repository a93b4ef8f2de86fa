// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/matrix.hpp>

#include "common/not_copyable.hpp"
#include "tile/process_blocks.hpp"

/// The interface to other processes. `libtessera_mpi.so` implements it, so that `libtessera.so` needs no MPI.
namespace tessera::tile {

/// How products limit communication; see ProductControl in <tessera/distributed.hpp>.
struct ProcessControl {
  bool by_columns = true;
  tile::WantedBlocks blocks = {};
};

/// One-byte data, two for each process, that tell processes how far the others have come.
struct Tokens {
  std::vector<starpu_data_handle_t> up, down;
};

/// The processes that share matrices. All of them go through the same calls in the same order, so each process knows
/// without communication which tiles the others need, and when.
class Processes : common::NotCopyable {
 public:
  virtual ~Processes() = default;
  virtual int rank() const noexcept = 0;

  /// Assigns a tile to the process `owner`. All processes call this for the same tiles in the same order.
  virtual void assign(starpu_data_handle_t tile, int owner) = 0;
  /// Declares that only this process uses these data.
  virtual void keep(starpu_data_handle_t data) = 0;
  /// The owner of data of which every process has its own copy with the same values.
  static constexpr int every_process = -1;
  /// Makes `every_process` the owner. All processes call this.
  virtual void keep_everywhere(starpu_data_handle_t data) = 0;
  /// @pre  `assign`, `keep` or `keep_everywhere` was called
  virtual int owner(starpu_data_handle_t tile) const = 0;

  /// Sends a tile of this process as soon as the tasks submitted so far have written it.
  /// @param priority  priority of the tasks that wait for it
  virtual void send(starpu_data_handle_t tile, int to, int priority) = 0;
  /// Receives a tile from its owner. Tasks submitted later wait for it.
  virtual void receive(starpu_data_handle_t tile, int priority) = 0;
  /// Drops copies that the program's own tasks have fetched.
  virtual void forget_copies(starpu_data_handle_t tile) = 0;

  /// The resources that all processes have in common, and how products use them; the same in all processes.
  virtual tile::ProcessModel model() const = 0;
  virtual ProcessControl control() const = 0;
  virtual const Tokens& tokens() = 0;

  /// The smallest nonzero value of all processes, or 0. All processes call this.
  virtual std::int64_t least(std::int64_t value) = 0;

  /// Called before the last matrix on a set of tiles waits for their tasks. If an exception is in flight, other
  /// processes may not make the same calls. This function then makes sure that no task waits for them, or ends all
  /// processes if one does.
  virtual void matrix_ends() noexcept = 0;
};

/// The tiles of a block-cyclic matrix that one process owns.
struct Share {
  std::shared_ptr<Processes> processes;  ///< null: one process owns everything
  int p = 1, q = 1;                      ///< the grid of processes
  int row = 0, column = 0;               ///< this process's position in the grid
  int first_row = 0, first_column = 0;   ///< the position of the owner of tile (0, 0)
  int number = 0;                        ///< identifies the matrix; the same in all processes
  std::shared_ptr<void> memory = {};     ///< keeps alive the memory that the library has allocated for the tiles
  /// The rank of each process of the grid, row by row; null: ranks are numbered row by row.
  std::shared_ptr<const std::vector<int>> ranks = {};

  bool is_distributed() const noexcept { return processes != nullptr; }
  /// The row of the grid that owns row i of tiles.
  int row_of(Index i) const noexcept { return static_cast<int>((i + first_row) % p); }
  int column_of(Index j) const noexcept { return static_cast<int>((j + first_column) % q); }
  int owner(Index i, Index j) const noexcept {
    const int place = row_of(i) * q + column_of(j);
    return ranks ? (*ranks)[static_cast<std::size_t>(place)] : place;
  }
  bool is_mine(Index i, Index j) const noexcept { return row_of(i) == row && column_of(j) == column; }
  /// The number of tile rows before row i that contain tiles of this process.
  Index rows_before(Index i) const noexcept { return count_before(i, p, (row - first_row + p) % p); }
  Index columns_before(Index j) const noexcept { return count_before(j, q, (column - first_column + q) % q); }

 private:
  static Index count_before(Index i, int processes, int first) noexcept {
    return (i - first + processes - 1) / processes;  // the numerator is not negative: i > first − processes
  }
};

}  // namespace tessera::tile
