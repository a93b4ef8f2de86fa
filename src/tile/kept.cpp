// SPDX-License-Identifier: BSD-3-Clause
#include "kept.hpp"

#include <starpu.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/keep.hpp>

#include "blas/arguments.hpp"
#include "blas/shapes.hpp"
#include "common/device_memory.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera::detail::kept {

namespace {

/// Each tile takes some kilobytes of host memory. Beyond this number, the parts that have not been used for longest are
/// no longer kept.
constexpr Index most_tiles = 8192;

/// A part of a kept matrix, registered in tiles.
struct Part {
  std::shared_ptr<TileGrid> grid;
  std::optional<Uplo> triangle;

  Index tiles() const { return grid->mt() * grid->nt(); }
  TileGrid::Memory memory() const { return grid->memory(0, grid->mt(), 0, grid->nt()); }
  /// Whether only the store refers to the tiles. @pre  the lock is held, so nobody can begin to
  bool is_idle() const {
    if (grid.use_count() > 1) return false;
    std::atomic_thread_fence(std::memory_order_acquire);  // after what other threads have done with the tiles
    return true;
  }
};

/// A matrix that the program keeps.
struct Kept {
  const std::byte* data;
  Index m, n, ld;
  std::size_t element_size;

  TileGrid::Memory memory() const {
    const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements) * element_size; };
    return {data, bytes(m), bytes(ld), n};
  }
  bool operator==(const Kept&) const = default;
  /// Whether an operand is a part of the matrix.
  bool contains(const Operand& x) const {
    const auto* const begin = static_cast<const std::byte*>(x.data);
    if (x.element_size != element_size || std::less<>()(begin, data)) return false;
    const auto bytes = static_cast<std::size_t>(begin - data);
    const auto first = static_cast<Index>(bytes / element_size), i = first % ld, j = first / ld;
    const bool same_columns = x.ld == ld || x.columns.whole() == 1;
    return bytes % element_size == 0 && same_columns && i + x.rows.whole() <= m && j + x.columns.whole() <= n;
  }
};

/// All that is kept. Never destroyed: other threads may use it while the process exits.
struct Store {
  std::mutex mutex;
  std::vector<Kept> matrices;
  std::list<Part> parts;             ///< those used last come first
  const Session* session = nullptr;  ///< which will call `end`
};
Store& store() {
  static auto& only = *new Store;
  return only;
}

/// Parts that are no longer kept. They end after the lock has been released, since they wait for StarPU.
using Removed = std::list<Part>;

/// Removes the parts for which `ends` is true.
template <typename Ends>
void remove(Store& all, Removed& removed, Ends ends) {
  for (auto part = all.parts.begin(); part != all.parts.end();) {
    const auto next = std::next(part);
    if (ends(*part)) removed.splice(removed.end(), all.parts, part);
    part = next;
  }
}

void remove_oldest(Store& all, Removed& removed) {
  Index tiles = 0;
  remove(all, removed, [&](const Part& part) {
    tiles += part.tiles();
    return tiles > most_tiles && part.is_idle();
  });
}

/// The session is about to end, and StarPU with it.
void end() {
  Removed removed;
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  all.session = nullptr;
  removed.swap(all.parts);
}

/// Registers tiles anew that have a byte in common with `memory`, of all parts but one.
/// @param except  may be null
void renew(Store& all, Removed& removed, const TileGrid::Memory& memory, const TileGrid* except) {
  remove(all, removed, [&](const Part& part) {
    auto& grid = *part.grid;
    if (&grid == except || !overlap(part.memory(), memory)) return false;
    std::vector<std::pair<Index, Index>> tiles;
    for (Index j = 0; j < grid.nt(); j++)
      for (Index i = 0; i < grid.mt(); i++)
        if (overlap(grid.memory(i, i + 1, j, j + 1), memory)) tiles.emplace_back(i, j);
    // A part that a call is using is not touched. It ends with this call.
    if (std::ssize(tiles) == part.tiles() || !part.is_idle()) return true;
    for (const auto& [i, j] : tiles) grid.renew(i, j);
    return false;
  });
}

/// Whether `inner`, from `first` on, is a range of whole tiles of `outer`.
bool cuts_alike(const Edges& outer, Index first, const Edges& inner) {
  if (first + inner.count() > outer.count() || outer.tile() != inner.tile()) return false;
  for (Index i = 0; i <= inner.count(); i++)
    if (outer.begin(first + i) - outer.begin(first) != inner.begin(i)) return false;
  return true;
}

/// The tile that begins at `place`; -1: none does.
Index tile_at(const Edges& edges, Index place) {
  for (Index i = 0; i < edges.count(); i++)
    if (edges.begin(i) == place) return i;
  return -1;
}

/// The tiles of a part that are an operand.
std::optional<Tiles> tiles_in(const Part& part, const Operand& x, std::size_t element_size) {
  const auto& grid = *part.grid;
  const bool same_columns = x.ld == grid.ld() || (x.columns.whole() == 1 && grid.n() == 1);
  const auto *const begin = static_cast<const std::byte*>(x.data), *const first =
                                                                       static_cast<const std::byte*>(grid.data());
  if (!same_columns || part.triangle != x.triangle || std::less<>()(begin, first)) return {};
  const auto elements = static_cast<Index>(static_cast<std::size_t>(begin - first) / element_size);
  if (part.triangle && (elements != 0 || x.rows.whole() != grid.m() || x.columns.whole() != grid.n())) return {};
  const Index i0 = tile_at(grid.rows(), elements % grid.ld()), j0 = tile_at(grid.columns(), elements / grid.ld());
  if (i0 < 0 || j0 < 0 || !cuts_alike(grid.rows(), i0, x.rows) || !cuts_alike(grid.columns(), j0, x.columns)) return {};
  return Tiles{part.grid, i0, j0};
}

/// Whether something is being copied to or from the tile, or will be.
bool is_requested(starpu_data_handle_t tile) {
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++) {
    int allocated = 0, valid = 0, loading = 0, requested = 0;
    starpu_data_query_status2(tile, static_cast<int>(node), &allocated, &valid, &loading, &requested);
    if (loading != 0 || requested != 0) return true;
  }
  return false;
}

/// Waits for the copies that were requested. Those of a call's results have ended. Prefetches may not have.
void wait_for_requests(const TileGrid& grid) {
  constexpr unsigned pause = 20;  // microseconds
  for (Index j = 0; j < grid.nt(); j++)
    for (Index i = 0; i < grid.mt(); i++)
      while (is_requested(grid.handle(i, j))) starpu_usleep(pause);
}

}  // namespace

thread_local InCall* InCall::of_thread = nullptr;

InCall::InCall(const std::shared_ptr<Session>& session) : outer_(of_thread), exceptions_(std::uncaught_exceptions()) {
  of_thread = this;
  // The program may end its own StarPU at any time.
  if (matrices > 0 && !session->joined() && starpu_memory_nodes_get_count() > 1) session_ = &session;
}

InCall::~InCall() {
  of_thread = outer_;
  if (used_.empty()) return;
  Removed removed;
  if (std::uncaught_exceptions() > exceptions_) {
    auto& all = store();
    const std::lock_guard lock(all.mutex);
    remove(all, removed, [&](const Part& part) { return std::ranges::find(used_, part.grid) != used_.end(); });
  }
  if (removed.empty())
    for (const auto& grid : used_) wait_for_requests(*grid);
  used_.clear();  // before `removed`, which then waits for what is left of a failed call
}

std::optional<Tiles> tiles_for(const Operand& operand) {
  auto* const call = InCall::of_thread;
  if (call == nullptr || call->session_ == nullptr || operand.rows.count() == 0 || operand.columns.count() == 0)
    return {};
  auto& session = **call->session_;
  Removed removed;
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  const auto matrix = std::ranges::find_if(all.matrices, [&](const Kept& kept) { return kept.contains(operand); });
  if (matrix == all.matrices.end()) return {};
  if (all.session != &session) {
    session.at_end(end);
    all.session = &session;
  }
  std::optional<Tiles> found;
  for (auto part = all.parts.begin(); part != all.parts.end() && !found; ++part)
    if ((found = tiles_in(*part, operand, matrix->element_size))) all.parts.splice(all.parts.begin(), all.parts, part);
  if (!found) {
    // Owning the session would keep StarPU running until the program forgets the matrix.
    auto without_ownership = std::shared_ptr<Session>(std::shared_ptr<void>(), &session);
    // Read-only: at the end of the tiles nothing has to come home.
    auto grid = std::make_shared<TileGrid>(std::move(without_ownership), operand.data, operand.ld, operand.element_size,
                                           operand.rows, operand.columns, true);
    grid->make_private();
    if (operand.triangle) grid->use_only(*operand.triangle);
    all.parts.push_front({grid, operand.triangle});
    found = Tiles{std::move(grid), 0, 0};
    remove_oldest(all, removed);
  }
  if (operand.is_output) {
    const auto& grid = *found->grid;
    renew(all, removed,
          grid.memory(found->i0, found->i0 + operand.rows.count(), found->j0, found->j0 + operand.columns.count()),
          &grid);
  }
  if (std::ranges::find(call->used_, found->grid) == call->used_.end()) call->used_.push_back(found->grid);
  return found;
}

Known known(const void* data, Index m, Index n, Index ld, std::size_t element_size) {
  const auto* const call = InCall::of_thread;
  if (call == nullptr || call->session_ == nullptr || m == 0 || n == 0) return {};
  const Operand operand{const_cast<void*>(data), ld, element_size, {m, m}, {n, n}, {}, false};
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  if (std::ranges::none_of(all.matrices, [&](const Kept& kept) { return kept.contains(operand); })) return {};
  for (const auto& [grid, triangle] : all.parts)
    if (grid->data() == data && grid->m() == m && grid->n() == n && (grid->ld() == ld || n == 1) && !triangle)
      return {true, {grid->mb(), grid->nb()}};
  return {true, {}};
}

void forget_copies(const TileGrid::Memory& memory) {
  if (in_forked_child() || memory.columns == 0) return;
  Removed removed;
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  renew(all, removed, memory, nullptr);
}

namespace {

arguments::StoredMatrix stored(const void* A, Index m, Index n, Index ld, std::size_t element_size) {
  return {"A", "ld", 1, 4, m, n, ld, A, true, static_cast<Index>(element_size)};
}

void require_legal(const char* routine, const arguments::StoredMatrix& A) {
  arguments::require_legal(routine, arguments::illegal_size(2, "m", A.m));
  arguments::require_legal(routine, arguments::illegal_size(3, "n", A.n));
  arguments::require_legal(routine, illegal_leading_dimension(A));
  arguments::require_legal(routine, illegal_memory(A));
}

Kept kept_of(const arguments::StoredMatrix& A) {
  return {static_cast<const std::byte*>(A.data), A.m, A.n, A.ld, static_cast<std::size_t>(A.element_size)};
}

void keep(const arguments::StoredMatrix& A) {
  require_legal("keep", A);
  require_not_forked("keep");
  if (A.m == 0 || A.n == 0) return;
  if (device_memory::may_exist() && device_memory::allocated(A.data))
    throw ArgumentError("keep", 1, "A", "points to memory of a GPU, or to managed memory: must be in host memory");
  const auto matrix = kept_of(A);
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  for (const auto& other : all.matrices) {
    if (other == matrix) return;
    if (overlap(other.memory(), matrix.memory()))
      throw ArgumentError("keep", 1, "A", "shares memory with another matrix that is kept");
  }
  all.matrices.push_back(matrix);
  kept::matrices++;
}

/// The kept matrix that begins at A. @throws ArgumentError if there is none
std::vector<Kept>::iterator find(Store& all, const char* routine, const void* A) {
  const auto found = std::ranges::find(all.matrices, static_cast<const std::byte*>(A), &Kept::data);
  if (found == all.matrices.end()) throw ArgumentError(routine, 1, "A", "is not where a matrix begins that is kept");
  return found;
}

/// Removes all parts of the kept matrix that begins at A.
/// @param forgets  whether the matrix is no longer kept
void remove_copies(const char* routine, const void* A, bool forgets) {
  require_can_wait(routine);
  Removed removed;
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  const auto matrix = find(all, routine, A);
  remove(all, removed, [&](const Part& part) { return overlap(part.memory(), matrix->memory()); });
  if (!forgets) return;
  all.matrices.erase(matrix);
  kept::matrices--;
}

void change(const arguments::StoredMatrix& A) {
  require_legal("changed", A);
  require_can_wait("changed");
  if (A.m > 0 && A.n > 0) written(kept_of(A).memory());
}

}  // namespace

}  // namespace tessera::detail::kept

namespace tessera {

template <Scalar T>
void keep(const T* A, Index m, Index n, Index ld) {
  detail::kept::keep(detail::kept::stored(A, m, n, ld, sizeof(T)));
}

template <Scalar T>
void changed(const T* A, Index m, Index n, Index ld) {
  detail::kept::change(detail::kept::stored(A, m, n, ld, sizeof(T)));
}

void changed(const void* A) { detail::kept::remove_copies("changed", A, false); }

void forget(const void* A) { detail::kept::remove_copies("forget", A, true); }

#define INSTANTIATE_KEEP(letter, T, ...)                \
  template void keep<T>(const T*, Index, Index, Index); \
  template void changed<T>(const T*, Index, Index, Index);
FOR_SDCZ(INSTANTIATE_KEEP)
#undef INSTANTIATE_KEEP

}  // namespace tessera
