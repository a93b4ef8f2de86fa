// SPDX-License-Identifier: BSD-3-Clause
#include "network.hpp"

#include <starpu_mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include <tessera/error.hpp>

#include "common/environment.hpp"
#include "common/no_signals.hpp"
#include "common/starpu_variables.hpp"
#include "common/variables.hpp"
#include "devices/cpu/free_memory.hpp"
#include "devices/gpu.hpp"
#include "node_share.hpp"
#include "runtime/process_session.hpp"
#include "runtime/recording.hpp"
#include "runtime/session.hpp"
#include "together.hpp"

namespace tessera::detail {

namespace {

std::weak_ptr<Network> of_process;

/// The options, with the folder that this process records in if traces are recorded.
RuntimeOptions with_trace(RuntimeOptions options) {
  if (options.trace.empty()) options.trace = common::environment("TESSERA_TRACE");
  int in_world = 0, world = 1;  // other groups of processes may also record
  MPI_Comm_rank(MPI_COMM_WORLD, &in_world);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  if (!options.trace.empty() && world > 1) options.trace += "/process-" + std::to_string(in_world);
  return options;
}

#ifndef STARPU_SIMGRID
/// The GPUs of this process, as memory that other processes read; null if they cannot.
std::unique_ptr<device::PeerMemory> peers_of_session() {
  try {
    return device::make_peer_memory();
  } catch (const RuntimeError&) {  // others learn of it from the constructor of Neighbours
    return nullptr;
  }
}
#endif

}  // namespace

bool Network::exists() noexcept { return !of_process.expired(); }

std::shared_ptr<Network> Network::over(MPI_Comm comm, const RuntimeOptions& options) {
  if (auto existing = of_process.lock()) {
    int same = MPI_UNEQUAL;
    MPI_Comm_compare(comm, existing->comm_, &same);
    if (same == MPI_UNEQUAL)
      throw RuntimeError(
          "there are grids of another group of processes: a process can have grids of one group at a time");
    return existing;
  }
  const std::shared_ptr<Network> network(new Network(comm, options), End());
  of_process = network;
  return network;
}

Network::Network(MPI_Comm comm, const RuntimeOptions& options) {
#ifdef STARPU_SIMGRID
  // StarPU accepts only MPI_COMM_WORLD, and knows which process this thread belongs to.
  comm_ = comm_of_calls_ = comm_of_values_ = comm;
  rank_ = starpu_mpi_world_rank(), size_ = starpu_mpi_world_size();
#else
  for (auto* copy : {&comm_, &comm_of_calls_, &comm_of_values_, &comm_of_tiles_}) MPI_Comm_dup(comm, copy);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
#endif
  sent_ = std::vector<std::atomic<std::uint64_t>>(static_cast<std::size_t>(size_));
  try {
    start(options);
  } catch (...) {  // in all processes
    session_.reset(), runtime_.reset();
    free_communicators();
    throw;
  }
}

void Network::start(const RuntimeOptions& options) {
  runtime::NodePart on_node;
  {
    const distributed::ShareOfNode share(comm_);
    on_node = share.on_node();
    // StarPU would bind the thread that polls the network to a separate core, or to the core of a worker.
    common::StarpuVariables variables;
    variables.set("STARPU_MPI_NOBIND", "1");
    variables.set("STARPU_SILENT", "1");
    std::size_t least_bytes = 0;
    distributed::together(comm_of_values_, [&] {
      least_bytes = distributed::Neighbours::least_bytes_asked_for();
      runtime_.emplace(with_trace(distributed::with_share(options, share)));
      session_ = runtime::session();
    });
#ifdef STARPU_SIMGRID  // SimGrid's MPI writes received tiles, which no task reads: they share some memory
    starpu_malloc_on_node_set_default_flags(
        STARPU_MAIN_RAM, STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT | STARPU_MALLOC_SIMULATION_FOLDED);
#endif
    if (const auto* recording = session_->recording()) recording->name_file_in(variables);
    const common::StarpuVariables::InForce until_started(variables);
    const common::NoSignals in_threads;  // threads of StarPU-MPI, and threads that copy between processes
    if (starpu_mpi_init_comm(nullptr, nullptr, 0, comm_) != 0) throw RuntimeError("StarPU-MPI cannot start");
#ifndef STARPU_SIMGRID  // in a simulation, processes share an address space, and copying takes no time
    constexpr int most_readers = 8;
    neighbours_.emplace(comm_of_tiles_, least_bytes, std::clamp(share.cores() / 2, 1, most_readers),
                        common::flag_in(common::variables::gpu_reads).value_or(true) ? peers_of_session() : nullptr);
    watch_.emplace(neighbours_->processes());
#endif
  }
  const int gpus = session_->machine().gpu_count() > 0 ? 1 : 0;
  int some = 0, all = 0;
  MPI_Allreduce(&gpus, &some, 1, MPI_INT, MPI_MAX, comm_of_values_);
  MPI_Allreduce(&gpus, &all, 1, MPI_INT, MPI_MIN, comm_of_values_);
  agree_on_model(on_node);
  agreement_.emplace(comm_of_calls_);
  if (some != all)
    distributed::end_all_processes("only some of the processes have GPUs: TESSERA_DEVICES=none leaves them out");
  // These decide which tasks and temporary tiles a call has.
  const int kind = (session_->machine().has_cuda() ? 1 : 0) + (session_->machine().has_owners() ? 2 : 0);
  MPI_Allreduce(&kind, &some, 1, MPI_INT, MPI_MAX, comm_of_values_);
  MPI_Allreduce(&kind, &all, 1, MPI_INT, MPI_MIN, comm_of_values_);
  if (some != all)
    distributed::end_all_processes(
        "the processes differ in the kind of their GPUs (CUDA or OpenCL), in TESSERA_PLACEMENT or TESSERA_POLICY");
}

std::shared_ptr<const std::vector<int>> Network::ranks_of(MPI_Comm comm) const {
#ifdef STARPU_SIMGRID
  static_cast<void>(comm);  // StarPU accepts only one communicator
  return nullptr;
#else
  std::vector<int> places(static_cast<std::size_t>(size_)), ranks(places.size());
  std::iota(places.begin(), places.end(), 0);
  MPI_Group theirs = MPI_GROUP_NULL, ours = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &theirs);
  MPI_Comm_group(comm_, &ours);
  MPI_Group_translate_ranks(theirs, size_, places.data(), ours, ranks.data());
  MPI_Group_free(&theirs);
  MPI_Group_free(&ours);
  return ranks == places ? nullptr : std::make_shared<const std::vector<int>>(std::move(ranks));
#endif
}

Network::~Network() {
  session_->wait_for_everything();
  for (const auto* tokens : {&tokens_.up, &tokens_.down})
    for (auto* token : *tokens) starpu_data_unregister_no_coherency(token);
  if (neighbours_) neighbours_->wait();
  neighbours_.reset();  // in all processes before any session ends: it closes the memory of the others' GPUs
  agreement_.reset();
  watch_.reset();
  starpu_mpi_shutdown_comm(comm_);  // waits for the other processes
  session_.reset();
  runtime_.reset();
  free_communicators();
}

void Network::free_communicators() {
#ifndef STARPU_SIMGRID  // in a simulation, StarPU finalizes MPI
  for (auto* comm : {&comm_, &comm_of_calls_, &comm_of_values_, &comm_of_tiles_}) MPI_Comm_free(comm);
#endif
}

void Network::agree_on_model(const runtime::NodePart& on_node) {
  const auto& machine = session_->machine();
  enum { Gpus, GpuMemory, HostMemory, Beside, Count };
#ifdef STARPU_SIMGRID
  const double host = std::numeric_limits<double>::infinity();  // simulated tiles have no memory
#else
  const double host = device::free_memory();
#endif
  const double mine[Count] = {static_cast<double>(machine.gpu_count()), machine.gpu_memory, host / on_node.parts,
                              machine.has_cuda() && device::gpu::factorizes_beside_products() ? 1.0 : 0.0};
  double least[Count] = {};
  MPI_Allreduce(mine, least, Count, MPI_DOUBLE, MPI_MIN, comm_of_values_);
  model_.gpus = static_cast<int>(least[Gpus]), model_.gpu_memory = least[GpuMemory];
  model_.factorizes_beside_products = least[Beside] > 0;
  model_.host_memory = std::isfinite(least[HostMemory]) ? least[HostMemory] : 0;
}

const tile::Tokens& Network::tokens() {
  if (!tokens_.up.empty()) return tokens_;
  token_memory_.assign(2, 0);
  auto* memory = token_memory_.data();
  for (auto* tokens : {&tokens_.up, &tokens_.down})
    for (int rank = 0; rank < size_; rank++) {
      auto& token = tokens->emplace_back();
      const bool mine = rank == rank_;
      starpu_variable_data_register(&token, mine ? STARPU_MAIN_RAM : -1,
                                    mine ? reinterpret_cast<std::uintptr_t>(memory++) : 0, 1);
      starpu_data_set_sequential_consistency_flag(token, 1);
      assign(token, rank);
    }
  return tokens_;
}

void Network::wait() {
  agree("Grid::wait");
  session_->wait_for_everything();
  starpu_mpi_wait_for_all(comm_);
  if (neighbours_) neighbours_->wait();
}

std::vector<std::uint64_t> Network::bytes_sent() const { return {sent_.begin(), sent_.end()}; }

void Network::assign(starpu_data_handle_t tile, int owner) {
  starpu_mpi_data_register_comm(tile, next_tag_++, owner, comm_);
  owners_.assign(tile, owner);
}

void Network::keep(starpu_data_handle_t data) { owners_.assign(data, rank_); }

void Network::keep_everywhere(starpu_data_handle_t data) { owners_.assign(data, every_process); }

int Network::owner(starpu_data_handle_t tile) const { return owners_.of(tile); }

void Network::send(starpu_data_handle_t tile, int to, int priority) {
  if (neighbours_ && neighbours_->carry(tile, to))
    return neighbours_->send(tile, to, starpu_mpi_data_get_tag(tile), priority, sent_[static_cast<std::size_t>(to)],
                             starpu_data_get_size(tile));
  struct Message {
    std::atomic<std::uint64_t>& sent;
    std::uint64_t bytes;
    std::atomic<int>& all;
    static void end(void* message) {
      const std::unique_ptr<Message> owned(static_cast<Message*>(message));
      owned->sent += owned->bytes;
      owned->all--;
    }
  };
  sends_++;
  auto* message = new Message{sent_[static_cast<std::size_t>(to)], starpu_data_get_size(tile), sends_};
  starpu_mpi_isend_detached_prio(tile, to, starpu_mpi_data_get_tag(tile), priority, comm_, Message::end, message);
}

void Network::receive(starpu_data_handle_t tile, int priority) {
  const int from = owner(tile);
  const auto tag = starpu_mpi_data_get_tag(tile);
  if (neighbours_ && neighbours_->carry(tile, from)) return neighbours_->receive(tile, from, tag, priority);
  starpu_mpi_irecv_detached_prio(tile, from, tag, priority, comm_, nullptr, nullptr);
}

void Network::forget_copies(starpu_data_handle_t tile) { starpu_mpi_cache_flush(comm_, tile); }

std::int64_t Network::least(std::int64_t value) {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  agree("Info::wait");
  std::int64_t mine = value == 0 ? none : value, all = none;
#ifdef STARPU_SIMGRID
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_MIN, comm_of_values_);
#else
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &all, 1, MPI_INT64_T, MPI_MIN, comm_of_values_, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);  // already complete; for checkers that do not accept MPI_Test as completion
#endif
  return all == none ? 0 : all;
}

}  // namespace tessera::detail
