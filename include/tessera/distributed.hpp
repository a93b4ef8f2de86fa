// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifndef OMPI_SKIP_MPICXX
/// Leaves out Open MPI's old C++ bindings, which would have to be linked.
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
/// Leaves out MPICH's old C++ bindings.
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <tessera/lapack.hpp>
#include <tessera/matrix.hpp>
#include <tessera/runtime.hpp>

/// @file
/// Matrices distributed over many processes, with the same tiles and routines. Uses StarPU-MPI. Link `tessera::mpi`.
///
/// All processes of a grid make the same calls on distributed matrices in the same order, each with its own part of the
/// data. If a process exits or finalizes MPI while it has a grid, or makes another call than process 0, all processes
/// end with a message on standard error. They also end if an exception destroys matrices in only some of the processes,
/// as soon as it has been caught.

namespace tessera {

namespace detail {
class Network;
struct GridAccess;
}  // namespace detail

/// How `gemm` limits the copies of inputs in other processes. C is computed in blocks, and each block in chunks of the
/// sum. By default, inputs are sent as soon as they are ready, and the copies stay until the end of the call. They can
/// also be held back, as in Hérault et al. (2019): the inputs of chunk i are sent when all processes have computed
/// chunk i - `look_ahead` - 1, so a process never holds copies for more than `look_ahead` + 1 chunks. Sizes are in
/// tiles; 0: chosen from the memory of GPUs and processes.
///
/// `holds_back` also applies to solves (`trsm`, `potrs`, `getrs`, `getrs_nopiv` and `gesv`). Processes then hold copies
/// of other processes' tiles for a few steps.
struct ProductControl {
  /// Whether inputs are held back. Empty: if the processes lack memory for copies of all inputs, for `gemm` also if
  /// `chunk` or `look_ahead` is set, and for `getrs` and `gesv` also if copies take more memory than the process's
  /// parts of A and B
  std::optional<bool> holds_back = {};
  Index block_rows = 0;         ///< rows of tiles of a block of C that each process has
  Index block_columns = 0;      ///< columns of tiles of such a block
  Index chunk = 0;              ///< terms of a chunk
  Index look_ahead = 0;         ///< chunks
  bool gpus_by_columns = true;  ///< whether a GPU computes whole columns of tiles; false: GPUs form a grid
};

/// Processes in p rows and q columns. The process at (row, column) has rank row · q + column in the communicator that
/// the constructor gets.
///
/// The first Grid initializes MPI with MPI_THREAD_MULTIPLE if the program has not, and starts Tessera if there is no
/// Runtime. The processes of a node divide its GPUs and, if they may run on the same cores, its cores. Only one group
/// of processes can have grids at a time; its grids may have any shapes and orders. Copies are handles on the same
/// grid. Destroying the last handle or matrix of a grid waits for all processes.
class Grid {
 public:
  /// Collective over `comm`.
  /// @param options  how to start Tessera if it is not running; `cpus` and `gpus` are those of this process
  /// @throws ArgumentError if p or q is not positive, or comm does not have p q processes, or is an intercommunicator
  /// @throws RuntimeError  if MPI was initialized without MPI_THREAD_MULTIPLE, another group of processes has grids,
  ///                       only some of the processes have GPUs, or Tessera cannot start in one of the processes
  Grid(int p, int q, MPI_Comm comm = MPI_COMM_WORLD, const RuntimeOptions& options = {});

  int p() const noexcept { return p_; }                ///< rows
  int q() const noexcept { return q_; }                ///< columns
  int rank() const noexcept;                           ///< rank of this process in `comm()`
  int row() const noexcept { return place_ / q_; }     ///< row of this process
  int column() const noexcept { return place_ % q_; }  ///< column of this process
  /// The communicator of StarPU-MPI: the processes of the grid, in the order of the first Grid that exists. Pass it to
  /// `starpu_mpi_task_insert(grid.comm(), …)` for the program's own tasks on distributed matrices.
  MPI_Comm comm() const noexcept;

  /// Waits until all tasks that all processes have submitted have run, and their messages have arrived. Collective.
  /// @throws RuntimeError as `tessera::wait`
  void wait() const;

  /// Sets how `gemm` and solves limit the inputs that are sent early, on all grids, from now on. Collective.
  /// @throws ArgumentError if a size is negative
  void control(const ProductControl& control) const;
  ProductControl control() const;  ///< the setting in use

  /// Bytes of tiles that routines have sent from this process to each other process since the first Grid. They count
  /// once MPI has sent them, or the other process has read them.
  std::vector<std::uint64_t> bytes_sent() const;

 private:
  template <Scalar T>
  friend class DistributedMatrix;
  friend struct detail::GridAccess;
  std::shared_ptr<detail::Network> network_;
  std::shared_ptr<const std::vector<int>> ranks_;  ///< ranks in `comm()`, row by row; null if they are 0, 1, 2, …
  int p_, q_, place_ = 0;
};

/// A column-major matrix whose tiles are distributed block-cyclically over the processes of a grid: tile (i, j) belongs
/// to the process in row i mod p and column j mod q. Each process stores its tiles without gaps as one column-major
/// array, as ScaLAPACK does.
///
/// Like a Matrix, it is a handle, and views share the tiles. Every process has a StarPU handle for each tile.
/// Constructors and routines are collective; `wait`, views and the destructor are not.
template <Scalar T>
class DistributedMatrix {
 public:
  /// An m×n matrix in memory of the library, contents undefined.
  /// @param tile  a full tile; the last row and column of tiles may be smaller
  /// @throws ArgumentError if m or n is negative, or a tile dimension is not positive or too large (see Matrix)
  DistributedMatrix(const Grid& grid, Index m, Index n, TileSize tile);

  /// A ScaLAPACK matrix: the array of this process and its descriptor. One block of ScaLAPACK is one tile.
  /// @param desc  DTYPE = 1, CTXT (not read), M, N, MB, NB, RSRC, CSRC, LLD. The context's grid has the same shape as
  ///              `grid`, and the same processes row by row
  /// @throws ArgumentError if DTYPE is not 1, a size or RSRC or CSRC is illegal, LLD < max(1, rows of this process), or
  ///                       data is null and this process has elements
  DistributedMatrix(const Grid& grid, T* data, const int* desc);

  Index m() const noexcept { return tiles_.m(); }    ///< rows, as seen through `op()`
  Index n() const noexcept { return tiles_.n(); }    ///< columns
  Index mt() const noexcept { return tiles_.mt(); }  ///< rows of tiles
  Index nt() const noexcept { return tiles_.nt(); }  ///< columns of tiles
  Index mb() const noexcept { return tiles_.mb(); }  ///< rows of a full tile
  Index nb() const noexcept { return tiles_.nb(); }  ///< columns of a full tile
  Op op() const noexcept { return tiles_.op(); }     ///< how the view shows the stored matrix

  /// The rank of the process that has tile (i, j), in the grid's `comm()`.
  int owner(Index i, Index j) const;
  bool is_mine(Index i, Index j) const { return owner(i, j) == grid_.rank(); }  ///< whether this process has it
  /// The handle of tile (i, j), see Matrix::handle. In processes that do not own the tile, it has no memory at first.
  starpu_data_handle_t handle(Index i, Index j) const { return tiles_.handle(i, j); }

  T* local() const noexcept;       ///< this process's array of the whole matrix, even if this is a view
  Index local_m() const noexcept;  ///< rows of this process's array
  Index local_n() const noexcept;  ///< columns of this process's array
  Index ld() const noexcept;       ///< leading dimension of this process's array
  /// The row of the whole matrix that is local row i.
  Index global_row(Index i) const noexcept;
  /// The column of the whole matrix that is local column j.
  Index global_column(Index j) const noexcept;

  /// Tiles [i0, i1) × [j0, j1), see Matrix::view.
  DistributedMatrix view(Index i0, Index i1, Index j0, Index j1) const { return {grid_, tiles_.view(i0, i1, j0, j1)}; }
  DistributedMatrix transposed() const { return {grid_, tiles_.transposed()}; }  ///< Aᵀ, see Matrix::transposed
  /// Aᴴ, see Matrix::conjugate_transposed.
  DistributedMatrix conjugate_transposed() const { return {grid_, tiles_.conjugate_transposed()}; }

  /// Waits for the tasks submitted so far on this process's tiles, and copies the tiles to its array. The host may then
  /// read and write them until the next call on the matrix.
  /// @throws RuntimeError as Matrix::wait
  void wait() const;

  const Grid& grid() const noexcept { return grid_; }         ///< the processes of the matrix
  const Matrix<T>& tiles() const noexcept { return tiles_; }  ///< the tiles, on which the routines work

 private:
  DistributedMatrix(const Grid& grid, Matrix<T> tiles) : grid_(grid), tiles_(std::move(tiles)) {}

  Grid grid_;
  Matrix<T> tiles_;
};

extern template class DistributedMatrix<float>;
extern template class DistributedMatrix<double>;
extern template class DistributedMatrix<std::complex<float>>;
extern template class DistributedMatrix<std::complex<double>>;

/// @{
/// The routines of <tessera/blas3.hpp>, with the same rules. All processes call them; they submit tasks and return.
/// All matrices of a call are on grids of the same shape over the same processes.
template <Scalar T>
void gemm(Op op_a, Op op_b, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
          std::type_identity_t<T> beta, const DistributedMatrix<T>& C);
template <Scalar T>
void gemmt(Uplo uplo, Op op_a, Op op_b, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
           const DistributedMatrix<T>& B, std::type_identity_t<T> beta, const DistributedMatrix<T>& C);
template <Scalar T>
void symm(Side side, Uplo uplo, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
          const DistributedMatrix<T>& B, std::type_identity_t<T> beta, const DistributedMatrix<T>& C);
template <ComplexScalar T>
void hemm(Side side, Uplo uplo, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
          const DistributedMatrix<T>& B, std::type_identity_t<T> beta, const DistributedMatrix<T>& C);
template <Scalar T>
void syrk(Uplo uplo, Op op, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A, std::type_identity_t<T> beta,
          const DistributedMatrix<T>& C);
template <ComplexScalar T>
void herk(Uplo uplo, Op op, Real<T> alpha, const DistributedMatrix<T>& A, Real<T> beta, const DistributedMatrix<T>& C);
template <Scalar T>
void syr2k(Uplo uplo, Op op, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
           const DistributedMatrix<T>& B, std::type_identity_t<T> beta, const DistributedMatrix<T>& C);
template <ComplexScalar T>
void her2k(Uplo uplo, Op op, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
           const DistributedMatrix<T>& B, Real<T> beta, const DistributedMatrix<T>& C);
template <Scalar T>
void trmm(Side side, Uplo uplo, Op op_a, Diag diag, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
          const DistributedMatrix<T>& B);
template <Scalar T>
void trsm(Side side, Uplo uplo, Op op_a, Diag diag, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A,
          const DistributedMatrix<T>& B);
/// @}

/// @{
/// The routines of <tessera/lapack.hpp>, with the same rules. All processes call the routines and `Info::wait`.
template <Scalar T>
Info potrf(Uplo uplo, const DistributedMatrix<T>& A);
template <Scalar T>
void potrs(Uplo uplo, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
template <Scalar T>
Info getrf_nopiv(const DistributedMatrix<T>& A);
template <Scalar T>
void getrs_nopiv(Op op, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
/// @}

/// @{
/// LU with partial pivoting. It works in place if each process has whole panels: A is on a grid with one row, or has
/// one row of tiles, and is cut as <tessera/lapack.hpp> says. Otherwise `getrf` waits for A, copies it to panels that
/// are distributed over all processes, waits for the factors and copies them back. `getrs` does the same with B, and
/// then needs square tiles of A. All processes get all pivots; `Pivots::wait` is not collective.
template <Scalar T>
Pivoted getrf(const DistributedMatrix<T>& A);
template <Scalar T>
void getrs(Op op, const DistributedMatrix<T>& A, const Pivots& pivots, const DistributedMatrix<T>& B);
template <Scalar T>
Pivoted gesv(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
/// @}

}  // namespace tessera
