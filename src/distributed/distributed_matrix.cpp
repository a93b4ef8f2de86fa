// SPDX-License-Identifier: BSD-3-Clause
#include <starpu.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <tessera/distributed.hpp>
#include <tessera/error.hpp>
#include <tessera/pinned.hpp>

#include "blas/arguments.hpp"
#include "common/device_memory.hpp"
#include "descriptor.hpp"
#include "network.hpp"
#include "runtime/session.hpp"
#include "tile/tile_grid.hpp"

namespace tessera {

namespace {

using blas::arguments::Argument;
using blas::arguments::Problem;

/// The extent of a distributed matrix on this process.
struct Extent {
  Index m, n;
  TileSize tile;
};

void require_size(const char* name, int position, Index value, Index least) {
  if (value < least || value > blas::arguments::largest_int)
    blas::arguments::require_legal(
        "DistributedMatrix", value < least
                                 ? Argument{position, name, Problem::TooSmall, value, least}
                                 : Argument{position, name, Problem::TooLarge, value, blas::arguments::largest_int});
}

void require_extent(const Extent& extent, int position_of_tile) {
  require_size("m", 2, extent.m, 0);
  require_size("n", 3, extent.n, 0);
  require_size("tile.rows", position_of_tile, extent.tile.rows, 1);
  require_size("tile.columns", position_of_tile, extent.tile.columns, 1);
  constexpr Index most = std::numeric_limits<std::uint32_t>::max();  // StarPU multiplies in 32 bits
  const Index rows = std::min(extent.tile.rows, std::max<Index>(1, extent.m)),
              columns = std::min(extent.tile.columns, std::max<Index>(1, extent.n));
  if (columns > most / rows)
    blas::arguments::require_legal("DistributedMatrix",
                                   {position_of_tile, "tile.columns", Problem::TooLarge, columns, most / rows});
}

Index tiles_of(Index whole, Index tile) { return whole == 0 ? 0 : (whole - 1) / tile + 1; }

/// The number of elements of this process in one dimension, if it has `mine` tiles.
Index local_extent(Index whole, Index tile, Index before_last, Index mine) {
  if (mine == 0) return 0;
  const bool has_last = mine > before_last;
  return mine * tile - (has_last ? tiles_of(whole, tile) * tile - whole : 0);
}

Index local_rows(const tile::Share& share, const Extent& x) {
  const Index count = tiles_of(x.m, x.tile.rows);
  return count == 0 ? 0 : local_extent(x.m, x.tile.rows, share.rows_before(count - 1), share.rows_before(count));
}
Index local_columns(const tile::Share& share, const Extent& x) {
  const Index count = tiles_of(x.n, x.tile.columns);
  return count == 0 ? 0
                    : local_extent(x.n, x.tile.columns, share.columns_before(count - 1), share.columns_before(count));
}

tile::Share share_of(const Grid& grid, std::shared_ptr<tile::Processes> processes) {
  tile::Share share;
  share.processes = std::move(processes);
  share.p = grid.p(), share.q = grid.q();
  share.row = grid.row(), share.column = grid.column();
  share.ranks = detail::GridAccess::ranks(grid);
  return share;
}

/// The grid of processes as text for the agreement: "2x2 processes", followed by the ranks unless they are row by row.
std::string text_of(const tile::Share& share) {
  auto text = std::to_string(share.p) + "x" + std::to_string(share.q) + " processes";
  if (!share.ranks) return text;
  for (const char* before = " "; const int rank : *share.ranks)
    text += std::exchange(before, ",") + std::to_string(rank);
  return text;
}

/// Memory that the GPUs of the session can copy from directly.
/// @param what  the matrix, for messages: the same text in all processes, so that one of them can speak for all
std::shared_ptr<void> memory_for(const detail::Session& session, std::size_t bytes, const std::string& what) {
  if (bytes == 0) return {};
  if (session.machine().has_cuda()) {
    const auto pages = std::make_shared<detail::PinnedPages>(static_cast<Index>(bytes), 1);
    return {pages, pages->data()};
  }
  void* memory = nullptr;
  if (starpu_malloc_flags(&memory, bytes, STARPU_MALLOC_PINNED) != 0)
    throw RuntimeError("no memory for a distributed matrix of " + what);
  return {memory, [bytes](void* data) { starpu_free_flags(data, bytes, STARPU_MALLOC_PINNED); }};
}

template <Scalar T>
Matrix<T> make_tiles(detail::Network& network, T* data, const Extent& x, Index ld, tile::Share share) {
  network.agree(std::string("DistributedMatrix<") + type_letter<T> + ">(" + text_of(share) + ", " +
                std::to_string(x.m) + ", " + std::to_string(x.n) + ", tiles of " + std::to_string(x.tile.rows) + "x" +
                std::to_string(x.tile.columns) + ", from (" + std::to_string(share.first_row) + ", " +
                std::to_string(share.first_column) + "))");
  share.number = network.next_matrix();
  return detail::MatrixAccess::matrix<T>(std::make_shared<detail::TileGrid>(
      network.session(), data, x.m, x.n, ld, sizeof(T), x.tile, false, std::move(share)));
}

/// The global index of the i-th element of this process, in one dimension.
Index global_index(Index i, Index tile, int processes, int mine, int first) {
  const Index block = i / tile;
  return (block * processes + (mine - first + processes) % processes) * tile + i % tile;
}

template <Scalar T>
const tile::Share& share_of(const Matrix<T>& A) {
  return detail::MatrixAccess::grid(A).share();
}

template <Scalar T>
Extent extent_of(const Matrix<T>& A) {
  const auto& grid = detail::MatrixAccess::grid(A);
  return {grid.m(), grid.n(), {grid.mb(), grid.nb()}};
}

template <Scalar T>
Matrix<T> in_library_memory(const Grid& grid, const std::shared_ptr<detail::Network>& network, const Extent& x) {
  require_extent(x, 4);
  auto share = share_of(grid, network);
  const Index rows = local_rows(share, x), columns = local_columns(share, x);
  share.memory = memory_for(*network->session(), static_cast<std::size_t>(rows * columns) * sizeof(T),
                            std::to_string(x.m) + "x" + std::to_string(x.n) + " elements of " +
                                std::to_string(sizeof(T)) + " bytes over " + text_of(share));
  auto* const data = static_cast<T*>(share.memory.get());
  return make_tiles<T>(*network, data, x, std::max<Index>(1, rows), std::move(share));
}

using namespace distributed::field;

Extent extent_of(const int* desc) { return {desc[M], desc[N], {desc[Mb], desc[Nb]}}; }

/// The elements of this process in a matrix of ScaLAPACK.
tile::Share share_of(const Grid& grid, std::shared_ptr<tile::Processes> processes, const int* desc) {
  auto share = share_of(grid, std::move(processes));
  share.first_row = desc[FirstRow], share.first_column = desc[FirstColumn];
  return share;
}

template <Scalar T>
Matrix<T> in_scalapack_memory(const Grid& grid, const std::shared_ptr<detail::Network>& network, T* data,
                              const int* desc) {
  distributed::require_descriptor(grid, data, desc);
  return make_tiles<T>(*network, data, extent_of(desc), desc[Lld], share_of(grid, network, desc));
}

}  // namespace

void distributed::require_descriptor(const Grid& grid, const void* data, const int* desc) {
  const auto refuse = [](int position, const std::string& problem) {
    throw ArgumentError("DistributedMatrix", position, position == 2 ? "data" : "desc", problem);
  };
  if (desc[Type] != 1)
    refuse(3, "has DTYPE " + std::to_string(desc[Type]) + ": only 1, a dense block-cyclic matrix, is supported");
  if (desc[M] < 0 || desc[N] < 0) refuse(3, "has a negative M or N");
  if (desc[Mb] < 1 || desc[Nb] < 1) refuse(3, "has MB or NB below 1");
  if (desc[FirstRow] < 0 || desc[FirstRow] >= grid.p() || desc[FirstColumn] < 0 || desc[FirstColumn] >= grid.q())
    refuse(3, "has RSRC or CSRC outside the grid; -1, a copy in each process, is not supported");
  const auto x = extent_of(desc);
  require_extent(x, 3);
  const auto share = share_of(grid, nullptr, desc);
  const Index rows = local_rows(share, x), columns = local_columns(share, x);
  if (desc[Lld] < std::max<Index>(1, rows))
    refuse(3, "has LLD " + std::to_string(desc[Lld]) + ", must be at least " +
                  std::to_string(std::max<Index>(1, rows)) + " in process " + std::to_string(grid.rank()));
  if (rows == 0 || columns == 0) return;
  if (data == nullptr) refuse(2, "is null, and the process has elements");
  if (common::device_memory::may_exist() && common::device_memory::gpu_of(data))
    refuse(2, common::device_memory::problem());
}

template <Scalar T>
DistributedMatrix<T>::DistributedMatrix(const Grid& grid, Index m, Index n, TileSize tile)
    : grid_(grid), tiles_(in_library_memory<T>(grid, grid.network_, {m, n, tile})) {}

template <Scalar T>
DistributedMatrix<T>::DistributedMatrix(const Grid& grid, T* data, const int* desc)
    : grid_(grid), tiles_(in_scalapack_memory<T>(grid, grid.network_, data, desc)) {}

template <Scalar T>
void DistributedMatrix<T>::wait() const {
  tiles_.wait();
  // GPUs that still have a copy of a tile would not see what the host writes.
  for (Index j = 0; j < nt(); j++)
    for (Index i = 0; i < mt(); i++)
      if (is_mine(i, j)) {
        starpu_data_acquire_on_node(handle(i, j), STARPU_MAIN_RAM, STARPU_RW);
        starpu_data_release_on_node(handle(i, j), STARPU_MAIN_RAM);
      }
}

template <Scalar T>
int DistributedMatrix<T>::owner(Index i, Index j) const {
  return grid_.network_->owner(tiles_.handle(i, j));
}
template <Scalar T>
T* DistributedMatrix<T>::local() const noexcept {
  return static_cast<T*>(detail::MatrixAccess::grid(tiles_).data());
}
template <Scalar T>
Index DistributedMatrix<T>::local_m() const noexcept {
  return local_rows(share_of(tiles_), extent_of(tiles_));
}
template <Scalar T>
Index DistributedMatrix<T>::local_n() const noexcept {
  return local_columns(share_of(tiles_), extent_of(tiles_));
}
template <Scalar T>
Index DistributedMatrix<T>::ld() const noexcept {
  return detail::MatrixAccess::grid(tiles_).ld();
}
template <Scalar T>
Index DistributedMatrix<T>::global_row(Index i) const noexcept {
  const auto& share = share_of(tiles_);
  return global_index(i, extent_of(tiles_).tile.rows, share.p, share.row, share.first_row);
}
template <Scalar T>
Index DistributedMatrix<T>::global_column(Index j) const noexcept {
  const auto& share = share_of(tiles_);
  return global_index(j, extent_of(tiles_).tile.columns, share.q, share.column, share.first_column);
}

template class DistributedMatrix<float>;
template class DistributedMatrix<double>;
template class DistributedMatrix<std::complex<float>>;
template class DistributedMatrix<std::complex<double>>;

}  // namespace tessera
