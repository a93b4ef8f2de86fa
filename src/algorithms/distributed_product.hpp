// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <tessera/sched.h>
#include <tessera/matrix.hpp>

#include "common/not_copyable.hpp"
#include "product_order.hpp"
#include "products.hpp"
#include "sinks/chunk_barrier.hpp"
#include "sinks/submit.hpp"
#include "tile/dealt_columns.hpp"
#include "tile/ops.hpp"
#include "tile/owners.hpp"
#include "tile/process_blocks.hpp"

/// A product distributed over many processes, in blocks of C and chunks of the sum, after Hérault et al. Each process
/// submits its own tasks, and handles only tiles of A and B that it owns or needs.
namespace tessera::algorithms {

/// Tiles [begin, end).
struct TileRange {
  Index begin, end;
};

/// The ranks that own tiles of C in given rows and columns of tiles.
class BlockOwners {
 public:
  BlockOwners(const tile::Stored& C, TileRange rows, TileRange columns)
      : share_(C.grid().share()), i0_(C.first_row()), j0_(C.first_column()), rows_(rows), columns_(columns) {}

  bool in_my_row(Index i) const { return share_.row_of(i0_ + i) == share_.row; }
  bool in_my_column(Index j) const { return share_.column_of(j0_ + j) == share_.column; }
  std::vector<Index> my_rows() const {
    return selected(rows_, [this](Index i) { return in_my_row(i); });
  }
  std::vector<Index> my_columns() const {
    return selected(columns_, [this](Index j) { return in_my_column(j); });
  }
  /// Calls visit(rank) for each process with tiles in row i.
  template <typename Visit>
  void for_each_of_row(Index i, Visit visit) const {
    for (Index j = columns_.begin; j < std::min(columns_.end, columns_.begin + share_.q); j++)
      visit(share_.owner(i0_ + i, j0_ + j));
  }
  template <typename Visit>
  void for_each_of_column(Index j, Visit visit) const {
    for (Index i = rows_.begin; i < std::min(rows_.end, rows_.begin + share_.p); i++)
      visit(share_.owner(i0_ + i, j0_ + j));
  }

 private:
  template <typename Wanted>
  static std::vector<Index> selected(TileRange range, Wanted wanted) {
    std::vector<Index> all;
    for (Index x = range.begin; x < range.end; x++)
      if (wanted(x)) all.push_back(x);
    return all;
  }

  const tile::Share& share_;
  Index i0_, j0_;
  TileRange rows_, columns_;
};

/// The tiles of A and B that this process owns or needs for a chunk.
class ChunkInputs {
 public:
  explicit ChunkInputs(sinks::Exchange& exchange) : exchange_(exchange) {}

  /// Adds a tile that term k uses.
  /// @param is_read        whether this process reads it
  /// @param for_each_user  (visit): calls visit(rank) for each process that reads it
  template <typename ForEachUser>
  void add(starpu_data_handle_t tile, Index k, bool is_read, ForEachUser for_each_user) {
    const auto& processes = exchange_.processes();
    const int owner = processes.owner(tile), me = processes.rank();
    if (owner != me && !is_read) return;
    tiles_.push_back({tile, k, owner, {}});
    if (owner != me) return;
    for_each_user([&](int user) {
      if (user != me) tiles_.back().to.push_back(user);
    });
  }

  /// The first term for which this process owns a tile, or 0.
  Index first_own() const {
    const auto own = std::ranges::find(tiles_, exchange_.processes().rank(), &Tile::owner);
    return own == tiles_.end() ? 0 : own->k;
  }
  std::vector<tile::Access> accesses() const {
    std::vector<tile::Access> all;
    for (const auto& tile : tiles_)
      all.push_back({tile.handle, tile.owner == exchange_.processes().rank() ? STARPU_RW : STARPU_W});
    return all;
  }
  /// Sends and receives the tiles, earlier terms first.
  void travel(int priority) {
    const int me = exchange_.processes().rank();
    std::ranges::stable_sort(tiles_, {}, &Tile::k);
    for (const auto& tile : tiles_) {
      const int its = priority - static_cast<int>(tile.k);
      if (tile.owner != me) exchange_.receive(tile.handle, its);
      for (const int to : tile.to) exchange_.send(tile.handle, to, its);
    }
  }
  void forget() {
    for (const auto& tile : tiles_) exchange_.forget(tile.handle);
  }

 private:
  struct Tile {
    starpu_data_handle_t handle;
    Index k;
    int owner;
    std::vector<int> to;
  };
  sinks::Exchange& exchange_;
  std::vector<Tile> tiles_;
};

/// A tile of C, and the GPU of this process that computes it, or -1.
struct OwnedTile {
  Index i, j;
  int owner;
};

/// The tiles of a block that a process owns, from the last column to the first. If the grid of GPUs has one row, the
/// block's columns are dealt to the GPUs. The columns left over then come first, which reduces the GPUs' loads.
inline std::vector<OwnedTile> dealt_tiles(const std::vector<Index>& rows, const std::vector<Index>& columns,
                                          tile::OwnerGrid gpus, const Owners& owners) {
  const tile::DealtColumns dealt(gpus.q, std::ssize(rows), std::ssize(columns));
  std::vector<OwnedTile> tiles;
  for (Index y = std::ssize(columns); y-- > 0;)
    for (Index x = 0; x < std::ssize(rows); x++) {
      const Index i = rows[static_cast<std::size_t>(x)], j = columns[static_cast<std::size_t>(y)];
      tiles.push_back({i, j, owners.exist() && gpus.p == 1 ? dealt.of(x, y) : owners.of(i, j)});
    }
  return tiles;
}

/// Cuts the tiles of whole columns into groups of `width` columns, in which each GPU has one. The columns left over
/// form the first group.
inline std::vector<std::span<const OwnedTile>> groups_of_columns(std::span<const OwnedTile> tiles, Index rows,
                                                                 Index width) {
  std::vector<std::span<const OwnedTile>> groups;
  while (!tiles.empty()) {
    const Index left_over = std::ssize(tiles) / rows % width;
    const auto count = static_cast<std::size_t>((left_over > 0 ? left_over : width) * rows);
    groups.push_back(tiles.first(count));
    tiles = tiles.subspan(count);
  }
  return groups;
}

/// Marks the tiles of a block of C as planned while its tasks are submitted. The policy then lets the block fill more
/// of a GPU's memory than other incomplete results may.
class PlannedBlock : common::NotCopyable {
 public:
  PlannedBlock(const detail::Session& session, const tile::Stored& C, const std::vector<OwnedTile>& tiles) {
    if (session.machine().placement != Placement::Home)
      return;  // another policy may use the field of the hint for
               // itself
    for (const auto& tile : tiles) handles_.push_back(C.handle(tile.i, tile.j));
    set_planned(1);
  }
  ~PlannedBlock() { set_planned(0); }

 private:
  void set_planned(int planned) const {
    for (auto* tile : handles_) tessera_sched_plan_result(tile, planned);
  }
  std::vector<starpu_data_handle_t> handles_;
};

/// C ← α A B + β C for distributed matrices.
/// @param gpus        the grid of GPUs of a process; with one row, each GPU computes whole columns where there are
///                    enough
/// @param product     its terms
/// @param terms       number of terms of each sum
/// @pre  if inputs are held back, and thus released chunk by chunk, A and B share no tiles
inline void accumulate_in_chunks(const detail::Session& session, const tile::ProcessBlocks& blocks,
                                 tile::OwnerGrid gpus, const Product& product, Index terms, const tile::Stored& C,
                                 common::Number beta) {
  if (beta == 0) beta = 0;  // −0 becomes +0: cuBLAS treats −0 as a nonzero factor and reads C
  const auto& share = C.grid().share();
  const auto owners = tile::owners(session, gpus, C, Part::All);
  const Index rows = blocks.rows * share.p, columns = blocks.columns * share.q;
  const auto part = [](Index begin, Index length, Index all) {
    return TileRange{begin, std::min(begin + length, all)};
  };
  sinks::Submitter submitter(session, C);
  tile::Ops<sinks::Submitter> to(session.machine(), submitter, C.type());
  sinks::ChunkBarrier barrier(submitter, blocks.ahead, blocks.holds_back ? blocks.count() : 0);
  for (Index j0 = 0; j0 < C.nt(); j0 += columns)
    for (Index i0 = 0; i0 < C.mt(); i0 += rows) {
      const BlockOwners block(C, part(i0, rows, C.mt()), part(j0, columns, C.nt()));
      const auto my_rows = block.my_rows(), my_columns = block.my_columns();
      const auto my_tiles = dealt_tiles(my_rows, my_columns, gpus, owners);
      const PlannedBlock planned(session, C, my_tiles);
      // If a chunk is the whole sum, GPUs complete some columns before they begin the next ones. C then travels in both
      // directions all the time, instead of arriving during the first term and leaving during the last one.
      const bool by_columns = session.machine().gpu_count() > 0 && blocks.chunk >= terms;
      const auto groups = groups_of_columns(my_tiles, std::ssize(my_rows),
                                            by_columns ? gpus.q : std::max<Index>(1, std::ssize(my_columns)));
      for (Index k0 = 0; k0 < terms; k0 += blocks.chunk) {
        const auto chunk = part(k0, blocks.chunk, terms);
        ChunkInputs a(submitter.exchange()), b(submitter.exchange());
        for (Index k = chunk.begin; k < chunk.end; k++) {
          for (Index i = i0; i < std::min(i0 + rows, C.mt()); i++)
            a.add(product.A(i, k).handle, k - k0, block.in_my_row(i) && !my_columns.empty(),
                  [&](auto visit) { block.for_each_of_row(i, visit); });
          for (Index j = j0; j < std::min(j0 + columns, C.nt()); j++)
            b.add(product.B(k, j).handle, k - k0, block.in_my_column(j) && !my_rows.empty(),
                  [&](auto visit) { block.for_each_of_column(j, visit); });
        }
        const bool a_comes = j0 == 0 || blocks.a_returns(), b_comes = i0 == 0 || blocks.b_returns();
        std::vector<tile::Access> new_inputs;
        for (const auto& [inputs, come] : {std::pair{&a, a_comes}, {&b, b_comes}})
          if (come) std::ranges::copy(inputs->accesses(), std::back_inserter(new_inputs));
        barrier.begin(std::move(new_inputs));
        a.travel(submitter.priority());
        b.travel(submitter.priority());
        // Terms are added in the order in which their tiles arrive. At the start nothing has arrived, so each process
        // begins with a term that is sent first and whose tiles of B it owns.
        const Index sent_first = i0 == 0 && j0 == 0 && k0 == 0 ? std::min<Index>(share.p, chunk.end) : 0,
                    turn = b.first_own();
        for (const auto& group : groups)
          for (Index s = 0; s < chunk.end - chunk.begin; s++)
            for (const auto& [i, j, owner] : group) {
              const Index k = k0 + (s < sent_first ? (s + turn) % sent_first : s);
              const bool first = k0 == 0 && s == 0;
              product(to, Step{i, j, k, k0 + s, false}, first ? beta : common::Number(1),
                      tile::tile_of(C, i, j, owner));
            }
        barrier.end();
        if (blocks.holds_back && (blocks.a_returns() || j0 + columns >= C.nt())) a.forget();
        if (blocks.holds_back && (blocks.b_returns() || i0 + rows >= C.mt())) b.forget();
      }
    }
}

}  // namespace tessera::algorithms
