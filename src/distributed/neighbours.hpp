// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <starpu.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/not_copyable.hpp"
#include "devices/peer_memory.hpp"
#include "remote_memory.hpp"

namespace tessera::distributed {

/// Reads tiles from the memory of other processes on this node. With MPI, one thread per process would copy messages,
/// and would first have to pack columns. Here, several threads read columns directly into place. Only short messages
/// use MPI: the owner announces a tile that is in its memory, and leaves it unchanged until the reader confirms.
///
/// If the processes can read each other's GPU memory, the owner announces a tile on the GPU that has usually computed
/// it, and the reader copies it to its own GPU. A tile in host memory is first loaded to a GPU of its owner, among the
/// prefetches of the owner's tasks and by priority. The owner holds only part of its GPU's memory for readers, and
/// announces other tiles in host memory. A reader allocates memory only for a few announced tiles at a time, so tiles
/// that wait for memory cannot block each other.
class Neighbours : common::NotCopyable {
 public:
  /// The minimum size of a tile that is read from memory, according to the environment [bytes].
  /// @throws RuntimeError if it is not a number
  static std::size_t least_bytes_asked_for();

  /// Collective over `comm`, which must not be used for anything else.
  /// @param least_bytes  the largest value of all processes counts
  /// @param readers      number of copying threads
  /// @param peers        this process's GPUs, if all processes of the node can read those of the others; or null
  Neighbours(MPI_Comm comm, std::size_t least_bytes, int readers, std::unique_ptr<device::PeerMemory> peers);
  /// @pre  `wait` has returned, and no tile has been sent or received since
  ~Neighbours();

  /// Whether a tile to or from a process is read from memory. Both processes get the same answer.
  bool carry(starpu_data_handle_t tile, int rank) const;

  /// Sends a tile once the tasks submitted so far have written it.
  /// @param tag    identifies the tile in all processes
  /// @param sent   increased by `bytes` when the tile has arrived
  void send(starpu_data_handle_t tile, int to, std::int64_t tag, int priority, std::atomic<std::uint64_t>& sent,
            std::uint64_t bytes);
  /// Receives a tile. Tasks submitted later wait for it.
  /// @param priority  tiles of higher priority are read first
  void receive(starpu_data_handle_t tile, int from, std::int64_t tag, int priority);
  /// Waits until all tiles have arrived, in both directions.
  void wait();
  /// Whether `wait` would return at once.
  bool is_idle();
  /// Process numbers by rank; 0: this process reads nothing from that rank.
  const std::vector<pid_t>& processes() const noexcept { return process_of_; }

 private:
  /// A message from one process to another.
  struct Message {
    enum class Kind : std::uint64_t { Announced, Read } kind;
    std::uint64_t number;     ///< number of the sender's announcement
    std::int64_t tag;         ///< of an announced tile
    device::Columns columns;  ///< the announced tile, in the memory of the sender
    std::uint64_t on_gpu;     ///< whether that memory is on a GPU
    device::PeerMemory::Name name;
  };
  struct Outgoing {
    Neighbours& of;
    starpu_data_handle_t tile;
    int to;
    std::int64_t tag;
    int priority;
    std::atomic<std::uint64_t>& sent;
    std::uint64_t bytes;
    int node = -1;  ///< the memory node that it is read from, once that is chosen
  };
  struct Incoming {
    Neighbours& of;
    starpu_data_handle_t tile;
    int from;
    std::int64_t tag;
    int priority;
    Message announced = {};
    std::size_t left = 0;        ///< number of pieces not read yet
    int node = STARPU_MAIN_RAM;  ///< the memory node that it is copied to
  };
  /// Some columns of a tile that one thread reads.
  struct Piece {
    Incoming* tile;
    device::Columns source, target;
  };
  using Sender = std::pair<int, std::int64_t>;  ///< the sender's rank, and the tag of a tile

  /// A message on its way. `node`: the memory of the announced tile.
  struct Post {
    int to;
    Message message;
    int node = STARPU_MAIN_RAM;
  };

  static device::Columns columns_on(starpu_data_handle_t tile, int node);
  /// @return  whether there are enough threads to copy tiles
  bool start_threads(int readers);
  /// Reads between GPUs if the GPUs of all processes of the node can read from all others, and faster than through host
  /// memory. Collective over `node`.
  void use_if_faster(std::unique_ptr<device::PeerMemory> peers, MPI_Comm node);
  /// The time in which this process's readers copy a block of the size of a sample from the host memory of the next
  /// process of the node [s]. Collective over `node`.
  double seconds_to_read_from_host(MPI_Comm node) const;
  /// The memory node of a GPU of this process. Tiles that no task places on a particular GPU are distributed over all
  /// GPUs by their tag.
  int gpu_for(std::int64_t tag) const;
  /// The memory node that a written tile is read from. @pre  mutex_ is held
  int source(const Outgoing& tile) const;
  /// Prefetches written tiles to GPUs, and announces those that are there. @pre  mutex_ is held, by `lock`
  void load(std::unique_lock<std::mutex>& lock);
  /// @param outgoing  an Outgoing that is in the memory of its node
  static void announce(void* outgoing);
  // Events of an incoming tile. @pre  mutex_ is held
  void unused(Incoming* tile);  ///< tasks that used its earlier value have ended
  void announced(Incoming* tile);
  void allocated(Incoming* tile);
  /// Lets StarPU allocate memory for announced tiles. @pre  mutex_ is held, by `lock`
  void allocate(std::unique_lock<std::mutex>& lock);
  /// Starts copies between GPUs, and finishes those that have ended. @pre  mutex_ is held, by `lock`
  void copy_between_gpus(std::unique_lock<std::mutex>& lock);
  /// Divides a tile that is announced and has host memory here into pieces. @pre  mutex_ is held
  void divide(Incoming* tile);
  void handle(int from, const Message& message);
  void serve_messages();
  void read_pieces();
  /// @pre  mutex_ is held, by `lock`
  void finish(Incoming* tile, std::unique_lock<std::mutex>& lock);

  MPI_Comm comm_;
  ReadableProcesses readable_;
  std::vector<pid_t> process_of_;  ///< process number by rank; 0: this process reads nothing from that rank
  std::size_t least_bytes_ = 0;    ///< minimum size of a tile that is read this way
  std::mutex mutex_;
  std::condition_variable something_to_do_, pieces_to_read_, all_arrived_;
  // The following members are guarded by mutex_.
  int sends_ = 0, receives_ = 0;  ///< number of tiles that have not arrived
  bool ends_ = false;
  std::uint64_t announcements_ = 0;
  std::deque<Post> messages_;
  std::unordered_map<std::uint64_t, Outgoing*> announced_;
  std::map<Sender, std::deque<Incoming*>> wanted_;             ///< may be overwritten here, but are not announced
  std::map<Sender, std::deque<Message>> not_wanted_;           ///< are announced, but may not be overwritten here yet
  std::multimap<int, Piece, std::greater<>> pieces_;           ///< by priority
  std::multimap<int, Outgoing*, std::greater<>> to_load_;      ///< by priority; only if GPUs are read
  std::chrono::steady_clock::time_point last_loaded_;          ///< when a tile last left `to_load_`
  std::multimap<int, Incoming*, std::greater<>> to_allocate_;  ///< by priority; only if GPUs are read
  std::deque<Incoming*> to_copy_;                              ///< between GPUs
  std::size_t allocated_ = 0;                                  ///< bytes of tiles that have left `to_allocate_`
  std::map<int, std::size_t> held_;                            ///< bytes that readers keep on GPUs, by memory node

  std::unique_ptr<device::PeerMemory> peers_;  ///< null: tiles are read from host memory only. Used by the courier
  std::vector<int> gpus_;                      ///< memory nodes of the GPUs
  std::size_t most_allocated_ = 0, most_held_ = 0;
  std::thread courier_;
  std::vector<std::thread> readers_;
};

}  // namespace tessera::distributed
