// SPDX-License-Identifier: BSD-3-Clause
#include "neighbours.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <tessera/error.hpp>

#include "agreement.hpp"
#include "common/variables.hpp"

namespace tessera::distributed {

namespace {

/// For shorter tiles, MPI takes less time than two messages and waking a thread.
constexpr std::size_t usual_least_bytes = std::size_t{64} << 10;
constexpr std::size_t never = ~std::size_t{0};
/// A process keeps this part of a GPU's memory, at most, for others to read. It also receives tiles into as much.
constexpr std::size_t part_for_others = 8;
/// More bytes on their way to the GPUs of a process would not make their copies faster.
constexpr std::size_t most_bytes_at_once = std::size_t{512} << 20;
/// StarPU postpones prefetches while the memory of a GPU is full. After this time without progress, the process
/// fetches a tile that others wait for, which evicts others.
constexpr std::chrono::milliseconds patience(5);

/// StarPU calls it when earlier tasks have ended. It may choose another memory node.
using Choose = void (*)(void* argument, int* node, starpu_data_access_mode mode);

/// Calls acquired(argument) when the tile is in the memory of the node, as StarPU-MPI does.
/// @param in_turn  whether to wait for tasks on the tile that were submitted earlier
void acquire(starpu_data_handle_t tile, int node, starpu_data_access_mode mode, int priority, Choose choose,
             void (*acquired)(void*), void* argument, bool in_turn = true) {
  starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(tile, node, mode, choose, acquired, argument,
                                                                    in_turn ? 1 : 0, 1, nullptr, nullptr, priority);
}

bool is_valid(starpu_data_handle_t tile, int node) {
  int allocated = 0, valid = 0, loading = 0;
  starpu_data_query_status2(tile, node, &allocated, &valid, &loading, nullptr);
  return valid != 0;
}

}  // namespace

std::size_t Neighbours::least_bytes_asked_for() {
  const auto text = common::text_of(common::variables::node_reads);
  if (text.empty()) return usual_least_bytes;
  if (text == "off") return never;
  if (const auto bytes = common::as_number<std::size_t>(text)) return *bytes;
  common::refuse(common::variables::node_reads);
}

Neighbours::Neighbours(MPI_Comm comm, std::size_t least_bytes, int readers, std::unique_ptr<device::PeerMemory> peers)
    : comm_(comm) {
  int size = 1, rank = 0, on_node = 1;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  process_of_.resize(static_cast<std::size_t>(size));
  std::uint64_t mine = least_bytes, least = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MAX, comm);
  least_bytes_ = least;
  if (least == never) return;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &on_node);
  std::vector<int> ranks(static_cast<std::size_t>(on_node));
  MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, node);
  readable_.find(node);
  const auto& processes = readable_.processes();
  const int mine_started = !processes.empty() && start_threads(readers) ? 1 : 0;
  int all_started = 0;
  MPI_Allreduce(&mine_started, &all_started, 1, MPI_INT, MPI_MIN, node);
  if (all_started != 0) use_if_faster(std::move(peers), node);
  MPI_Comm_free(&node);
  if (all_started == 0) return;
  for (std::size_t i = 0; i < ranks.size(); i++) process_of_[static_cast<std::size_t>(ranks[i])] = processes[i];
  process_of_[static_cast<std::size_t>(rank)] = 0;
}

double Neighbours::seconds_to_read_from_host(MPI_Comm node) const {
  constexpr int repeat = 3;
  std::vector<std::byte> block(device::PeerMemory::sample_bytes), copy(block.size());
  const auto columns_of = [](const auto& memory) {
    return device::Columns{reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), memory.size(), 1};
  };
  int processes = 1, rank = 0;
  MPI_Comm_size(node, &processes);
  MPI_Comm_rank(node, &rank);
  const auto mine = columns_of(block);
  std::vector<device::Columns> all(static_cast<std::size_t>(processes));
  MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, node);
  const auto next = static_cast<std::size_t>((rank + 1) % processes);
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeat; i++) {
    const auto start = std::chrono::steady_clock::now();
    if (read_columns(readable_.processes()[next], all[next], columns_of(copy)) != 0) break;
    fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  MPI_Barrier(node);  // others may still read this process's block
  return fastest / static_cast<double>(readers_.size());
}

void Neighbours::use_if_faster(std::unique_ptr<device::PeerMemory> peers, MPI_Comm node) {
  using Sample = device::PeerMemory::Sample;
  std::vector<Sample> mine;
  bool can_read = peers != nullptr && !peers->nodes().empty();
  try {
    if (can_read) mine = peers->samples();
  } catch (const RuntimeError&) {  // this process cannot share its memory
    can_read = false;
  }
  int processes = 1, rank = 0;
  MPI_Comm_size(node, &processes);
  MPI_Comm_rank(node, &rank);
  auto bytes = static_cast<int>(mine.size() * sizeof(Sample));
  std::vector<int> sizes(static_cast<std::size_t>(processes)), starts(sizes.size());
  MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, node);
  std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), 0);
  std::vector<Sample> all(static_cast<std::size_t>(starts.back() + sizes.back()) / sizeof(Sample));
  MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), sizes.data(), starts.data(), MPI_BYTE, node);
  if (all.empty()) return;
  const auto first_mine = static_cast<std::size_t>(starts[static_cast<std::size_t>(rank)]) / sizeof(Sample);
  // On its other way, a tile is copied from its GPU to host memory, to the other process, and to the GPU there.
  enum { BetweenGpus, ThroughHost, Count };
  double seconds[Count] = {0, seconds_to_read_from_host(node)}, slowest[Count] = {};
  try {
    // Each process begins with the next one's GPUs, so that not all of them read from the same GPU.
    for (std::size_t i = mine.size(); i < all.size() && can_read; i++)
      seconds[BetweenGpus] = std::max(seconds[BetweenGpus], peers->seconds_to_read(all[(first_mine + i) % all.size()]));
    if (can_read) seconds[ThroughHost] += peers->seconds_to_host_and_back();
  } catch (const RuntimeError&) {  // this process cannot read, or has no memory for it
    can_read = false;
  }
  if (!can_read) seconds[BetweenGpus] = std::numeric_limits<double>::infinity();
  MPI_Allreduce(seconds, slowest, Count, MPI_DOUBLE, MPI_MAX, node);
  if (peers) peers->free_samples();
  if (!(slowest[BetweenGpus] < slowest[ThroughHost])) return;
  most_allocated_ = most_bytes_at_once;
  most_held_ = never;
  for (const unsigned gpu : peers->nodes()) {
    gpus_.push_back(static_cast<int>(gpu));
    const auto memory = starpu_memory_get_total(gpu);
    if (memory < 0) continue;  // not limited
    most_held_ = std::min(most_held_, static_cast<std::size_t>(memory) / part_for_others);
    most_allocated_ = std::min(most_allocated_, most_held_);
  }
  peers_ = std::move(peers);
}

device::Columns Neighbours::columns_on(starpu_data_handle_t tile, int node) {
  const auto& matrix = *static_cast<const starpu_matrix_interface*>(
      starpu_data_get_interface_on_node(tile, static_cast<unsigned>(node)));
  return {matrix.ptr, matrix.nx * matrix.elemsize, matrix.ld * matrix.elemsize, matrix.ny};
}

bool Neighbours::carry(starpu_data_handle_t tile, int rank) const {
  if (process_of_[static_cast<std::size_t>(rank)] == 0) return false;
  if (starpu_data_get_interface_id(tile) != STARPU_MATRIX_INTERFACE_ID) return false;
  return starpu_matrix_get_nx(tile) * std::size_t{starpu_matrix_get_ny(tile)} * starpu_matrix_get_elemsize(tile) >=
         std::max<std::size_t>(least_bytes_, 1);
}

void Neighbours::send(starpu_data_handle_t tile, int to, std::int64_t tag, int priority,
                      std::atomic<std::uint64_t>& sent, std::uint64_t bytes) {
  auto* outgoing = new Outgoing{*this, tile, to, tag, priority, sent, bytes};  // `handle` deletes it
  {
    const std::lock_guard lock(mutex_);
    sends_++;
  }
  const auto written = [](void* argument) {
    auto* const its = static_cast<Outgoing*>(argument);
    const std::lock_guard lock(its->of.mutex_);
    if (its->of.to_load_.empty()) its->of.last_loaded_ = std::chrono::steady_clock::now();
    its->of.to_load_.emplace(its->priority, its);
    its->of.something_to_do_.notify_one();
  };
  if (peers_) acquire(tile, STARPU_ACQUIRE_NO_NODE, STARPU_R, priority, nullptr, written, outgoing);
  else acquire(tile, outgoing->node = STARPU_MAIN_RAM, STARPU_R, priority, nullptr, announce, outgoing);
}

int Neighbours::gpu_for(std::int64_t tag) const { return gpus_[static_cast<std::size_t>(tag) % gpus_.size()]; }

int Neighbours::source(const Outgoing& tile) const {
  int gpu = gpu_for(tile.tag);
  if (!is_valid(tile.tile, gpu)) {
    const auto other = std::ranges::find_if(gpus_, [&](int node) { return is_valid(tile.tile, node); });
    if (other != gpus_.end()) gpu = *other;
  }
  const auto held = held_.find(gpu);
  const auto bytes = (held == held_.end() ? 0 : held->second) + columns_on(tile.tile, gpu).total();
  return bytes > most_held_ ? STARPU_MAIN_RAM : gpu;
}

void Neighbours::load(std::unique_lock<std::mutex>& lock) {
  for (auto next = to_load_.begin(); next != to_load_.end();) {
    auto* const tile = next->second;
    const auto unlocked = [&](auto act) {  // StarPU may call back
      lock.unlock();
      act();
      lock.lock();
    };
    const bool is_new = tile->node < 0;
    if (is_new) {
      tile->node = source(*tile);
      if (tile->node != STARPU_MAIN_RAM) held_[tile->node] += columns_on(tile->tile, tile->node).total();
    }
    const bool is_there = tile->node == STARPU_MAIN_RAM || is_valid(tile->tile, tile->node);
    const auto now = std::chrono::steady_clock::now();
    if (!is_there && (next != to_load_.begin() || now - last_loaded_ < patience)) {
      ++next;
      if (is_new)
        unlocked([&] {
          starpu_data_prefetch_on_node_prio(tile->tile, static_cast<unsigned>(tile->node), 1, tile->priority);
        });
      continue;
    }
    last_loaded_ = now;
    next = to_load_.erase(next);
    unlocked([&] {
      acquire(tile->tile, tile->node, STARPU_R, tile->priority, nullptr, announce, tile, false);
      starpu_data_release_on_node(tile->tile, STARPU_ACQUIRE_NO_NODE);
    });
  }
}

void Neighbours::announce(void* outgoing) {
  auto* const tile = static_cast<Outgoing*>(outgoing);
  auto& of = tile->of;
  const auto columns = columns_on(tile->tile, tile->node);
  const std::lock_guard lock(of.mutex_);
  const auto number = of.announcements_++;
  of.announced_.emplace(number, tile);
  const Message message{Message::Kind::Announced, number, tile->tag, columns, tile->node != STARPU_MAIN_RAM, {}};
  of.messages_.push_back({tile->to, message, tile->node});
  of.something_to_do_.notify_one();
}

void Neighbours::receive(starpu_data_handle_t tile, int from, std::int64_t tag, int priority) {
  auto* incoming = new Incoming{*this, tile, from, tag, priority};  // `finish` deletes it
  {
    const std::lock_guard lock(mutex_);
    receives_++;
    something_to_do_.notify_one();
  }
  const auto unused = [](void* argument) {
    auto* const its = static_cast<Incoming*>(argument);
    const std::lock_guard lock(its->of.mutex_);
    its->of.unused(its);
  };
  if (!peers_) return acquire(tile, STARPU_MAIN_RAM, STARPU_W, priority, nullptr, unused, incoming);
  // `allocate` releases it, so that StarPU continues with the second acquisition.
  acquire(tile, STARPU_ACQUIRE_NO_NODE, STARPU_W, priority, nullptr, unused, incoming);
  const auto choose = [](void* argument, int* node, starpu_data_access_mode) {
    *node = static_cast<Incoming*>(argument)->node;
  };
  const auto allocated = [](void* argument) {
    auto* const its = static_cast<Incoming*>(argument);
    const std::lock_guard lock(its->of.mutex_);
    its->of.allocated(its);
  };
  acquire(tile, STARPU_MAIN_RAM, STARPU_W, priority, choose, allocated, incoming);
}

void Neighbours::unused(Incoming* tile) {
  const Sender sender{tile->from, tile->tag};
  const auto found = not_wanted_.find(sender);
  if (found == not_wanted_.end()) {
    wanted_[sender].push_back(tile);
    return;
  }
  tile->announced = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) not_wanted_.erase(found);
  announced(tile);
}

void Neighbours::announced(Incoming* tile) {
  if (!peers_) return allocated(tile);
  tile->node = tile->announced.on_gpu != 0 ? gpu_for(tile->tag) : STARPU_MAIN_RAM;
  to_allocate_.emplace(tile->priority, tile);
}

void Neighbours::allocated(Incoming* tile) {
  if (!columns_on(tile->tile, tile->node).has_shape_of(tile->announced.columns)) {
    wait_for_a_better_message();
    end_all_processes("a tile of process " + std::to_string(tile->from) +
                      " has a different size there: the processes have not made the same calls");
  }
  if (tile->announced.on_gpu != 0) to_copy_.push_back(tile);
  else divide(tile);
}

bool Neighbours::is_idle() {
  const std::lock_guard lock(mutex_);
  return sends_ == 0 && receives_ == 0;
}

void Neighbours::wait() {
  std::unique_lock lock(mutex_);
  all_arrived_.wait(lock, [this] { return sends_ == 0 && receives_ == 0; });
}

}  // namespace tessera::distributed
