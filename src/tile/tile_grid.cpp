// SPDX-License-Identifier: BSD-3-Clause
#include "tile_grid.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

#include <tessera/sched.h>
#include <tessera/error.hpp>

#include "common/ending_tiles.hpp"
#include "common/failure.hpp"
#include "common/not_copyable.hpp"
#include "devices/gpu.hpp"
#include "devices/partial_tile.hpp"
#include "devices/tile_interface.hpp"
#include "home.hpp"
#include "kept.hpp"
#include "memory/allocation_size.hpp"
#include "runtime/counters.hpp"
#include "runtime/outstanding.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "unwritten.hpp"

namespace tessera::detail {

namespace {

/// Whether tiles may be copied to another memory node: a GPU, or a NUMA node if StarPU distinguishes NUMA nodes.
bool has_several_memories() { return starpu_memory_nodes_get_count() > 1; }

/// The StarPU data interface for tiles that are not in memory which GPUs copy from.
starpu_data_interface_ops* without_gpus() {
  static auto in_one_memory = common::forgotten_at_their_end(starpu_interface_matrix_ops);
  return has_several_memories() ? device::tile_interface::pinned() : &in_one_memory;
}

bool is_pinned(const TileGrid::Memory& memory) {
  return device::gpu::is_pinned(memory.first, static_cast<std::size_t>(memory.end() - memory.first));
}

/// The StarPU data interface for tiles in this memory, which is pinned or pageable. It allocates and copies the tiles.
starpu_data_interface_ops* interface_of(const TileGrid::Memory& memory, int home) {
  const bool direct = memory.columns == 0 || home != STARPU_MAIN_RAM || is_pinned(memory);
  return direct ? device::tile_interface::pinned() : device::tile_interface::pageable();
}

bool is_valid(starpu_data_handle_t tile, int node) {
  int valid = 0;
  starpu_data_query_status2(tile, node, nullptr, &valid, nullptr, nullptr);
  return valid != 0;
}

/// While it exists, StarPU cannot evict the copy of a tile in a memory node. @pre  no task writes the tile
class Held : common::NotCopyable {
 public:
  Held(starpu_data_handle_t tile, int node) : tile_(tile), node_(node) {
    [[maybe_unused]] const int status = starpu_data_acquire_on_node(tile, node, STARPU_R);
    STARPU_ASSERT(status == 0);
  }
  ~Held() { starpu_data_release_on_node(tile_, node_); }

 private:
  starpu_data_handle_t tile_;
  int node_;
};

/// Copies a part of a tile from its home, the caller's memory, to the tile's copy in another memory node, if there is
/// one.
/// @param offset  where the part begins in the caller's memory, counted from the start of the tile [bytes]
/// @return  false if that cannot be done
bool update_copy(starpu_data_handle_t tile, int home, int node, const TileGrid::Memory& part, std::size_t offset) {
  int allocated = 0, valid = 0, loading = 0, requested = 0;
  starpu_data_query_status2(tile, node, &allocated, &valid, &loading, &requested);
  if (loading != 0 || requested != 0) return false;
  if (valid == 0) return true;
  const auto kind = starpu_node_get_kind(static_cast<unsigned>(node));
  if (kind != STARPU_CPU_RAM && kind != STARPU_CUDA_RAM) return false;
  const Held until_copied(tile, node);
  const auto& copy =
      *static_cast<starpu_matrix_interface*>(starpu_data_get_interface_on_node(tile, static_cast<unsigned>(node)));
  const auto stride = std::size_t{copy.ld} * copy.elemsize;
  auto* const to = reinterpret_cast<std::byte*>(copy.ptr) + offset / part.stride * stride + offset % part.stride;
  const auto columns = static_cast<std::size_t>(part.columns);
  const auto pack = [&](std::byte* packed, std::size_t apart) {
    for (std::size_t j = 0; j < columns; j++)
      std::memcpy(packed + j * apart, part.first + j * part.stride, part.height);
  };
  if (kind != STARPU_CUDA_RAM) {
    pack(to, stride);
  } else if (is_pinned(part)) {
    device::gpu::copy_columns(to, stride, part.first, part.stride, part.height, columns);
  } else {  // CUDA may refuse to read it
    std::vector<std::byte> packed(part.bytes());
    pack(packed.data(), part.height);
    device::gpu::copy_columns(to, stride, packed.data(), part.height, part.height, columns);
  }
  runtime::count_copied(home, node, part.bytes());
  return true;
}

/// By letter from A to Z: the number of the program's matrices that have it.
std::array<int, 26> with_letter;
std::mutex with_letter_mutex;

/// Whether any memory has a valid copy.
bool has_value(starpu_data_handle_t tile) {
  for (int node = 0; node < static_cast<int>(starpu_memory_nodes_get_count()); node++)
    if (is_valid(tile, node)) return true;
  return false;
}

/// A range of rows or columns in the memory of one process.
struct Range {
  Index first, count;
};

/// The range of the tiles [begin, end) in the memory of a process, which stores its tiles contiguously.
/// @param before  (Index i): the number of tiles of the process before tile i of the matrix
template <typename Before>
Range local_range(const tile::Edges& edges, Index begin, Index end, Before before) {
  const Index count = edges.count(), first = before(begin), last = before(end);
  if (last <= first) return {edges.begin(first), 0};
  // The last tile of the matrix may be shorter than other tiles of its process.
  const bool ends_short = end == count && last < count && before(count) > before(count - 1);
  const Index missing = ends_short ? count * edges.tile() - edges.whole() : 0;
  return {edges.begin(first), edges.begin(last) - missing - edges.begin(first)};
}

}  // namespace

/// The argument of the callbacks for a tile that is being written back. The callbacks own it, because they may run
/// after the caller has returned: the caller's wait may have failed.
struct TileGrid::WriteBack {
  std::shared_ptr<runtime::Outstanding> all;
  runtime::Outstanding::One this_one;  // destroyed before `all`
  starpu_data_handle_t handle;
  int home;
  bool counts_other_tasks;

  static std::unique_ptr<WriteBack> owned(void* argument) {
    return std::unique_ptr<WriteBack>(static_cast<WriteBack*>(argument));
  }

  /// Begins to write back a tile that has a value, or will have one. Tasks may read the tile while it is copied.
  static void begin(std::unique_ptr<WriteBack> one) {
    auto* const handle = one->handle;
    const int home = one->home;
    starpu_data_acquire_on_node_cb(handle, home, STARPU_R, arrived, one.release());
  }
  /// Begins to write back a tile that the program may have invalidated or deinitialized. Acquiring it for reading would
  /// abort the process if the tile has no value. An acquisition without an access mode only waits its turn, and tasks
  /// submitted later wait for it.
  static void begin_if_any(std::unique_ptr<WriteBack> one) {
    auto* const handle = one->handle;
    starpu_data_acquire_on_node_cb(handle, STARPU_ACQUIRE_NO_NODE, STARPU_NONE, its_turn, one.release());
  }

 private:
  static void arrived(void* argument) {
    const auto one = owned(argument);
    starpu_data_release_on_node(one->handle, one->home);
  }
  static void its_turn(void* argument) {
    auto one = owned(argument);
    auto* const handle = one->handle;
    if (one->home >= 0 && !is_valid(handle, one->home) && has_value(handle)) fetch(std::move(one));
    starpu_data_release_on_node(handle, STARPU_ACQUIRE_NO_NODE);
  }
  static void fetched(void* argument) { owned(argument); }
  static void fetch(std::unique_ptr<WriteBack> one);
};

/// Submits an empty task for which StarPU fetches the tile. Acquiring the tile now would abort if the program has
/// submitted an invalidation in the meantime.
void TileGrid::WriteBack::fetch(std::unique_ptr<WriteBack> one) {
  static auto readers = [] {
    std::array<starpu_codelet, STARPU_MAXNODES> of_node{};
    for (int node = 0; auto& codelet : of_node) {
      codelet.where = STARPU_NOWHERE;
      codelet.nbuffers = 1;
      codelet.modes[0] = STARPU_R;
      codelet.specific_nodes = 1;
      codelet.nodes[0] = node++;
      codelet.flags = STARPU_CODELET_NOPLANS;  // pieces of a partitioned tile have already been gathered
      codelet.name = "write_back";
    }
    return of_node;
  }();
  auto* const task = starpu_task_create();
  task->cl = &readers[static_cast<std::size_t>(one->home)];
  task->handles[0] = one->handle;
  task->sequential_consistency = 0;                  // does not wait: the tile's turn has come
  task->priority = std::numeric_limits<int>::max();  // runs before tasks that wait for their data
  if (one->counts_other_tasks) task->sched_data = &tessera_sched_tile_task;
  task->callback_func = fetched, task->callback_arg = one.release();
  [[maybe_unused]] const int status = starpu_task_submit(task);
  STARPU_ASSERT(status == 0);
}

TileGrid::TileGrid(std::shared_ptr<Session> session, void* data, Index m, Index n, Index ld, std::size_t element_size,
                   TileSize tile, bool read_only, tile::EdgeTiles at_the_edges)
    : TileGrid(std::move(session), data, ld, element_size, {m, tile.rows, at_the_edges},
               {n, tile.columns, at_the_edges}, read_only, {}) {}

TileGrid::TileGrid(std::shared_ptr<Session> session, void* data, Index m, Index n, Index ld, std::size_t element_size,
                   TileSize tile, bool read_only, tile::Share share)
    : TileGrid(std::move(session), data, ld, element_size, {m, tile.rows}, {n, tile.columns}, read_only,
               std::move(share)) {}

TileGrid::TileGrid(std::shared_ptr<Session> session, void* data, Index ld, std::size_t element_size,
                   const tile::Edges& rows, const tile::Edges& columns, bool read_only, tile::Share share)
    : session_(std::move(session)), write_backs_(std::make_shared<runtime::Outstanding>()),
      data_(static_cast<std::byte*>(data)), rows_(rows), columns_(columns), ld_(ld), mt_(rows.count()),
      nt_(columns.count()), home_(STARPU_MAIN_RAM), element_size_(element_size), read_only_(read_only),
      share_(std::move(share)) {
  if (mt_ == 0 || nt_ == 0) mt_ = nt_ = 0;
  if (mt_ == 0) return;
  if (data == nullptr && !share_.is_distributed()) home_ = -1;
  handles_.resize(static_cast<std::size_t>(mt_ * nt_));
  const bool has_gpus = session_->machine().gpu_count() > 0;
  if (has_gpus && has_memory() && !share_.is_distributed()) home_ = tile::home_of(data_).value_or(STARPU_MAIN_RAM);
  interface_ = has_gpus ? interface_of(memory(0, mt_, 0, nt_), home_) : without_gpus();
  if (!read_only_ && home_ == STARPU_MAIN_RAM) tile::kept::written(memory(0, mt_, 0, nt_));
  for (Index j = 0; j < nt_; j++)
    for (Index i = 0; i < mt_; i++) register_tile(i, j);
}

void TileGrid::register_tile(Index i, Index j) {
  auto& handle = handles_[static_cast<std::size_t>(i + j * mt_)];
  const bool mine = share_.is_mine(i, j), stored = mine && has_memory();
  starpu_matrix_interface matrix{};
  matrix.id = STARPU_MATRIX_INTERFACE_ID;
  if (stored) matrix.ptr = matrix.dev_handle = reinterpret_cast<std::uintptr_t>(address(i, j));
  matrix.ld = static_cast<std::uint32_t>(stored ? ld_ : tile_m(i)), matrix.elemsize = element_size_;
  matrix.nx = static_cast<std::uint32_t>(tile_m(i)), matrix.ny = static_cast<std::uint32_t>(tile_n(j));
  matrix.allocsize = memory::allocation_size(static_cast<std::size_t>(tile_m(i) * tile_n(j)) * element_size_);
  starpu_data_register(&handle, mine ? home_ : -1, &matrix, mine ? interface_ : without_gpus());
  if (share_.is_distributed()) share_.processes->assign(handle, share_.owner(i, j));
  common::take_failure(handle);
  starpu_data_set_sequential_consistency_flag(handle, 1);  // the program may have changed the default
  if (mine) tessera_sched_allow_fetching(handle);
  if (!has_memory()) tile::unwritten::add(handle);
  starpu_data_set_coordinates(handle, 2, static_cast<int>(i), static_cast<int>(j));
}

void TileGrid::renew(Index i, Index j) {
  starpu_data_unregister_no_coherency(handle(i, j));
  register_tile(i, j);
  if (only_a_triangle_) use_only_in(i, j);
  const char name[] = {letter_, '\0'};
  if (letter_ != 0) starpu_data_set_name(handle(i, j), name);
}

bool TileGrid::update_copies(Index i, Index j, const std::byte* first, const std::byte* end) {
  const auto whole = memory(i, i + 1, j, j + 1), part = tile::part_in(whole, first, end);
  // Assumed: CUDA copies pageable memory several times more slowly than the staging buffers of a tile.
  constexpr std::size_t slower = 4;
  if (slower * part.bytes() > whole.bytes()) return false;
  const auto offset = static_cast<std::size_t>(part.first - whole.first);
  for (int node = 0; part.columns > 0 && node < static_cast<int>(starpu_memory_nodes_get_count()); node++)
    if (node != home_ && !update_copy(handle(i, j), home_, node, part, offset)) return false;
  return true;
}

TileGrid::~TileGrid() {
  if (handles_.empty() || runtime::in_forked_child()) return;
  if (of_program_ && letter_ != 0) {
    const std::lock_guard lock(with_letter_mutex);
    --with_letter[static_cast<std::size_t>(letter_ - 'A')];
  }
  if (share_.is_distributed()) share_.processes->matrix_ends();
  runtime::require_can_wait("Matrix::~Matrix");  // its exception ends the program with the reason
  if (!has_memory()) {
    for (auto* handle : handles_) {
      tile::unwritten::remove(handle);
      starpu_data_unregister_submit(handle);
    }
    return;
  }
  // Starts all copies at once; unregistering would fetch tiles one by one. A call has already waited for its output.
  if (!read_only_ && !all_written_back_) write_back(0, mt_, 0, nt_);
  wait_until_written_back();
  for (Index j = 0; j < nt_; j++)
    for (Index i = 0; i < mt_; i++) {
      if (read_only_ || !share_.is_mine(i, j)) starpu_data_unregister_no_coherency(handle(i, j));
      else starpu_data_unregister(handle(i, j));
    }
  if (!read_only_ && home_ == STARPU_MAIN_RAM) tile::kept::written(memory(0, mt_, 0, nt_));
}

void TileGrid::set_letter(char operand) noexcept {
  std::unique_lock lock(with_letter_mutex);
  if (letter_ != 0) return;
  const auto first = with_letter.begin() + (operand - 'A'), unused = std::find(first, with_letter.end(), 0);
  const auto chosen = of_program_ && unused != with_letter.end() ? unused : first;
  if (of_program_) ++*chosen;
  letter_ = static_cast<char>('A' + (chosen - with_letter.begin()));
  lock.unlock();
  const char name[] = {letter_, '\0'};
  for (auto* handle : handles_) starpu_data_set_name(handle, name);  // appears in the trace, if one is recorded
}

void TileGrid::use_only(Uplo uplo) {
  only_a_triangle_ = true, triangle_ = uplo;
  for (Index j = 0; j < nt_; j++)
    for (Index i = 0; i < mt_; i++) use_only_in(i, j);
}

void TileGrid::use_only_in(Index i, Index j) {
  if (!has_several_memories()) return;  // there is only one copy of each tile
  const Index diagonal = columns_.begin(j) - rows_.begin(i);
  if (diagonal < tile_m(i) && diagonal + tile_n(j) > 0)
    device::use_triangle(handle(i, j), triangle_, static_cast<int>(diagonal));
}

void TileGrid::write_back(Index i0, Index i1, Index j0, Index j1) noexcept {
  if (private_ && i1 - i0 == mt_ && j1 - j0 == nt_) all_written_back_ = true;
  for (Index j = j0; j < j1; j++)
    for (Index i = i0; i < i1; i++) {
      if (!share_.is_mine(i, j)) continue;
      std::unique_ptr<WriteBack> one(new WriteBack{write_backs_, runtime::Outstanding::One(*write_backs_), handle(i, j),
                                                   home_, session_->counts_other_tasks()});
      // The program has no handle of a private tile, so it cannot have invalidated it.
      if (private_) WriteBack::begin(std::move(one));
      else WriteBack::begin_if_any(std::move(one));
    }
}

void TileGrid::wait_until_written_back() {
  const bool polls = session_->machine().has_core_for_waiting;
  write_backs_->wait(polls ? runtime::Outstanding::usual_polling : std::chrono::milliseconds{});
}

void TileGrid::check(Index i0, Index i1, Index j0, Index j1) {
  std::shared_ptr<common::Failure> first;
  for (Index j = j0; j < j1; j++)
    for (Index i = i0; i < i1; i++)
      if (auto failure = common::take_failure(handle(i, j))) {
        failure->told = true;
        if (!first) first = std::move(failure);
      }
  if (first) throw RuntimeError(first->what);
  strays_.check();
}

void* TileGrid::address(Index i, Index j) const {
  const Index row = rows_.begin(share_.rows_before(i)), column = columns_.begin(share_.columns_before(j));
  return data_ + static_cast<std::size_t>(row + column * ld_) * element_size_;
}

TileGrid::Memory TileGrid::memory(Index i0, Index i1, Index j0, Index j1) const {
  const auto rows = local_range(rows_, i0, i1, [&](Index i) { return share_.rows_before(i); }),
             columns = local_range(columns_, j0, j1, [&](Index j) { return share_.columns_before(j); });
  const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements) * element_size_; };
  if (!has_memory()) return {nullptr, 0, 0, 0};
  return {data_ + bytes(rows.first + columns.first * ld_), bytes(rows.count), bytes(ld_),
          rows.count > 0 ? columns.count : 0};
}

}  // namespace tessera::detail

namespace tessera::tile {

detail::TileGrid::Memory part_in(const detail::TileGrid::Memory& x, const std::byte* first, const std::byte* end) {
  const std::less_equal<> before;
  if (x.columns == 0 || before(end, x.first) || before(x.end(), first)) return {x.first, x.height, x.stride, 0};
  const auto from = before(first, x.first) ? 0 : static_cast<std::size_t>(first - x.first),
             to = static_cast<std::size_t>((before(x.end(), end) ? x.end() : end) - x.first);
  const auto j0 = from / x.stride + (from % x.stride < x.height ? 0 : 1), j1 = (to - 1) / x.stride + 1;
  if (j0 + 1 != j1) return {x.first + j0 * x.stride, x.height, x.stride, static_cast<Index>(j1 - j0)};
  const auto begin = std::max(from, j0 * x.stride);
  return {x.first + begin, std::min(to, j0 * x.stride + x.height) - begin, x.stride, 1};
}

bool overlap(const detail::TileGrid::Memory& a, const detail::TileGrid::Memory& b) {
  if (a.columns == 0 || b.columns == 0) return false;
  const auto column = [](const detail::TileGrid::Memory& x, Index j) {
    return x.first + static_cast<std::size_t>(j) * x.stride;
  };
  const std::less_equal<> before;  // total order, even for unrelated pointers
  if (before(a.end(), b.first) || before(b.end(), a.first)) return false;
  // The columns of each are sorted by address. Walks through both lists, always advancing past the column that ends
  // first.
  for (Index i = 0, j = 0; i < a.columns && j < b.columns;) {
    if (before(column(a, i) + a.height, column(b, j))) i++;
    else if (before(column(b, j) + b.height, column(a, i))) j++;
    else return true;
  }
  return false;
}

}  // namespace tessera::tile
