// SPDX-License-Identifier: BSD-3-Clause
#include "kept.hpp"

#include <starpu.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/keep.hpp>

#include "blas/arguments.hpp"
#include "blas/shapes.hpp"
#include "common/device_memory.hpp"
#include "kept_store.hpp"
#include "runtime/process_session.hpp"
#include "runtime/ranks_of_node.hpp"
#include "runtime/session.hpp"
#include "watched.hpp"

namespace tessera::tile::kept {

namespace {

/// Each tile takes some kilobytes of host memory. Beyond this number, the parts that have not been used for longest are
/// no longer kept.
constexpr Index most_tiles = 8192;

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
  {
    const std::lock_guard lock(all.mutex);
    all.session = nullptr;
    if (all.watch) matrices--;
    all.watch.reset();
    removed.swap(all.parts);
  }
  const std::lock_guard others_have_ended(all.ending);
}

/// Whether `inner`, from `first` on, is a range of whole tiles of `outer`.
bool cuts_alike(const tile::Edges& outer, Index first, const tile::Edges& inner) {
  if (first + inner.count() > outer.count() || outer.tile() != inner.tile()) return false;
  for (Index i = 0; i <= inner.count(); i++)
    if (outer.begin(first + i) - outer.begin(first) != inner.begin(i)) return false;
  return true;
}

/// The tile that begins at `place`; -1: none does.
Index tile_at(const tile::Edges& edges, Index place) {
  for (Index i = 0; i < edges.count(); i++)
    if (edges.begin(i) == place) return i;
  return -1;
}

/// The tiles of a part that make up exactly an operand; empty if no tiles do.
std::optional<Tiles> tiles_in(const Part& part, const Operand& x) {
  const auto& grid = *part.grid;
  const bool same_columns = x.ld == grid.ld() || (x.columns.whole() == 1 && grid.n() == 1);
  const auto *const begin = static_cast<const std::byte*>(x.data), *const first =
                                                                       static_cast<const std::byte*>(grid.data());
  if (!same_columns || part.triangle != x.triangle || std::less<>()(begin, first)) return {};
  if (grid.element_size() != x.element_size) return {};
  const auto bytes = static_cast<std::size_t>(begin - first);
  if (bytes % x.element_size != 0) return {};  // another operand, between the elements of this one
  const auto elements = static_cast<Index>(bytes / x.element_size);
  if (part.triangle && (elements != 0 || x.rows.whole() != grid.m() || x.columns.whole() != grid.n())) return {};
  const Index i0 = tile_at(grid.rows(), elements % grid.ld()), j0 = tile_at(grid.columns(), elements / grid.ld());
  if (i0 < 0 || j0 < 0 || !cuts_alike(grid.rows(), i0, x.rows) || !cuts_alike(grid.columns(), j0, x.columns)) return {};
  return Tiles{part.grid, i0, j0};
}

/// The bytes of the tiles of an operand that have a copy on a device.
double bytes_on_devices(const Tiles& x, const Operand& operand) {
  const auto has_copy = [](starpu_data_handle_t tile) {
    int valid = 0;
    for (int node = STARPU_MAIN_RAM + 1; valid == 0 && node < static_cast<int>(starpu_memory_nodes_get_count()); node++)
      starpu_data_query_status2(tile, node, nullptr, &valid, nullptr, nullptr);
    return valid != 0;
  };
  Index elements = 0;
  for (Index j = 0; j < operand.columns.count(); j++)
    for (Index i = 0; i < operand.rows.count(); i++)
      if (has_copy(x.grid->handle(x.i0 + i, x.j0 + j))) elements += operand.rows.extent(i) * operand.columns.extent(j);
  return static_cast<double>(elements) * static_cast<double>(operand.element_size);
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
void wait_for_requests(const detail::TileGrid& grid) {
  constexpr unsigned pause = 20;  // microseconds
  for (Index j = 0; j < grid.nt(); j++)
    for (Index i = 0; i < grid.mt(); i++)
      while (is_requested(grid.handle(i, j))) starpu_usleep(pause);
}

}  // namespace

Store& store() {
  static auto& only = *new Store;
  return only;
}

void renew(Store& all, Removed& removed, const detail::TileGrid::Memory& memory, const detail::TileGrid* except,
           Write write, const Kept* looked_at) {
  remove(all, removed, [&](const Part& part) {
    auto& grid = *part.grid;
    if (&grid == except || !overlap(part.memory(), memory)) return false;
    // If a call is using the part, its tiles are not renewed: the whole part is removed, and ends with that call.
    if (!part.is_idle()) return true;
    const bool is_done =
        write == Write::Done &&
        (looked_at == nullptr ||
         looked_at->contains({grid.data(), grid.ld(), grid.element_size(), grid.rows(), grid.columns(), {}, false}));
    std::vector<std::pair<Index, Index>> tiles;
    for (Index j = 0; j < grid.nt(); j++)
      for (Index i = 0; i < grid.mt(); i++)
        if (overlap(grid.memory(i, i + 1, j, j + 1), memory) &&
            !(is_done && grid.update_copies(i, j, memory.first, memory.end())))
          tiles.emplace_back(i, j);
    if (std::ssize(tiles) == part.tiles()) return true;
    for (const auto& [i, j] : tiles) grid.renew(i, j);
    return false;
  });
}

void remove_parts(Store& all, Removed& removed, const detail::TileGrid::Memory& memory,
                  const detail::TileGrid* except) {
  remove(all, removed, [&](const Part& part) { return part.grid.get() != except && overlap(part.memory(), memory); });
}

thread_local InCall* InCall::of_thread = nullptr;

struct InCall::Watching {
  Watch::Ready ready;
};

InCall::InCall(const std::shared_ptr<detail::Session>& session, std::span<const blas::arguments::StoredMatrix> operands,
               bool reads_output)
    : outer_(of_thread), exceptions_(std::uncaught_exceptions()), reads_output_(reads_output) {
  // The program may end its own StarPU at any time.
  if (matrices == 0 || session->joined() || starpu_memory_nodes_get_count() < 2) return;
  session_ = &session;
  if (watches_operands) {
    Removed removed;
    auto& all = store();
    const std::lock_guard lock(all.mutex);
    if (all.watch) watching_ = std::make_unique<Watching>(all.watch->begin(all, removed, operands, reads_output));
  }
  of_thread = this;  // last, because the destructor does not run if anything here throws
}

/// Whether kept tiles may be used for the operand. @pre  the store is locked
bool InCall::may_use(const Operand& operand) const {
  const auto contains = [&](const Kept& kept) { return kept.contains(operand); };
  if (std::ranges::any_of(store().matrices, contains)) return true;
  if (!watching_) return false;
  return std::ranges::any_of(operand.is_output ? watching_->ready.results : watching_->ready.inputs, contains);
}

void InCall::look_later() {
  if (!watching_ || !(watching_->ready.looks_later || watching_->ready.is_in_doubt)) return;
  Removed removed;
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  if (all.watch) all.watch->look_later(all, removed, watching_->ready);
}

bool InCall::used_right_values() {
  look_later();
  return !watching_ || !watching_->ready.is_wrong;
}

InCall::~InCall() {
  of_thread = outer_;
  if (used_.empty() && !watching_) return;
  const bool failed = std::uncaught_exceptions() > exceptions_;
  if (!failed) look_later();
  Removed removed;
  auto& all = store();
  if (failed) {
    const std::lock_guard lock(all.mutex);
    remove(all, removed, [&](const Part& part) { return std::ranges::find(used_, part.grid) != used_.end(); });
  } else {
    for (const auto& grid : used_) wait_for_requests(*grid);
  }
  used_.clear();  // before the destructor of `removed`, which waits for the rest of a failed call
  if (!watching_) return;
  const std::lock_guard lock(all.mutex);
  if (all.watch) all.watch->end(all, removed, watching_->ready, failed);
}

std::optional<Tiles> tiles_for(const Operand& operand) {
  auto* const call = InCall::of_thread;
  if (call == nullptr || call->session_ == nullptr || operand.rows.count() == 0 || operand.columns.count() == 0)
    return {};
  auto& session = **call->session_;
  Removed removed;
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  if (!call->may_use(operand)) return {};
  // Other threads may write what lies between the columns of a watched result.
  const bool is_watched_result = operand.is_output && call->watching_ && !call->watching_->ready.results.empty() &&
                                 call->watching_->ready.results.front().contains(operand);
  if (all.session != &session) {
    session.at_end(end);
    all.session = &session;
  }
  std::optional<Tiles> found;
  for (auto part = all.parts.begin(); part != all.parts.end() && !found; ++part)
    if (!is_watched_result || part->is_just(operand))
      if ((found = tiles_in(*part, operand))) all.parts.splice(all.parts.begin(), all.parts, part);
  if (found) {
    if (!operand.is_output || call->reads_output_) reused_bytes += bytes_on_devices(*found, operand);
  } else {
    // Owning the session would keep StarPU running until the program forgets the matrix.
    auto without_ownership = std::shared_ptr<detail::Session>(std::shared_ptr<void>(), &session);
    // Read-only, so that nothing is copied back when the tiles end.
    auto grid = std::make_shared<detail::TileGrid>(std::move(without_ownership), operand.data, operand.ld,
                                                   operand.element_size, operand.rows, operand.columns, true);
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
          &grid, Write::Possible);
  }
  if (is_watched_result) call->watching_->ready.result = found->grid;
  if (std::ranges::find(call->used_, found->grid) == call->used_.end()) call->used_.push_back(found->grid);
  return found;
}

Known known(const void* data, Index m, Index n, Index ld, std::size_t element_size, bool is_output) {
  const auto* const call = InCall::of_thread;
  if (call == nullptr || call->session_ == nullptr || m == 0 || n == 0) return {};
  const Operand operand{const_cast<void*>(data), ld, element_size, {m, m}, {n, n}, {}, is_output};
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  if (!call->may_use(operand)) return {};
  for (const auto& [grid, triangle] : all.parts)
    if (grid->data() == data && grid->m() == m && grid->n() == n && (grid->ld() == ld || n == 1) && !triangle)
      return {true, {grid->mb(), grid->nb()}};
  return {true, {}};
}

std::string start_watching(detail::Session& session, double most_bytes) {
  if (session.joined()) return "the program runs its own StarPU";
  if (starpu_memory_nodes_get_count() < 2) return "there is no device with memory of its own";
  if (runtime::launched_ranks() > 1) return "this is a process of an MPI program";
  std::string why_not;
  auto pages = memory::WrittenPages::open(why_not);
  if (!pages) return why_not;
  auto& all = store();
  const std::lock_guard lock(all.mutex);
  if (all.session != &session) session.at_end(end);
  all.session = &session;
  if (!all.watch) matrices++;
  all.watch = std::make_unique<Watch>(std::move(pages), most_bytes);
  return {};
}

namespace {

void renew_parts(const detail::TileGrid::Memory& memory, Write write) {
  if (matrices == 0 || runtime::in_forked_child() || memory.columns == 0) return;
  auto& all = store();
  const std::shared_lock until_removed(all.ending);
  Removed removed;
  const std::lock_guard lock(all.mutex);
  renew(all, removed, memory, nullptr, write);
}

}  // namespace

void forget_copies(const detail::TileGrid::Memory& memory) { renew_parts(memory, Write::Possible); }

namespace {

blas::arguments::StoredMatrix stored(const void* A, Index m, Index n, Index ld, std::size_t element_size) {
  return {"A", "ld", 1, 4, m, n, ld, A, true, static_cast<Index>(element_size)};
}

void require_legal(const char* routine, const blas::arguments::StoredMatrix& A) {
  blas::arguments::require_legal(routine, blas::arguments::illegal_size(2, "m", A.m));
  blas::arguments::require_legal(routine, blas::arguments::illegal_size(3, "n", A.n));
  blas::arguments::require_legal(routine, illegal_leading_dimension(A));
  blas::arguments::require_legal(routine, illegal_memory(A));
}

Kept kept_of(const blas::arguments::StoredMatrix& A) {
  return {static_cast<const std::byte*>(A.data), A.m, A.n, A.ld, static_cast<std::size_t>(A.element_size)};
}

void keep(const blas::arguments::StoredMatrix& A) {
  require_legal("keep", A);
  runtime::require_not_forked("keep");
  if (A.m == 0 || A.n == 0) return;
  if (common::device_memory::may_exist() && common::device_memory::allocated(A.data))
    throw ArgumentError("keep", 1, "A", "points to memory of a GPU, or to managed memory: must be in host memory");
  const auto matrix = kept_of(A);
  auto& all = store();
  const std::shared_lock until_removed(all.ending);
  Removed removed;
  const std::lock_guard lock(all.mutex);
  for (const auto& other : all.matrices) {
    if (other == matrix) return;
    if (overlap(other.memory(), matrix.memory()))
      throw ArgumentError("keep", 1, "A", "shares memory with another kept matrix");
  }
  remove_parts(all, removed, matrix.memory());  // if it was watched, its pages will no longer be looked at
  all.matrices.push_back(matrix);
  matrices++;
}

/// The kept matrix that begins at A. @throws ArgumentError if there is none
std::vector<Kept>::iterator find(Store& all, const char* routine, const void* A) {
  const auto found = std::ranges::find(all.matrices, static_cast<const std::byte*>(A), &Kept::data);
  if (found == all.matrices.end()) throw ArgumentError(routine, 1, "A", "is not the start of a kept matrix");
  return found;
}

/// Removes all parts of the kept matrix that begins at A.
/// @param forgets  whether the matrix is no longer kept
void remove_copies(const char* routine, const void* A, bool forgets) {
  runtime::require_can_wait(routine);
  auto& all = store();
  const std::shared_lock until_removed(all.ending);
  Removed removed;
  const std::lock_guard lock(all.mutex);
  const auto matrix = find(all, routine, A);
  remove_parts(all, removed, matrix->memory());
  if (!forgets) return;
  all.matrices.erase(matrix);
  matrices--;
}

void change(const blas::arguments::StoredMatrix& A) {
  require_legal("changed", A);
  runtime::require_can_wait("changed");
  if (A.m > 0 && A.n > 0) renew_parts(kept_of(A).memory(), Write::Done);
}

}  // namespace

}  // namespace tessera::tile::kept

namespace tessera {

template <Scalar T>
void keep(const T* A, Index m, Index n, Index ld) {
  tile::kept::keep(tile::kept::stored(A, m, n, ld, sizeof(T)));
}

template <Scalar T>
void changed(const T* A, Index m, Index n, Index ld) {
  tile::kept::change(tile::kept::stored(A, m, n, ld, sizeof(T)));
}

void changed(const void* A) { tile::kept::remove_copies("changed", A, false); }

void forget(const void* A) { tile::kept::remove_copies("forget", A, true); }

#define INSTANTIATE_KEEP(letter, T, ...)                \
  template void keep<T>(const T*, Index, Index, Index); \
  template void changed<T>(const T*, Index, Index, Index);
FOR_SDCZ(INSTANTIATE_KEEP)
#undef INSTANTIATE_KEEP

}  // namespace tessera
