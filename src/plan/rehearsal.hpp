// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "machine_model.hpp"

namespace tessera::plan {

inline constexpr double never = std::numeric_limits<double>::infinity();

/// The result of a rehearsal.
struct Forecast {
  double seconds = never;    ///< time of the call; `never`: the rehearsal was abandoned
  double bytes_in = 0;       ///< copied from the host
  double bytes_between = 0;  ///< copied from GPU to GPU
  int steals = 0;
  std::string bound;   ///< the bottleneck of the call
  double longest = 0;  ///< time of the bottleneck [s]
};

/// Runs a graph on a model of a machine as a discrete-event simulation. In each event, the program submits an
/// operation, or a GPU finishes one, is handed one, or starts a copy from the host. The model follows the policy where
/// it matters: which tasks a GPU reserves, in which order and from where it requests their tiles, and which GPU steals.
///
/// Copies are served by priority, which is the position in the graph. The end of a copy is known as soon as it starts.
class Rehearsal {
 public:
  Rehearsal(const Machine& machine, const Graph& graph) : machine_(machine), graph_(graph) {}
  Rehearsal(const Machine& machine, const Graph& graph, int gpus) : Rehearsal(machine, graph) { prepare(gpus); }

  /// Prepares to run the graph as it is now. A rehearsal can be used again, which saves it from allocating memory.
  /// @param gpus  number of GPUs that take part, counted from GPU 0; at most 32. 0: CPU workers compute everything
  void prepare(int gpus);
  /// @param limit  predicted seconds after which the rehearsal stops
  Forecast run(double limit = never);
  /// Adds the bottleneck of the call to a forecast. @pre  the rehearsal has run to its end
  void explain(Forecast& forecast);
  std::size_t finished() const noexcept { return finished_ - finished_on_cores_; }  ///< number of operations on GPUs

 private:
  struct Request {
    int priority, tile;
  };
  struct LaterRequest {
    double time;  ///< when the source will have the tile
    Request request;
  };
  struct Waiter {
    int gpu, priority, next;
  };
  struct GpuState {
    double busy_until = 0, busy = 0;
    double in = 0, out = 0;                ///< when the link is free
    double in_since = 0, in_bytes = 0;     ///< the start and the bytes of its last copy from the host
    double queued = 0;                     ///< bytes of `requests`
    double copies_in = 0, copies_out = 0;  ///< seconds in which it copied
    double sent = 0, received = 0;         ///< until when its links to other GPUs are busy sending and receiving
    double thread_until = 0;               ///< when the thread that drives the GPU has begun the copies to the host
    double start = never;                  ///< when it can be handed a reserved operation
    double popped_at = 0;
    int running = -1, popped = -1;
    int unfinished = 0;             ///< operations on tiles whose home is here
    std::vector<int> ready;         ///< min-heap of operations by position in the graph
    std::vector<int> front;         ///< the first few, taken off the heap
    std::vector<int> station;       ///< reserved operations, in order
    std::vector<Request> requests;  ///< heap of tiles that are on the host
    std::vector<LaterRequest> later;
    double filled = 0, needed = 0;  ///< bytes of its tiles, and of those that its reserved operations need
    std::vector<int> tiles;         ///< in its memory, if that may overflow
    /// Forgets everything but the memory of its lists.
    void clear() {
      GpuState empty;
      for (const auto list : {&GpuState::ready, &GpuState::front, &GpuState::station, &GpuState::tiles})
        (this->*list).clear(), (empty.*list).swap(this->*list);
      requests.clear(), empty.requests.swap(requests);
      later.clear(), empty.later.swap(later);
      *this = std::move(empty);
    }
    std::size_t backlog() const { return ready.size() + front.size() + station.size(); }
    int popped_count() const { return (running >= 0 ? 1 : 0) + (popped >= 0 ? 1 : 0); }
  };
  /// A core that computes operations beside the GPUs, on tiles in host memory.
  struct CoreState {
    double busy_until = 0;
    int running = -1;
    std::vector<int> ready;  ///< min-heap of operations by position in the graph
  };
  struct Known {
    TaskWork work{.flops = -1};
    double seconds = 0;
  };

  // rehearsal_copies.cpp
  std::size_t place(int tile, int gpu) const { return index(tile) * index(gpus_) + index(gpu); }
  double& at(int tile, int gpu) { return at_[place(tile, gpu)]; }
  bool is_on(int tile, int gpu) const { return at_[place(tile, gpu)] < never; }
  bool will_be_on(int tile, int gpu) const { return (requested_[index(tile)] >> gpu & 1U) != 0; }
  bool is_staged() const { return graph_.operands == machine::in_pageable_memory; }
  int pieces(int tile) const;
  double fills_buffer(int tile) const;
  double begins_copy(int tile) const;
  double copy_seconds(int tile, int gpu, bool in, double start) const;
  double after(double& clock, double bytes, double rate) const;
  double through_direct(int from, int to, double end, double bytes);
  double through_shared(int from, int to, double end, double bytes);
  double incoming(int gpu) const;
  int sender_on_bus(int tile, int gpu) const;
  double through_staging(double end, double bytes, bool in);
  void copy_to_host(int tile, int gpu, double from);
  void bring_home(int tile, int gpu);
  void copy_from_host(int tile, int gpu);
  void arrives(int tile, int gpu, double when);
  void ask_again(int tile);
  void request(int tile, int gpu, int priority);
  void request_from_host(Request request, int gpu, double when);
  double next_copy(const GpuState& gpu) const;
  void serve_link(int gpu);
  void pin(const Operation& operation, int gpu, int change);
  double make_room(int tile, int gpu);
  void evict(int tile, int gpu);
  void drop(int tile, int gpu);

  // rehearsal_policy.cpp
  /// The GPUs that are much faster at an operation than another GPU.
  struct Faster {
    std::vector<int> gpus;
    double rate = 0, seconds = never;  ///< of all of them [1/s], and of the fastest one [s]
  };
  double seconds_to_fetch(const Operation& operation, int gpu) const;
  Faster faster_than(int gpu, const Operation& operation);
  std::size_t before(int number, const Faster& faster, std::size_t most) const;
  bool leaves_to_faster(int number, int gpu);
  void decline(int gpu);
  void fill_front(GpuState& state);
  int cheapest(const std::vector<int>& numbers, int gpu) const;
  int choose(int gpu);
  int steal(int gpu);
  bool pays(int victim, int gpu, const Operation& operation, double fetch);

  // rehearsal_cores.cpp
  void add_core(const Operation& operation);
  bool is_on_core(int number) const { return working_ > 0 && graph_.core_of(operation(number)) >= 0; }
  CoreState& core(int number) { return cores_[index(graph_.core_of(operation(number)))]; }
  double core_seconds(const Operation& operation) const;
  double complete_on_host(const Operation& operation) const;
  void bring_to_host(const Operation& operation);
  void begin_on(CoreState& core);
  void begin_on_cores();
  void end_on(CoreState& core);
  Forecast run_on_cores(double limit);

  // rehearsal.cpp
  GpuState& of(int gpu) { return state_[index(gpu)]; }
  const Operation& operation(int number) const { return graph_.operations[index(number)]; }
  /// The tiles that an operation reads but does not write.
  template <typename Use>
  void for_each_input(const Operation& operation, Use use) const {
    for (const int tile : operation.inputs)
      if (tile >= 0) use(tile);
    for (const auto& further : graph_.further_of(operation))
      if (!further.writes) use(further.tile);
  }
  template <typename Use>
  void for_each_output(const Operation& operation, Use use) const {
    use(operation.output);
    for (const auto& further : graph_.further_of(operation))
      if (further.writes) use(further.tile);
  }
  /// The tiles that an operation needs.
  template <typename Use>
  void for_each_read(const Operation& operation, Use use) const {
    for_each_input(operation, use);
    if (operation.reads_output) use(operation.output);
    for (const auto& further : graph_.further_of(operation))
      if (further.writes && further.reads) use(further.tile);
  }
  int home(int number) const { return home_[index(operation(number).output)]; }
  double seconds(const Operation& operation, int gpu);
  double shortest(const Operation& operation);
  void follows(int earlier, int number);
  void becomes_ready(int number);
  void move(int tile, int gpu);
  bool reserve(int gpu);
  void reserve_all();
  double complete_at(const Operation& operation, int gpu);
  void tiles_change(int gpu);
  void start_reserved(int gpu);
  void begin(int gpu);
  void end(int gpu);
  bool submit_next();
  double critical_path();
  bool next_event();
  void release_followers(int number);
  Forecast forecast(double last);

  const Machine& machine_;
  const Graph& graph_;
  int working_ = 0;  ///< the number of GPUs that take part
  int gpus_ = 0;     ///< number of modelled GPUs, see `gpus_with_tiles`
  double now_ = 0;
  bool alike_ = true;      ///< whether all GPUs that take part are alike
  bool declined_ = false;  ///< whether a GPU has left operations to others since they last looked
  double left_ = 0;        ///< total time of all operations that have not begun, each on its fastest GPU
  Forecast forecast_;
  std::vector<GpuState> state_;
  std::vector<CoreState> cores_;     ///< those that own operations
  std::vector<double> at_;           ///< when a tile is on a GPU
  std::vector<double> host_;         ///< when it is on the host
  std::vector<unsigned> requested_;  ///< GPUs to which a tile will be copied
  std::vector<int> first_waiter_;    ///< head of a list: GPUs waiting until a copy of this tile has started
  std::vector<Waiter> waiters_;
  std::vector<double> shared_out_, shared_both_, pair_;
  double staging_ = 0;                                     ///< when the threads that stage copies are free
  std::vector<int> home_, writes_left_, writer_, reader_;  ///< per tile; writer and reader: the last ones
  std::vector<int> later_writes_;                          ///< per tile: by operations that are not added yet
  std::vector<int> pending_, first_follower_;  ///< per operation; what it waits for, including its own submission
  std::vector<std::pair<int, int>> followers_, readers_;  ///< (operation, next in the list)
  std::size_t submitted_ = 0, finished_ = 0, finished_on_cores_ = 0;
  std::vector<double> complete_;      ///< when all inputs of a reserved operation have arrived
  std::vector<Known> known_;          ///< durations, by kind and GPU
  bool evicts_ = false;               ///< whether the tiles may not fit into a GPU's memory
  int uses_ = 0;                      ///< number of reservations so far
  std::vector<int> last_use_, pins_;  ///< by tile and GPU: that number, and reserved operations that need it
};

}  // namespace tessera::plan
