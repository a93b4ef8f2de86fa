// SPDX-License-Identifier: BSD-3-Clause
#include "neighbours.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <tessera/error.hpp>

#include "agreement.hpp"
#include "common/variables.hpp"

namespace tessera::detail {

namespace {

/// For shorter tiles, MPI takes less time than two messages and waking a thread.
constexpr std::size_t usual_least_bytes = std::size_t{64} << 10;
constexpr std::size_t never = ~std::size_t{0};

Columns columns_of(starpu_data_handle_t tile) {
  const auto& matrix =
      *static_cast<const starpu_matrix_interface*>(starpu_data_get_interface_on_node(tile, STARPU_MAIN_RAM));
  return {matrix.ptr, matrix.nx * matrix.elemsize, matrix.ld * matrix.elemsize, matrix.ny};
}

/// Calls acquired(argument) when the tile is in host memory, as StarPU-MPI does.
void acquire(starpu_data_handle_t tile, starpu_data_access_mode mode, int priority, void (*acquired)(void*),
             void* argument) {
  starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(tile, STARPU_MAIN_RAM, mode, nullptr, acquired,
                                                                    argument, 1, 1, nullptr, nullptr, priority);
}

}  // namespace

std::size_t Neighbours::least_bytes_asked_for() {
  const auto text = text_of(variables::node_reads);
  if (text.empty()) return usual_least_bytes;
  if (text == "off") return never;
  if (const auto bytes = as_number<std::size_t>(text)) return *bytes;
  refuse(variables::node_reads);
}

Neighbours::Neighbours(MPI_Comm comm, std::size_t least_bytes, int readers) : comm_(comm) {
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
  MPI_Comm_free(&node);
  if (all_started == 0) return;
  for (std::size_t i = 0; i < ranks.size(); i++) process_of_[static_cast<std::size_t>(ranks[i])] = processes[i];
  process_of_[static_cast<std::size_t>(rank)] = 0;
}

bool Neighbours::start_threads(int readers) {
  try {
    courier_ = std::thread([this] { serve_messages(); });
    for (int i = 0; i < readers; i++) readers_.emplace_back([this] { read_pieces(); });
  } catch (const std::system_error&) {  // the system allows no further threads
  }
  return !readers_.empty();
}

Neighbours::~Neighbours() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  something_to_do_.notify_all();
  pieces_to_read_.notify_all();
  if (courier_.joinable()) courier_.join();
  for (auto& reader : readers_) reader.join();
}

bool Neighbours::carry(starpu_data_handle_t tile, int rank) const {
  if (process_of_[static_cast<std::size_t>(rank)] == 0) return false;
  if (starpu_data_get_interface_id(tile) != STARPU_MATRIX_INTERFACE_ID) return false;
  return starpu_matrix_get_nx(tile) * std::size_t{starpu_matrix_get_ny(tile)} * starpu_matrix_get_elemsize(tile) >=
         std::max<std::size_t>(least_bytes_, 1);
}

void Neighbours::send(starpu_data_handle_t tile, int to, std::int64_t tag, int priority,
                      std::atomic<std::uint64_t>& sent, std::uint64_t bytes) {
  auto* outgoing = new Outgoing{*this, tile, to, tag, sent, bytes};  // `handle` deletes it
  {
    const std::lock_guard lock(mutex_);
    sends_++;
  }
  const auto acquired = [](void* argument) {
    auto* const its = static_cast<Outgoing*>(argument);
    its->of.announce(its);
  };
  acquire(tile, STARPU_R, priority, acquired, outgoing);
}

void Neighbours::announce(Outgoing* tile) {
  const auto columns = columns_of(tile->tile);
  const std::lock_guard lock(mutex_);
  const auto number = announcements_++;
  announced_.emplace(number, tile);
  messages_.emplace_back(tile->to, Message{Message::Kind::Announced, number, tile->tag, columns});
  something_to_do_.notify_one();
}

void Neighbours::receive(starpu_data_handle_t tile, int from, std::int64_t tag, int priority) {
  auto* incoming = new Incoming{*this, tile, from, tag, priority, {}, 0};  // `finish` deletes it
  {
    const std::lock_guard lock(mutex_);
    receives_++;
    something_to_do_.notify_one();
  }
  const auto acquired = [](void* argument) {
    auto* const its = static_cast<Incoming*>(argument);
    its->of.allocated(its);
  };
  acquire(tile, STARPU_W, priority, acquired, incoming);
}

void Neighbours::allocated(Incoming* tile) {
  const std::lock_guard lock(mutex_);
  const Sender sender{tile->from, tile->tag};
  const auto found = not_wanted_.find(sender);
  if (found == not_wanted_.end()) {
    wanted_[sender].push_back(tile);
    return;
  }
  tile->announced = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) not_wanted_.erase(found);
  divide(tile);
}

void Neighbours::divide(Incoming* tile) {
  constexpr std::size_t piece_bytes = std::size_t{2} << 20;
  const auto& source = tile->announced.columns;
  const auto target = columns_of(tile->tile);
  if (target.bytes != source.bytes || target.count != source.count) {
    wait_for_a_better_message();
    end_all_processes("a tile of process " + std::to_string(tile->from) +
                      " has a different size there: the processes have not made the same calls");
  }
  const auto columns = std::max<std::size_t>(1, piece_bytes / std::max<std::size_t>(source.bytes, 1));
  for (std::size_t first = 0; first < source.count; first += columns) {
    const auto count = std::min(columns, source.count - first);
    pieces_.emplace(tile->priority, Piece{tile, source.part(first, count), target.part(first, count)});
    tile->left++;
  }
  pieces_to_read_.notify_all();
}

void Neighbours::read_pieces() {
  std::unique_lock lock(mutex_);
  while (true) {
    pieces_to_read_.wait(lock, [this] { return ends_ || !pieces_.empty(); });
    if (pieces_.empty()) return;
    const auto piece = pieces_.begin()->second;
    pieces_.erase(pieces_.begin());
    lock.unlock();
    const int from = piece.tile->from;
    if (const int error = read_columns(process_of_[static_cast<std::size_t>(from)], piece.source, piece.target)) {
      wait_for_a_better_message();
      end_all_processes("cannot read a tile from the memory of process " + std::to_string(from) + ": " +
                        std::strerror(error) + ". With TESSERA_NODE_READS=off, MPI sends tiles");
    }
    lock.lock();
    if (--piece.tile->left == 0) finish(piece.tile, lock);
  }
}

void Neighbours::finish(Incoming* tile, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  starpu_data_release_on_node(tile->tile, STARPU_MAIN_RAM);
  lock.lock();
  messages_.emplace_back(tile->from, Message{Message::Kind::Read, tile->announced.number, 0, {}});
  delete tile;
  something_to_do_.notify_one();
}

void Neighbours::handle(int from, const Message& message) {
  std::unique_lock lock(mutex_);
  if (message.kind == Message::Kind::Announced) {
    const Sender sender{from, message.tag};
    const auto found = wanted_.find(sender);
    if (found == wanted_.end()) {
      not_wanted_[sender].push_back(message);
      return;
    }
    auto* const tile = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) wanted_.erase(found);
    tile->announced = message;
    divide(tile);
    return;
  }
  const auto found = announced_.find(message.number);
  assert(found != announced_.end());
  auto* const tile = found->second;
  announced_.erase(found);
  lock.unlock();
  tile->sent += tile->bytes;
  starpu_data_release_on_node(tile->tile, STARPU_MAIN_RAM);
  delete tile;
  lock.lock();
  if (--sends_ == 0 && receives_ == 0) all_arrived_.notify_all();
}

void Neighbours::serve_messages() {
  constexpr std::chrono::microseconds pause(20);
  std::unique_lock lock(mutex_);
  while (true) {
    const auto any = [this] { return receives_ > 0 || !announced_.empty() || !messages_.empty(); };
    something_to_do_.wait(lock, [&] { return ends_ || any(); });
    if (!any()) return;
    const auto messages = std::exchange(messages_, {});
    lock.unlock();
    int read = 0;
    for (const auto& [to, message] : messages) {  // too short for MPI to wait for the receiver, unless it lacks space
      MPI_Send(&message, sizeof(message), MPI_BYTE, to, 0, comm_);
      read += message.kind == Message::Kind::Read;
    }
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &arrived, &status);
    if (arrived != 0) {
      Message message{};
      MPI_Recv(&message, sizeof(message), MPI_BYTE, status.MPI_SOURCE, 0, comm_, MPI_STATUS_IGNORE);
      handle(status.MPI_SOURCE, message);
    } else if (messages.empty()) {
      std::this_thread::sleep_for(pause);
    }
    lock.lock();
    if (read > 0 && (receives_ -= read) == 0 && sends_ == 0) all_arrived_.notify_all();
  }
}

bool Neighbours::is_idle() {
  const std::lock_guard lock(mutex_);
  return sends_ == 0 && receives_ == 0;
}

void Neighbours::wait() {
  std::unique_lock lock(mutex_);
  all_arrived_.wait(lock, [this] { return sends_ == 0 && receives_ == 0; });
}

}  // namespace tessera::detail
