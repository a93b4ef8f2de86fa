// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include <tessera/matrix.hpp>

#include "submitted.hpp"

namespace tessera::detail {

class Session;

/// The tiles of one registered matrix: what all views of it share.
class TileGrid {
 public:
  TileGrid(void* data, Index m, Index n, Index ld, std::size_t element_size, TileSize tile, bool read_only);
  /// Waits for the tasks on the tiles, brings them home, unregisters them.
  ~TileGrid();
  TileGrid(const TileGrid&) = delete;
  TileGrid& operator=(const TileGrid&) = delete;

  starpu_data_handle_t handle(Index i, Index j) const { return handles_[static_cast<std::size_t>(i + j * mt_)]; }
  Index m() const noexcept { return m_; }
  Index n() const noexcept { return n_; }
  Index mt() const noexcept { return mt_; }
  Index nt() const noexcept { return nt_; }
  Index mb() const noexcept { return tile_.rows; }
  Index nb() const noexcept { return tile_.columns; }
  Index tile_m(Index i) const noexcept { return i + 1 < mt_ ? mb() : m_ - i * mb(); }
  Index tile_n(Index j) const noexcept { return j + 1 < nt_ ? nb() : n_ - j * nb(); }
  bool read_only() const noexcept { return read_only_; }

  /// Whether only one call knows the tiles: then there is nobody to be ordered with.
  bool is_private() const noexcept { return private_; }
  void make_private() noexcept { private_ = true; }
  /// Of the matrix only a triangle is used: nothing else is copied, but for what makes the copies few.
  /// @pre  only one call knows the tiles, and it has not begun
  void use_only(Uplo uplo);

  /// The letter of the operand that it is: what traces call its tiles by. The first call to say so decides.
  void call(char letter) noexcept;
  char letter() const noexcept { return letter_; }

  FailureWatch& failures() noexcept { return failures_; }

  /// Starts bringing tiles [i0, i1) × [j0, j1) home, each as soon as the tasks submitted so far are done with it.
  void bring_home(Index i0, Index i1, Index j0, Index j1) noexcept;
  /// Waits until what `bring_home` has started is there.
  void wait_home();

  /// Memory that the tiles [i0, i1) × [j0, j1) cover, column by column.
  struct Memory {
    const std::byte* first;  ///< start of the first column
    std::size_t height;      ///< bytes of a column
    std::size_t stride;      ///< bytes from one column to the next
    Index columns;
  };
  Memory memory(Index i0, Index i1, Index j0, Index j1) const;

 private:
  class Arrivals;

  FailureWatch failures_;
  std::shared_ptr<Session> session_;  // outlives the handles
  std::vector<starpu_data_handle_t> handles_;
  std::shared_ptr<Arrivals> arrivals_;
  std::byte* data_;
  Index m_, n_, ld_, mt_, nt_;
  std::size_t element_size_;
  TileSize tile_;
  bool read_only_;
  bool private_ = false;
  std::atomic<char> letter_ = 0;
};

/// What the routines see of a Matrix, and its users do not.
struct MatrixAccess {
  template <Scalar T>
  static TileGrid& grid(const Matrix<T>& A) {
    return *A.grid_;
  }
  /// Which tile of the registered matrix is the first one of a view, as stored.
  template <Scalar T>
  static Index first_row(const Matrix<T>& A) {
    return A.i0_;
  }
  template <Scalar T>
  static Index first_column(const Matrix<T>& A) {
    return A.j0_;
  }
};

/// True if two pieces of memory have a byte in common. Exact for any two strides; constant time if the pieces do not
/// interleave, else proportional to their columns.
bool overlap(const TileGrid::Memory& a, const TileGrid::Memory& b);

}  // namespace tessera::detail
