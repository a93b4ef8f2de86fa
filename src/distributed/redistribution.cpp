// SPDX-License-Identifier: BSD-3-Clause
#include "redistribution.hpp"

#include <starpu.h>  // STARPU_SIMGRID

#include <algorithm>
#include <memory>
#include <utility>

#include <tessera/error.hpp>

#include "blas/shapes.hpp"
#include "common/columns.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::distributed {

#ifndef STARPU_SIMGRID  // simulated matrices have no elements

namespace {

using Places = std::vector<Index>;

/// For each process of the distribution `other`: the elements that it shares with process `mine` of `dealing`, by their
/// places in the array of `mine`.
std::vector<Places> common_places(const Dealing& dealing, int mine, const Dealing& other, Index count) {
  std::vector<Places> common(static_cast<std::size_t>(other.processes));
  for (Index i = 0; i < count; i++)
    if (dealing.process(i) == mine) common[static_cast<std::size_t>(other.process(i))].push_back(dealing.place(i));
  return common;
}

/// The position of a process in a grid.
template <Scalar T>
std::pair<int, int> position(const DealtMatrix<T>& A, int rank) {
  for (int row = 0; row < A.rows.processes; row++)
    for (int column = 0; column < A.columns.processes; column++)
      if (A.rank(row, column) == rank) return {row, column};
  throw RuntimeError("a process is not in the grid of a matrix");
}

/// The elements that this process shares with each process of another grid.
template <Scalar T>
class Common {
 public:
  Common(const DealtMatrix<T>& mine, const DealtMatrix<T>& other, int rank, Index m, Index n)
      : data_(mine.data), ld_(mine.ld) {
    const auto [row, column] = position(mine, rank);
    rows_ = common_places(mine.rows, row, other.rows, m);
    columns_ = common_places(mine.columns, column, other.columns, n);
  }

  /// What this process shares with the process at a position of the other grid.
  struct Block {
    T* data;
    Index ld;
    const Places *rows, *columns;

    Index height() const { return std::ssize(*rows); }
    Index width() const { return height() == 0 ? 0 : std::ssize(*columns); }
    T* column(Index j) const { return data + (*columns)[static_cast<std::size_t>(j)] * ld; }
    Index row(Index i) const { return (*rows)[static_cast<std::size_t>(i)]; }
    /// Calls copy(element, packed element) for columns [begin, end), which are packed one after another.
    template <typename Copy>
    void for_each(Index begin, Index end, T* packed, Copy copy) const {
      const Index height = this->height();
      on_cores(begin, end, [=, this](Index j) {
        T* const from = column(j);
        T* const to = packed + (j - begin) * height;
        for (Index i = 0; i < height; i++) copy(from[row(i)], to[i]);
      });
    }
    /// Copies the elements to a block of the other distribution.
    void copy_to(const Block& other) const {
      on_cores(0, width(), [=, this, &other](Index j) {
        const T* const from = column(j);
        T* const to = other.column(j);
        for (Index i = 0; i < height(); i++) to[other.row(i)] = from[row(i)];
      });
    }

   private:
    /// Calls visit(j) for columns [begin, end), on several cores if they are large.
    template <typename Visit>
    void on_cores(Index begin, Index end, Visit visit) const {
      const double bytes = static_cast<double>(height()) * static_cast<double>(end - begin) * sizeof(T);
      common::for_columns(end - begin, bytes, [=](Index first, Index last) {
        for (Index j = first; j < last; j++) visit(begin + j);
      });
    }
  };
  Block with(std::pair<int, int> other) const {
    return {data_, ld_, &rows_[static_cast<std::size_t>(other.first)],
            &columns_[static_cast<std::size_t>(other.second)]};
  }

 private:
  T* data_;
  Index ld_;
  std::vector<Places> rows_, columns_;
};

}  // namespace

#endif

template <Scalar T>
DealtMatrix<T> dealt(const DistributedMatrix<T>& A) {
  const auto& grid = detail::MatrixAccess::grid(A.tiles());
  const auto& share = grid.share();
  const auto dealing = [](Index tile, int processes, int first, Index first_tile) {
    return Dealing{tile, processes, first, first_tile * tile};
  };
  return {dealing(grid.mb(), share.p, share.first_row, detail::MatrixAccess::first_row(A.tiles())),
          dealing(grid.nb(), share.q, share.first_column, detail::MatrixAccess::first_column(A.tiles())), share.ranks,
          A.local(), A.ld()};
}

template <Scalar T>
void redistribute([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] Index m, [[maybe_unused]] Index n,
                  [[maybe_unused]] const DealtMatrix<T>& from, [[maybe_unused]] const DealtMatrix<T>& to) {
#ifdef STARPU_SIMGRID
  throw RuntimeError("matrices that change their distribution are not simulated: use a grid with one row");
#else
  constexpr Index bytes_of_message = Index{1} << 26;
  constexpr int tag = 1;
  int me = 0, size = 1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  const Common<T> mine(from, to, me, m, n), my_result(to, from, me, m, n);
  mine.with(position(to, me)).copy_to(my_result.with(position(from, me)));
  std::unique_ptr<T[]> outgoing, incoming;
  const auto make_room = [](std::unique_ptr<T[]>& buffer, Index elements) {
    buffer.reset();  // frees the old buffer before the new one takes memory
    buffer = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(elements));
  };
  MPI_Datatype element = MPI_DATATYPE_NULL;  // MPI counts in int, which a column of more than 2 GiB exceeds in bytes
  MPI_Type_contiguous(sizeof(T), MPI_BYTE, &element);
  MPI_Type_commit(&element);
  for (int step = 1; step < size; step++) {  // in each step, a process sends to one other and receives from one
    const int receiver = (me + step) % size, sender = (me - step + size) % size;
    const auto sent = mine.with(position(to, receiver)), received = my_result.with(position(from, sender));
    const auto columns_at_once = [](const auto& block) {
      return std::clamp<Index>(bytes_of_message / std::max<Index>(1, block.height() * Index{sizeof(T)}), 1,
                               std::max<Index>(1, block.width()));
    };
    const Index of_sent = columns_at_once(sent), of_received = columns_at_once(received);
    make_room(outgoing, of_sent * sent.height());
    make_room(incoming, of_received * received.height());
    for (Index k = 0; k * of_sent < sent.width() || k * of_received < received.width(); k++) {
      const auto range = [k](const auto& block, Index columns) {
        return std::pair{std::min(k * columns, block.width()), std::min((k + 1) * columns, block.width())};
      };
      const auto [s0, s1] = range(sent, of_sent);
      const auto [r0, r1] = range(received, of_received);
      const auto elements = [](Index columns, Index height) { return static_cast<int>(columns * height); };
      sent.for_each(s0, s1, outgoing.get(), [](const T& x, T& packed) { packed = x; });
      MPI_Sendrecv(outgoing.get(), elements(s1 - s0, sent.height()), element, s0 < s1 ? receiver : MPI_PROC_NULL, tag,
                   incoming.get(), elements(r1 - r0, received.height()), element, r0 < r1 ? sender : MPI_PROC_NULL, tag,
                   comm, MPI_STATUS_IGNORE);
      received.for_each(r0, r1, incoming.get(), [](T& x, const T& packed) { x = packed; });
    }
  }
  MPI_Type_free(&element);
#endif
}

#define INSTANTIATE_REDISTRIBUTION(letter, T, ...)               \
  template DealtMatrix<T> dealt<T>(const DistributedMatrix<T>&); \
  template void redistribute<T>(MPI_Comm, Index, Index, const DealtMatrix<T>&, const DealtMatrix<T>&);
FOR_SDCZ(INSTANTIATE_REDISTRIBUTION, )

}  // namespace tessera::distributed
