// SPDX-License-Identifier: BSD-3-Clause
// The threads of Neighbours: the courier, which exchanges messages and drives copies between GPUs, and the readers,
// which copy from host memory.
#include <sys/prctl.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <tessera/error.hpp>

#include "agreement.hpp"
#include "neighbours.hpp"
#include "process_watch.hpp"

namespace tessera::distributed {

namespace {

/// Ends all processes if an attempt to read between GPUs fails.
/// @param processes  by rank; 0: none
template <typename Attempt>
auto or_end(const std::vector<pid_t>& processes, Attempt attempt) {
  try {
    return attempt();
  } catch (const RuntimeError& failure) {
    require_living(processes);
    wait_for_a_better_message();
    end_all_processes(std::string("cannot read tiles between the GPUs of processes: ") + failure.what() +
                      ". With TESSERA_GPU_READS=0, processes read tiles from host memory");
  }
}

}  // namespace

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

void Neighbours::divide(Incoming* tile) {
  constexpr std::size_t piece_bytes = std::size_t{2} << 20;
  const auto& source = tile->announced.columns;
  const auto target = columns_on(tile->tile, tile->node);
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
      require_living(process_of_);
      wait_for_a_better_message();
      end_all_processes("cannot read a tile from the memory of process " + std::to_string(from) + ": " +
                        std::strerror(error) + ". With TESSERA_NODE_READS=off, MPI sends tiles");
    }
    lock.lock();
    if (--piece.tile->left == 0) finish(piece.tile, lock);
  }
}

void Neighbours::finish(Incoming* tile, std::unique_lock<std::mutex>& lock) {
  const auto bytes = tile->announced.columns.total();
  lock.unlock();
  starpu_data_release_on_node(tile->tile, tile->node);
  lock.lock();
  if (peers_) allocated_ -= bytes;
  messages_.push_back({tile->from, {Message::Kind::Read, tile->announced.number, 0, {}, 0, {}}});
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
    announced(tile);
    return;
  }
  const auto found = announced_.find(message.number);
  assert(found != announced_.end());
  auto* const tile = found->second;
  announced_.erase(found);
  lock.unlock();
  tile->sent += tile->bytes;
  const auto bytes = columns_on(tile->tile, tile->node).total();
  const int node = tile->node;
  starpu_data_release_on_node(tile->tile, node);
  delete tile;
  lock.lock();
  if (node != STARPU_MAIN_RAM) held_[node] -= bytes;
  if (--sends_ == 0 && receives_ == 0) all_arrived_.notify_all();
}

void Neighbours::allocate(std::unique_lock<std::mutex>& lock) {
  while (!to_allocate_.empty()) {
    auto* const tile = to_allocate_.begin()->second;
    const auto bytes = tile->announced.columns.total();
    if (allocated_ > 0 && allocated_ + bytes > most_allocated_) return;
    to_allocate_.erase(to_allocate_.begin());
    allocated_ += bytes;
    lock.unlock();
    starpu_data_release_on_node(tile->tile, STARPU_ACQUIRE_NO_NODE);
    lock.lock();
  }
}

void Neighbours::copy_between_gpus(std::unique_lock<std::mutex>& lock) {
  const auto to_copy = std::exchange(to_copy_, {});
  lock.unlock();
  std::vector<Incoming*> ended;
  or_end(process_of_, [&] {
    for (auto* const tile : to_copy)
      peers_->start(tile->announced.name, tile->announced.columns, static_cast<unsigned>(tile->node),
                    columns_on(tile->tile, tile->node), tile);
    while (void* const tile = peers_->next_ended()) ended.push_back(static_cast<Incoming*>(tile));
  });
  lock.lock();
  for (auto* const tile : ended) finish(tile, lock);
}

void Neighbours::serve_messages() {
  constexpr std::chrono::microseconds pause(20);
#ifdef PR_SET_TIMERSLACK
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // otherwise, the system may prolong each pause by 50 µs
#endif
  std::unique_lock lock(mutex_);
  while (true) {
    const auto any = [this] { return receives_ > 0 || !announced_.empty() || !to_load_.empty() || !messages_.empty(); };
    something_to_do_.wait(lock, [&] { return ends_ || any(); });
    if (!any()) return;
    if (peers_) {
      load(lock);
      allocate(lock);
      copy_between_gpus(lock);
    }
    auto messages = std::exchange(messages_, {});
    lock.unlock();
    int read = 0;
    for (auto& post : messages) {  // so short that MPI waits for the receiver only if it has no space
      auto& message = post.message;
      if (message.on_gpu != 0)
        message.name = or_end(process_of_,
                              [&] { return peers_->name(static_cast<unsigned>(post.node), message.columns.address); });
      MPI_Send(&message, sizeof(message), MPI_BYTE, post.to, 0, comm_);
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

}  // namespace tessera::distributed
