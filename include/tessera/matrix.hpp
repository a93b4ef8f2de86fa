// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

/// @file
/// Matrices of tiles.

/// The one StarPU name that Tessera's interface needs, declared as in StarPU's headers.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
typedef struct _starpu_data_state* starpu_data_handle_t;

namespace tessera {

namespace detail {
class Session;
class TileGrid;
struct MatrixAccess;
}  // namespace detail
namespace tile {
enum class EdgeTiles;
}

/// The size of full tiles [elements].
struct TileSize {
  Index rows = 0;     ///< rows of a full tile
  Index columns = 0;  ///< columns of a full tile
  /// True if both agree.
  friend bool operator==(const TileSize&, const TileSize&) = default;
};

/// A column-major matrix, cut into tiles, each of which is a StarPU data handle.
///
/// The matrix uses the caller's memory, on the host or on a GPU that Tessera uses (see blas3.hpp); making it copies
/// nothing. A matrix may also have no memory: its tiles then exist only where tasks compute them, and the next call
/// finds them there. Such matrices are for workspace and for intermediate results.
///
/// A Matrix is a handle, like `std::span`: copies and views share the tiles. The last of them to be destroyed waits for
/// the tasks that use the tiles, copies the tiles to the caller's memory and unregisters them. Until then, the host may
/// read the memory after `wait()`, and may write a tile only between its `starpu_data_acquire` and
/// `starpu_data_release`. The destructor of a matrix without memory does not wait: each tile is freed once the tasks
/// submitted so far have finished with it. Destroying a Matrix may thus mean waiting, which a StarPU task must not do.
/// Making a Matrix within a task therefore throws RuntimeError, and destroying the last Matrix on some tiles there ends
/// the program.
///
/// StarPU does not know whether two matrices overlap in memory. A routine refuses overlapping matrices if one of them
/// is its output. Tasks of separate calls on overlapping matrices may run in any order. If one of the calls writes,
/// destroy the first matrix before you make the second.
///
/// Cost: 10 µs and 6 KiB of host memory for each tile.
template <Scalar T>
class Matrix {
 public:
  /// The m×n matrix at `data`, element (i, j) at data[i + j * ld].
  /// @param tile  the size of a full tile, {} for the library's choice; the last row and column of tiles may be smaller
  /// @throws ArgumentError if m or n is negative, ld < max(1, m), data is null and the matrix is not empty, a tile
  ///         dimension is negative, a size does not fit (ld and tile below 2^31; bytes below 2^63), or data is in
  ///         memory of a GPU that Tessera does not use
  /// @throws RuntimeError within a StarPU task or its callback
  Matrix(T* data, Index m, Index n, Index ld, TileSize tile = {});

  /// A read-only m×n matrix at `data`, which routines refuse as an output. Otherwise as with writable memory.
  Matrix(const T* data, Index m, Index n, Index ld, TileSize tile = {});

  /// An m×n matrix without memory. No tile has a value until a task writes it. Routines throw ArgumentError if they
  /// would read a tile that has no value. If a routine writes only a triangle of such a tile, the rest of the tile
  /// becomes undefined. `copy` brings values in and out.
  /// @throws ArgumentError if m, n or a tile dimension is negative, or a tile dimension is 2^31 or more
  /// @throws RuntimeError within a StarPU task or its callback
  Matrix(Index m, Index n, TileSize tile = {});

  // All sizes are those of the matrix as seen through `op()`.
  Index m() const noexcept { return op_ == Op::NoTrans ? m_ : n_; }     ///< rows
  Index n() const noexcept { return op_ == Op::NoTrans ? n_ : m_; }     ///< columns
  Index mt() const noexcept { return op_ == Op::NoTrans ? mt_ : nt_; }  ///< rows of tiles
  Index nt() const noexcept { return op_ == Op::NoTrans ? nt_ : mt_; }  ///< columns of tiles
  Index mb() const noexcept;                                            ///< rows of a full tile
  Index nb() const noexcept;                                            ///< columns of a full tile
  Op op() const noexcept { return op_; }                                ///< how the view shows the stored matrix
  bool read_only() const noexcept;                                      ///< made from a pointer to const

  Index tile_m(Index i) const noexcept;  ///< rows of the tiles (i, ·)
  Index tile_n(Index j) const noexcept;  ///< columns of the tiles (·, j)

  /// The handle of tile (i, j). Its StarPU matrix has the layout of the memory: if `op()` is not NoTrans, it is the
  /// transpose of what the view shows. If the matrix has no memory, Tessera assumes from now on that a task of the
  /// program writes the tile before any task reads it.
  starpu_data_handle_t handle(Index i, Index j) const;

  /// Tiles [i0, i1) × [j0, j1).
  /// @throws ArgumentError if the range is not within the matrix
  Matrix view(Index i0, Index i1, Index j0, Index j1) const;
  /// Aᵀ.
  /// @throws ArgumentError for complex types if the result would be conjugated without being transposed
  Matrix transposed() const;
  /// Aᴴ.
  /// @throws ArgumentError for complex types if the result would be conjugated without being transposed
  Matrix conjugate_transposed() const;

  /// Waits for the tasks submitted so far on these tiles, and copies the tiles to the caller's memory, if there is any.
  /// Also waits for copies that `start_write_back` has started on other views of the matrix, but not for tasks that are
  /// submitted later.
  ///
  /// A tile is wrong if an operation that writes it has failed, or if a routine has computed it from a wrong tile. It
  /// no longer counts as wrong once a routine overwrites it without reading it (β = 0), or this function has thrown its
  /// failure; in the latter case, the caller must fill it again. The program's own tasks, and other matrices on the
  /// same memory, do not pass failures on.
  ///
  /// @throws RuntimeError if one of these tiles is wrong (only once for the same failure); if a copy that belongs to no
  ///         known tile has failed since the matrix was made or this was last called; or within a StarPU task
  void wait() const;

  /// Starts copying the tiles back to the caller's memory, each as soon as the tasks submitted so far have finished
  /// with it. Has no effect on a matrix without memory.
  void start_write_back() const;

  /// The tiles as they are stored, without the transpose of `op()`.
  Matrix stored() const {
    Matrix view = *this;
    view.op_ = Op::NoTrans;
    return view;
  }

  /// True if `other` shares a byte of memory with this matrix or, for a matrix without memory, a tile.
  bool overlaps(const Matrix& other) const;

 private:
  friend struct detail::MatrixAccess;

  Matrix(std::shared_ptr<detail::Session> session, const T* data, Index m, Index n, Index ld, TileSize tile,
         bool read_only, tile::EdgeTiles at_the_edges);
  explicit Matrix(std::shared_ptr<detail::TileGrid> grid);

  std::shared_ptr<detail::TileGrid> grid_;
  Index i0_ = 0, j0_ = 0;  // first tile of the range
  Index mt_ = 0, nt_ = 0;  // tiles in it, and
  Index m_ = 0, n_ = 0;    // elements, all as stored
  Op op_ = Op::NoTrans;
};

extern template class Matrix<float>;
extern template class Matrix<double>;
extern template class Matrix<std::complex<float>>;
extern template class Matrix<std::complex<double>>;

/// B ← A. Submits its tasks and returns, like the routines of blas3.hpp. Use it to fill a matrix without memory, or to
/// copy it to memory: `copy(A, Matrix<T>(data, m, n, ld, {A.mb(), A.nb()}))`.
/// @pre  A and B are cut into the same tiles, and are seen through the same transpose
/// @throws ShapeError, ArgumentError if the matrices do not fit, or if B is read-only or shares memory with A
template <Scalar T>
void copy(const Matrix<T>& A, const Matrix<T>& B);

}  // namespace tessera
