// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include <tessera/matrix.hpp>

#include "common/not_copyable.hpp"
#include "processes.hpp"
#include "runtime/failure_watch.hpp"
#include "runtime/process_session.hpp"
#include "tile/edges.hpp"

struct starpu_data_interface_ops;

namespace tessera::runtime {
class Outstanding;
}

namespace tessera::detail {

/// The tiles of one registered matrix, shared by all its views.
class TileGrid : common::NotCopyable {
 public:
  /// Registers the tiles. Arguments as for Matrix, already checked.
  /// @param data  if null, the tiles have no memory
  TileGrid(std::shared_ptr<Session> session, void* data, Index m, Index n, Index ld, std::size_t element_size,
           TileSize tile, bool read_only, tile::EdgeTiles at_the_edges = tile::EdgeTiles::Ragged);
  /// Registers tiles with arbitrary boundaries between rows and columns.
  TileGrid(std::shared_ptr<Session> session, void* data, Index ld, std::size_t element_size, const tile::Edges& rows,
           const tile::Edges& columns, bool read_only, tile::Share share = {});
  /// Registers the tiles of a distributed matrix. This process's tiles are in its memory; the tiles of others have no
  /// memory.
  /// @param data  the tiles of this process, contiguous, as one column-major array
  TileGrid(std::shared_ptr<Session> session, void* data, Index m, Index n, Index ld, std::size_t element_size,
           TileSize tile, bool read_only, tile::Share share);
  /// Waits for the tasks on the tiles, writes the tiles back, and unregisters them. If the tiles have no memory, does
  /// not wait: each tile ends after the tasks that use it.
  /// @pre  the caller is not a StarPU task, which must not wait
  ~TileGrid();

  starpu_data_handle_t handle(Index i, Index j) const { return handles_[static_cast<std::size_t>(i + j * mt_)]; }
  Index m() const noexcept { return rows_.whole(); }
  Index n() const noexcept { return columns_.whole(); }
  Index mt() const noexcept { return mt_; }
  Index nt() const noexcept { return nt_; }
  Index mb() const noexcept { return rows_.tile(); }
  Index nb() const noexcept { return columns_.tile(); }
  Index tile_m(Index i) const noexcept { return rows_.extent(i); }
  Index tile_n(Index j) const noexcept { return columns_.extent(j); }
  const tile::Edges& rows() const noexcept { return rows_; }        ///< how the rows are cut
  const tile::Edges& columns() const noexcept { return columns_; }  ///< how the columns are cut
  bool read_only() const noexcept { return read_only_; }
  /// Whether the tiles have memory of the caller, to which they return.
  bool has_memory() const noexcept { return home_ >= 0; }
  const tile::Share& share() const noexcept { return share_; }
  Session& session() const noexcept { return *session_; }
  const std::shared_ptr<Session>& shared_session() const noexcept { return session_; }

  /// Whether only one call uses the tiles, so that no order with other calls is needed.
  bool is_private() const noexcept { return private_; }
  void make_private() noexcept { private_ = true; }
  /// Declares that the program created the matrix and may use it in several calls.
  void set_of_program() noexcept { of_program_ = true; }
  /// Declares that only one triangle of the matrix is used. Copies from and to the host then skip the unused part of
  /// the diagonal tiles.
  /// @pre  only one call uses the tiles, and it has not submitted a task
  void use_only(Uplo uplo);
  /// Registers a tile anew, with the value that it has in memory. Copies elsewhere are lost.
  /// @pre  no task uses the tile, and nothing refers to its handle
  void renew(Index i, Index j);
  /// Copies bytes of a tile that were written in memory to the tile's copies elsewhere, if they are few, and StarPU has
  /// these copies in memory of GPUs or NUMA nodes.
  /// @param first, end  where they are; they may lie partly outside of the tile
  /// @return  whether all copies are equal to memory now. If not, call `renew`.
  /// @pre  memory has the value of the tile; no task uses it
  bool update_copies(Index i, Index j, const std::byte* first, const std::byte* end);
  /// Whether copies skip the part of a tile outside the triangle, because `use_only` was called.
  bool copies_only_a_triangle() const noexcept { return only_a_triangle_; }

  /// Sets the letter that names the tiles in traces. Only the first call has an effect. If another matrix of the
  /// program already has the letter, a matrix of the program gets a later letter.
  /// @param operand  'A', 'B' or 'C': the role of the matrix in the routine
  void set_letter(char operand) noexcept;
  char letter() const noexcept { return letter_; }

  /// Starts writing back the tiles [i0, i1) × [j0, j1), each as soon as the tasks submitted so far no longer use it.
  /// Tiles without memory are not copied, but `wait_until_written_back` waits for these tasks.
  void write_back(Index i0, Index i1, Index j0, Index j1) noexcept;
  /// Waits for all tiles for which `write_back` was called.
  void wait_until_written_back();
  /// @throws RuntimeError if one of the tiles [i0, i1) × [j0, j1) depends on a failed tile operation, and no waiting
  ///         thread has received this failure yet; or after a stray failure (see common/failure.hpp)
  void check(Index i0, Index i1, Index j0, Index j1);

  /// The memory of this process's tiles among [i0, i1) × [j0, j1), described by columns.
  struct Memory {
    const std::byte* first;  ///< start of the first column
    std::size_t height;      ///< bytes of a column
    std::size_t stride;      ///< bytes from one column to the next
    Index columns;

    const std::byte* end() const {
      return columns == 0 ? first : first + static_cast<std::size_t>(columns - 1) * stride + height;
    }
    std::size_t bytes() const { return height * static_cast<std::size_t>(columns); }
  };
  void* data() const noexcept { return data_; }
  Index ld() const noexcept { return ld_; }
  std::size_t element_size() const noexcept { return element_size_; }
  /// The first element of a tile of this process.
  void* address(Index i, Index j) const;
  Memory memory(Index i0, Index i1, Index j0, Index j1) const;

 private:
  struct WriteBack;

  void register_tile(Index i, Index j);
  void use_only_in(Index i, Index j);

  runtime::FailureWatch strays_;
  std::shared_ptr<Session> session_;  // keeps StarPU running while handles exist
  std::vector<starpu_data_handle_t> handles_;
  std::shared_ptr<runtime::Outstanding> write_backs_;
  std::byte* data_;
  tile::Edges rows_, columns_;
  Index ld_, mt_, nt_;
  int home_;  ///< the memory node of the caller's memory; -1: there is none
  std::size_t element_size_;
  bool read_only_;
  bool private_ = false, only_a_triangle_ = false, of_program_ = false;
  bool all_written_back_ =
      false;  ///< whether all tiles of a private matrix are home or on their way, as of the last write-back
  Uplo triangle_ = Uplo::Lower;                     ///< the used triangle, if `only_a_triangle_`
  starpu_data_interface_ops* interface_ = nullptr;  ///< StarPU's interface of the tiles of this process
  std::atomic<char> letter_ = 0;
  tile::Share share_;
};

/// Gives the routines access to private parts of a Matrix.
struct MatrixAccess {
  template <Scalar T>
  static TileGrid& grid(const Matrix<T>& A) {
    return *A.grid_;
  }
  /// The handle of a tile of a view.
  template <Scalar T>
  static starpu_data_handle_t handle(const Matrix<T>& A, Index i, Index j) {
    return A.op_ == Op::NoTrans ? A.grid_->handle(A.i0_ + i, A.j0_ + j) : A.grid_->handle(A.i0_ + j, A.j0_ + i);
  }
  /// The session of the tiles. It is the session of the process, but found without a look-up.
  /// @throws RuntimeError in a forked child
  template <Scalar T>
  static Session& session(const Matrix<T>& A) {
    runtime::require_not_forked("Tessera");
    return A.grid_->session();
  }
  /// The constructors of Matrix within a session.
  template <Scalar T>
  static Matrix<T> matrix(const std::shared_ptr<Session>& session, T* data, Index m, Index n, Index ld, TileSize tile,
                          tile::EdgeTiles at_the_edges = tile::EdgeTiles::Ragged) {
    return Matrix<T>(session, data, m, n, ld, tile, false, at_the_edges);
  }
  template <Scalar T>
  static Matrix<T> matrix(const std::shared_ptr<Session>& session, const T* data, Index m, Index n, Index ld,
                          TileSize tile, tile::EdgeTiles at_the_edges = tile::EdgeTiles::Ragged) {
    return Matrix<T>(session, data, m, n, ld, tile, true, at_the_edges);
  }
  /// A matrix on tiles that are already registered.
  template <Scalar T>
  static Matrix<T> matrix(std::shared_ptr<TileGrid> grid) {
    return Matrix<T>(std::move(grid));
  }
  /// Tile row of the registered matrix at which a view starts.
  template <Scalar T>
  static Index first_row(const Matrix<T>& A) {
    return A.i0_;
  }
  /// Tile column of the registered matrix at which a view starts.
  template <Scalar T>
  static Index first_column(const Matrix<T>& A) {
    return A.j0_;
  }
};

}  // namespace tessera::detail

namespace tessera::tile {

/// The columns of `x` that have bytes in a contiguous range. If it is a single column, only its part in the range.
detail::TileGrid::Memory part_in(const detail::TileGrid::Memory& x, const std::byte* first, const std::byte* end);

/// Whether two pieces of memory have a byte in common. Exact for any two strides. Takes constant time if the address
/// ranges are disjoint, otherwise time proportional to the number of columns.
bool overlap(const detail::TileGrid::Memory& a, const detail::TileGrid::Memory& b);

}  // namespace tessera::tile
