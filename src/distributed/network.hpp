// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/distributed.hpp>
#include <tessera/runtime.hpp>

#include "agreement.hpp"
#include "neighbours.hpp"
#include "node_share.hpp"
#include "owner_table.hpp"
#include "process_end.hpp"
#include "process_watch.hpp"
#include "runtime/process_session.hpp"
#include "tile/processes.hpp"

namespace tessera::detail {

class Session;

/// Gives the library access to the private part of a Grid.
struct GridAccess {
  static const std::shared_ptr<const std::vector<int>>& ranks(const Grid& grid) { return grid.ranks_; }
  static Network& network(const Grid& grid) { return *grid.network_; }
  /// The same processes in another shape, with the same order row by row.
  static Grid reshaped(Grid grid, int p, int q) {
    grid.p_ = p, grid.q_ = q;
    return grid;
  }
};

/// StarPU-MPI over one group of processes, shared by all grids and matrices of this process.
class Network final : public tile::Processes {
 public:
  /// The existing network, if it is over the same group in any order, or a new one. Collective.
  static std::shared_ptr<Network> over(MPI_Comm comm, const RuntimeOptions& options);
  static bool exists() noexcept;  ///< whether there is a network
  ~Network() override;

  MPI_Comm comm() const noexcept { return comm_; }
  /// For collective calls of this library, in which all threads wait.
  MPI_Comm comm_of_values() const noexcept { return comm_of_values_; }
  /// For each process of `comm`, in the order of `comm`: its rank in this network. Null if both have the same order.
  /// @pre  `comm` has the same group of processes
  std::shared_ptr<const std::vector<int>> ranks_of(MPI_Comm comm) const;
  const std::shared_ptr<Session>& session() const noexcept { return session_; }
  /// Announces a call that all processes must make.
  void agree(const std::string& call) {
    runtime::require_not_forked("Tessera");  // before the message: MPI's memory is shared with the parent
    if (!watches_exit_.exchange(true)) distributed::end_all_at_failing_exit();
    leaves_ = false;
    agreement_->post("calls " + call);
  }
  /// A number that identifies a matrix in all processes.
  int next_matrix() noexcept { return ++matrices_; }
  void set_control(const tile::ProcessControl& control) noexcept { control_ = control; }
  void wait();
  std::vector<std::uint64_t> bytes_sent() const;

  int rank() const noexcept override { return rank_; }
  void assign(starpu_data_handle_t tile, int owner) override;
  void keep(starpu_data_handle_t data) override;
  void keep_everywhere(starpu_data_handle_t data) override;
  int owner(starpu_data_handle_t tile) const override;
  void send(starpu_data_handle_t tile, int to, int priority) override;
  void receive(starpu_data_handle_t tile, int priority) override;
  void forget_copies(starpu_data_handle_t tile) override;
  tile::ProcessModel model() const override { return model_; }
  tile::ProcessControl control() const override { return control_; }
  const tile::Tokens& tokens() override;
  std::int64_t least(std::int64_t value) override;
  void matrix_ends() noexcept override;

 private:
  /// Deletes a network, or abandons it: an exception must reach its handler even if other processes, which may not have
  /// it, still use the network. An abandoned network ends all processes when this process exits, finalizes MPI or makes
  /// another grid.
  struct End {
    void operator()(Network* network) const;
  };
  Network(MPI_Comm comm, const RuntimeOptions& options);
  /// Starts Tessera on this process's share of the node.
  void start(const RuntimeOptions& options);
  void free_communicators();
  /// Tells the other processes that this one leaves because of an exception.
  void leave(const std::string& action);
  /// Whether no task or message is in flight.
  bool is_idle();
  /// Determines the resources that all processes have in common.
  void agree_on_model(const runtime::NodePart& on_node);

  MPI_Comm comm_ = MPI_COMM_NULL, comm_of_calls_ = MPI_COMM_NULL, comm_of_values_ = MPI_COMM_NULL,
           comm_of_tiles_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  int matrices_ = 0;
  std::int64_t next_tag_ = 0;
  distributed::OwnerTable owners_;
  std::vector<std::atomic<std::uint64_t>> sent_;  ///< by receiver: bytes that MPI has taken or the receiver has read
  std::optional<Runtime> runtime_;
  std::shared_ptr<Session> session_;
  std::optional<distributed::Agreement> agreement_;
  std::atomic<int> sends_ = 0;                         ///< tiles that MPI has not taken yet
  std::atomic<bool> watches_exit_ = false;             ///< whether `end_all_at_failing_exit` was called
  std::atomic<bool> leaves_ = false;                   ///< leaving matrices because of an exception, and announced
  std::optional<distributed::Neighbours> neighbours_;  ///< transfers tiles between processes of this node
  std::optional<distributed::ProcessWatch> watch_;
  tile::ProcessModel model_;
  tile::ProcessControl control_;
  tile::Tokens tokens_;
  std::vector<char> token_memory_;  ///< memory of this process's tokens
};

}  // namespace tessera::detail
