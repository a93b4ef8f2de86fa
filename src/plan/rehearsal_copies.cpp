// SPDX-License-Identifier: BSD-3-Clause
// Where tiles are and how they are copied.
#include <algorithm>
#include <cmath>
#include <functional>

#include "devices/packed_columns.hpp"
#include "rehearsal.hpp"

namespace tessera::plan {

/// Copies of short columns are slow while kernels run. During a copy the GPU is taken to compute until its current
/// operation ends, and afterwards for the same fraction of time as before.
double Rehearsal::copy_seconds(int tile, int gpu, bool in, double start) const {
  const auto& device = machine_.gpus[index(gpu)];
  const auto& sizes = graph_.tiles[index(tile)];
  const double at_best = sizes.bytes / (in ? device.in_rate : device.out_rate);
  if (is_staged()) {  // buffers have no gaps between columns
    const auto& staging = machine_.staging;
    const bool delays = !staging.in_pieces && staging.core_rate > 0;
    return at_best + (pieces(tile) - 1) * device.latency +
           (delays ? std::min<double>(sizes.bytes, device::staging::buffer_bytes) / staging.core_rate : 0);
  }
  const auto& [idle_curve, computing_curve] = device.column_times(in, sizes.apart);
  const double columns = sizes.bytes / sizes.column;
  const double idle = idle_curve.empty() ? at_best : std::max(at_best, columns * idle_curve.seconds(sizes.column));
  if (computing_curve.empty()) return idle;
  const double computing = std::max(idle, columns * computing_curve.seconds(sizes.column));
  const auto& state = state_[index(gpu)];
  const double still = state.running >= 0 ? std::clamp((state.busy_until - start) / idle, 0.0, 1.0) : 0,
               so_far = start > 0 ? std::min(1.0, state.busy / start) : 0;
  return idle + (still + (1 - still) * so_far) * (computing - idle);
}

/// Adds a copy to the copies that share a link. Until this copy starts, others may use the link.
/// @param clock  the time at which the link has passed all earlier copies
/// @return       the time at which it has passed this one, too
double Rehearsal::after(double& clock, double bytes, double rate) const {
  return clock = std::max(clock, now_) + bytes / rate;
}

/// @param from, to  a GPU, or the host
/// @return  the end of a copy, taking into account the links of groups of GPUs that it enters or leaves
double Rehearsal::through_shared(int from, int to, double end, double bytes) {
  for (std::size_t i = 0; i < machine_.shared.size(); i++) {
    const auto& link = machine_.shared[i];
    const auto contains = [&link](int gpu) { return gpu != machine::in_host_memory && (link.gpus >> gpu & 1U) != 0; };
    const bool enters = contains(to);
    if (enters == contains(from)) continue;
    if (!enters) {
      end = std::max(end, after(shared_out_[i], bytes, link.out));
    } else {  // copies to several GPUs get equal parts of the link, so meanwhile each other GPU receives as many bytes
      double all = bytes;
      for (int other = 0; other < gpus_; other++)
        if (other != to && contains(other)) all += std::min(bytes, incoming(other));
      end = std::max(end, now_ + all / link.in);
    }
    if (link.both > 0) end = std::max(end, after(shared_both_[i], bytes, link.both));
  }
  return end;
}

/// The bytes of all copies from the host that a GPU waits for.
double Rehearsal::incoming(int gpu) const {
  const auto& state = state_[index(gpu)];
  const double left = state.in > now_ ? (state.in - now_) / (state.in - std::min(now_, state.in_since)) : 0;
  return state.queued + left * state.in_bytes;
}

/// @return  the end of a direct copy, taking into account other copies of the same GPUs
double Rehearsal::through_direct(int from, int to, double end, double bytes) {
  if (machine_.peers_together <= 0) return end;
  const double sent = after(of(from).sent, bytes, machine_.peers_together),
               received = after(of(to).received, bytes, machine_.peers_together);
  return std::max({end, sent, received});
}

/// @return  the end of a copy, taking into account the threads that stage copies of all GPUs in both directions
double Rehearsal::through_staging(double end, double bytes, bool in) {
  const auto& staging = machine_.staging;
  if (!is_staged() || staging.rate <= 0) return end;
  const bool streams = in && bytes <= staging.largest_streamed;
  return std::max(end, after(staging_, bytes, streams ? staging.rate_streamed : staging.rate));
}

/// The number of pieces in which a tile in pageable memory is copied.
int Rehearsal::pieces(int tile) const {
  const double bytes = graph_.tiles[index(tile)].bytes;
  if (!is_staged() || !machine_.staging.in_pieces) return 1;
  const auto whole = static_cast<std::size_t>(bytes),
             piece = machine_.staging.blocks ? device::staging::piece_bytes(whole, machine_.staging.threads + 1)
                                             : device::staging::posted_piece_bytes(whole);
  return static_cast<int>(std::ceil(bytes / static_cast<double>(piece)));
}

/// Seconds in which the host copies a piece. Different threads copy the parts of a posted piece. The link waits for the
/// first piece on its way to a GPU, and the caller for the last one on its way back.
double Rehearsal::fills_buffer(int tile) const {
  const auto& staging = machine_.staging;
  if (!is_staged() || !staging.in_pieces || staging.rate <= 0) return 0;
  const double piece = graph_.tiles[index(tile)].bytes / pieces(tile),
               part = staging.blocks ? piece : std::min(piece, static_cast<double>(device::staging::part_bytes));
  return std::max(piece / staging.rate, part / staging.core_rate);
}

/// Seconds until a copy between host and GPU has been handed to the driver.
double Rehearsal::begins_copy(int tile) const {
  return std::max(graph_.tiles[index(tile)].calls, pieces(tile)) * machine_.runtime.copy;
}

void Rehearsal::copy_to_host(int tile, int gpu, double from) {
  const auto& device = machine_.gpus[index(gpu)];
  auto& state = of(gpu);
  const bool blocks = is_staged() && machine_.staging.blocks;
  const double start = std::max({from, state.out, device.half_duplex ? state.in : 0, blocks ? state.thread_until : 0});
  state.thread_until = std::max(state.thread_until, from) + begins_copy(tile);
  const double alone = start + device.latency + copy_seconds(tile, gpu, false, start);
  const double bytes = graph_.tiles[index(tile)].bytes;
  state.out = through_staging(through_shared(gpu, machine::in_host_memory, alone, bytes), bytes, false);
  state.copies_out += state.out - start;
  if (device.half_duplex) state.in = state.out;
  host_[index(tile)] = state.out + fills_buffer(tile);
  if (blocks) state.thread_until = host_[index(tile)];
}

/// Copies a result back to where it was, unless it stays on the GPU that has computed it.
void Rehearsal::bring_home(int tile, int gpu) {
  const auto& sizes = graph_.tiles[index(tile)];
  if (sizes.temporary || !sizes.returns) return;
  if (sizes.home == machine::in_host_memory) copy_to_host(tile, gpu, now_);
  else request(tile, sizes.home, static_cast<int>(graph_.operations.size()));
}

/// Notes that a GPU has reserved an operation, or no longer needs its tiles.
/// @param change  1 or −1
void Rehearsal::pin(const Operation& operation, int gpu, int change) {
  if (!evicts_) return;
  const auto note = [&](int tile) {
    auto& pins = pins_[place(tile, gpu)];
    if (pins == 0 || pins + change == 0) of(gpu).needed += change * graph_.tiles[index(tile)].bytes;
    pins += change;
    last_use_[place(tile, gpu)] = ++uses_;
  };
  for_each_input(operation, note);
  for_each_output(operation, note);
}

/// Takes a tile from a GPU.
void Rehearsal::drop(int tile, int gpu) {
  if (evicts_ && is_on(tile, gpu)) {
    of(gpu).filled -= graph_.tiles[index(tile)].bytes;
    std::erase(of(gpu).tiles, tile);
  }
  at(tile, gpu) = never;
}

/// Takes a tile from a GPU that needs its memory. A result that is nowhere else is copied to the host.
void Rehearsal::evict(int tile, int gpu) {
  bool elsewhere = host_[index(tile)] < never;
  for (int other = 0; other < gpus_; other++) elsewhere = elsewhere || (other != gpu && is_on(tile, other));
  if (!elsewhere) copy_to_host(tile, gpu, now_);
  drop(tile, gpu);
}

/// Evicts the tiles that a GPU has not used for the longest time, until another tile fits.
/// @return  when there is room
double Rehearsal::make_room(int tile, int gpu) {
  if (!evicts_) return now_;
  auto& state = of(gpu);
  double room = now_;
  state.filled += graph_.tiles[index(tile)].bytes;
  while (state.filled > machine_.memory) {
    int oldest = -1;
    for (const int other : state.tiles)
      if (pins_[place(other, gpu)] == 0 && at(other, gpu) <= now_ &&
          (oldest < 0 || last_use_[place(other, gpu)] < last_use_[place(oldest, gpu)]))
        oldest = other;
    if (oldest < 0) break;
    evict(oldest, gpu);
    if (host_[index(oldest)] < never) room = std::max(room, host_[index(oldest)]);
  }
  state.tiles.push_back(tile);
  last_use_[place(tile, gpu)] = ++uses_;
  return room;
}

/// A GPU that has the tile and sends it over the links to the host; -1: none.
int Rehearsal::sender_on_bus(int tile, int gpu) const {
  for (int peer = 0; peer < gpus_; peer++)
    if (peer != gpu && is_on(tile, peer) && machine_.is_peer(peer, gpu) && machine_.peer(peer, gpu).bus) return peer;
  return -1;
}

/// @pre  the link is free
void Rehearsal::copy_from_host(int tile, int gpu) {
  const auto& device = machine_.gpus[index(gpu)];
  auto& state = of(gpu);
  const double bytes = graph_.tiles[index(tile)].bytes;
  // The link was idle, so the copy starts only after the request has been handed to the driver.
  const bool rests = state.in < now_;
  const double handed = rests ? machine_.runtime.push + machine_.runtime.notice : 0;
  const double room = make_room(tile, gpu);
  if (const int peer = sender_on_bus(tile, gpu); peer >= 0) {
    const auto& link = machine_.peer(peer, gpu);
    const double start = std::max({now_ + handed, room, at(tile, peer), of(peer).out});
    forecast_.bytes_between += bytes;
    state.in_since = now_, state.in_bytes = bytes;
    state.in = of(peer).out = through_shared(peer, gpu, start + link.latency + bytes / link.rate, bytes);
    state.copies_in += state.in - start, of(peer).copies_out += state.in - start;
    return arrives(tile, gpu, state.in);
  }
  const bool blocks = is_staged() && machine_.staging.blocks;
  // The link copies the first piece while the others are handed to the driver.
  const double first = begins_copy(tile) / pieces(tile) + fills_buffer(tile),
               begun = std::max(now_, blocks ? state.thread_until : 0) + handed + (rests ? first : 0),
               start = std::max({begun, room, host_[index(tile)], device.half_duplex ? state.out : 0});
  forecast_.bytes_in += bytes;
  const double alone = start + device.latency + copy_seconds(tile, gpu, true, start);
  state.in_since = now_, state.in_bytes = bytes;
  state.in = through_staging(through_shared(machine::in_host_memory, gpu, alone, bytes), bytes, true);
  state.copies_in += state.in - start;
  if (device.half_duplex) state.out = state.in;
  if (is_staged() && machine_.staging.in_pieces)
    state.thread_until = blocks ? state.in : std::max(state.thread_until, now_) + begins_copy(tile);
  arrives(tile, gpu, state.in);
}

/// Records when the copy of a tile ends. Call this when the copy starts: waiting GPUs then learn about its end.
void Rehearsal::arrives(int tile, int gpu, double when) {
  at(tile, gpu) = when;
  requested_[index(tile)] &= ~(1U << gpu);
  tiles_change(gpu);
  ask_again(tile);
}

/// Decides again for all GPUs that waited for a copy of a tile to start.
void Rehearsal::ask_again(int tile) {
  for (int next = std::exchange(first_waiter_[index(tile)], -1); next >= 0;) {
    const auto waiter = waiters_[index(next)];
    next = waiter.next;
    request(tile, waiter.gpu, waiter.priority);
  }
}

/// Requests a tile from the GPU that can send it first, from a GPU that will receive it, or from the host.
void Rehearsal::request(int tile, int gpu, int priority) {
  if (is_on(tile, gpu) || will_be_on(tile, gpu)) return;
  int from = -1, holder = -1, receiver = -1;
  double first = never;
  for (int peer = 0; peer < gpus_; peer++) {
    if (peer == gpu) continue;
    if (is_on(tile, peer)) {
      holder = peer;
      if (!machine_.is_peer(peer, gpu)) continue;
      const double start = std::max({now_ + machine_.runtime.notice + machine_.runtime.push,
                                     at(tile, peer) + machine_.runtime.push, pair_[index(peer * gpus_ + gpu)]});
      if (start < first) first = start, from = peer;
    } else if (will_be_on(tile, peer) && machine_.is_peer(peer, gpu)) {
      receiver = peer;
    }
  }
  if (from >= 0 && !machine_.peer(from, gpu).bus) {
    const auto& link = machine_.peer(from, gpu);
    const auto& sizes = graph_.tiles[index(tile)];
    const double begins = gpu == sizes.home ? sizes.calls_home * machine_.runtime.copy : 0;
    forecast_.bytes_between += sizes.bytes;
    first = std::max(first, make_room(tile, gpu));
    const double alone = first + begins + link.latency + sizes.bytes / link.rate;
    const double end = pair_[index(from * gpus_ + gpu)] =
        through_shared(from, gpu, through_direct(from, gpu, alone, sizes.bytes), sizes.bytes);
    return arrives(tile, gpu, end);
  }
  if (from < 0 && receiver >= 0) {
    waiters_.push_back({gpu, priority, first_waiter_[index(tile)]});
    first_waiter_[index(tile)] = static_cast<int>(waiters_.size()) - 1;
    return;
  }
  if (holder < 0 && host_[index(tile)] == never) return;  // not written yet: another GPU took over the operation
  requested_[index(tile)] |= 1U << gpu;
  if (from < 0 && host_[index(tile)] == never) copy_to_host(tile, holder, std::max(now_, at(tile, holder)));
  request_from_host({priority, tile}, gpu, from >= 0 ? at(tile, from) : host_[index(tile)]);
}

void Rehearsal::request_from_host(Request request, int gpu, double when) {
  auto& state = of(gpu);
  if (when > now_) return state.later.push_back({when, request});
  state.queued += graph_.tiles[index(request.tile)].bytes;
  state.requests.push_back(request);
  std::ranges::push_heap(state.requests, std::greater<>(), &Request::priority);
}

/// When the link of a GPU can start its next copy from the host.
double Rehearsal::next_copy(const GpuState& gpu) const {
  if (!gpu.requests.empty()) return gpu.in;
  if (gpu.later.empty()) return never;
  double first = never;
  for (const auto& later : gpu.later) first = std::min(first, later.time);
  return std::max(gpu.in, first);
}

void Rehearsal::serve_link(int gpu) {
  auto& state = of(gpu);
  for (std::size_t i = 0; i < state.later.size();) {
    if (state.later[i].time > now_) {
      i++;
      continue;
    }
    request_from_host(state.later[i].request, gpu, now_);
    state.later[i] = state.later.back();
    state.later.pop_back();
  }
  while (!state.requests.empty()) {
    const auto [priority, tile] = state.requests.front();
    std::ranges::pop_heap(state.requests, std::greater<>(), &Request::priority);
    state.requests.pop_back();
    state.queued -= graph_.tiles[index(tile)].bytes;
    if (is_on(tile, gpu)) continue;
    if (host_[index(tile)] < never || sender_on_bus(tile, gpu) >= 0) return copy_from_host(tile, gpu);
    // The tile has been overwritten since the request.
    requested_[index(tile)] &= ~(1U << gpu);
    request(tile, gpu, priority);
    if (!will_be_on(tile, gpu)) ask_again(tile);
  }
}

}  // namespace tessera::plan
