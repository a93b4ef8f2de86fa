// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_bench/unrolling.hpp"

#include <starpu.h>

#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include <tessera/runtime.hpp>

#include "distributed/owner_table.hpp"
#include "runtime/process_session.hpp"
#include "shared/exit_code.hpp"
#include "sinks/dump.hpp"
#include "tile/processes.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::mpi_bench {

namespace {

/// Stands in for the other processes, which do not exist.
class Nobody final : public tile::Processes {
 public:
  Nobody(int rank, int size, const tile::ProcessControl& control) : rank_(rank), control_(control) {
    for (auto* tokens : {&tokens_.up, &tokens_.down})
      for (int other = 0; other < size; other++) {
        auto& token = tokens->emplace_back();
        starpu_variable_data_register(&token, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&byte_), 1);
        starpu_data_set_sequential_consistency_flag(token, 1);
        assign(token, other);
      }
  }
  ~Nobody() override {
    for (const auto* tokens : {&tokens_.up, &tokens_.down})
      for (auto* token : *tokens) starpu_data_unregister_no_coherency(token);
  }

  std::uint64_t sent() const noexcept { return sent_; }
  std::uint64_t received() const noexcept { return received_; }

  int rank() const noexcept override { return rank_; }
  void assign(starpu_data_handle_t tile, int owner) override { owners_.assign(tile, owner); }
  void keep(starpu_data_handle_t data) override { assign(data, rank_); }
  void keep_everywhere(starpu_data_handle_t data) override { assign(data, every_process); }
  int owner(starpu_data_handle_t tile) const override { return owners_.of(tile); }
  // Like StarPU-MPI, these functions wait for the tile, and release it when the message would be complete.
  void send(starpu_data_handle_t tile, int /*to*/, int /*priority*/) override {
    sent_++;
    starpu_data_acquire_on_node_cb(tile, STARPU_MAIN_RAM, STARPU_R, release, tile);
  }
  void receive(starpu_data_handle_t tile, int /*priority*/) override {
    received_++;
    starpu_data_acquire_on_node_cb(tile, STARPU_MAIN_RAM, STARPU_W, release, tile);
  }
  void forget_copies(starpu_data_handle_t /*tile*/) override {}
  tile::ProcessModel model() const override { return {}; }
  tile::ProcessControl control() const override { return control_; }
  const tile::Tokens& tokens() override { return tokens_; }
  std::int64_t least(std::int64_t value) override { return value; }
  void matrix_ends() noexcept override {}

 private:
  static void release(void* tile) {
    starpu_data_release_on_node(static_cast<starpu_data_handle_t>(tile), STARPU_MAIN_RAM);
  }

  int rank_;
  tile::ProcessControl control_;
  tile::Tokens tokens_;
  char byte_ = 0;  ///< of all tokens
  distributed::OwnerTable owners_;
  std::uint64_t sent_ = 0, received_ = 0;
};

/// CPU time of this thread, which is independent of other programs on the machine.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Unrolling unroll_alone(const Routine& routine, int p, int q, int rank, Index tiles, const tile::ProcessControl& control,
                       bool dumps) {
  if (routine.is_for_complex_only() || routine.has_pivots())  // which would not arrive
    throw tools::BadArgument("--routine", std::string(routine.name), "cannot be unrolled");
  constexpr Index tile = 2;  // tasks take no time
  const Runtime runtime;
  const auto nobody = std::make_shared<Nobody>(rank, p * q, control);
  const Index order = tiles * tile, rows = (tiles / p + 1) * tile, columns = (tiles / q + 1) * tile;
  std::vector<double> memory[3];
  std::vector<Matrix<double>> matrices;
  const double start = cpu_seconds();
  for (auto& data : memory) {
    data.assign(static_cast<std::size_t>(rows * columns), 1.0);
    tile::Share share;
    share.processes = nobody;
    share.p = p, share.q = q, share.row = rank / q, share.column = rank % q;
    matrices.push_back(detail::MatrixAccess::matrix<double>(std::make_shared<detail::TileGrid>(
        runtime::session(), data.data(), order, order, rows, sizeof(double), TileSize{tile, tile}, false, share)));
  }
  Unrolling result;
  result.handles = cpu_seconds() - start;
  reset_statistics();
  std::optional<sinks::Dump> dump;
  if (dumps) dump.emplace();
  starpu_pause();
  const double begin = cpu_seconds();
  submit(routine.name, matrices[0], matrices[1], matrices[2], 1., 1., Diag::Unit);
  result.seconds = cpu_seconds() - begin;
  starpu_resume();
  if (dump) result.dump = dump->text();
  result.tasks = statistics().tasks;
  result.sent = nobody->sent(), result.received = nobody->received();
  return result;
}

}  // namespace tessera::mpi_bench
