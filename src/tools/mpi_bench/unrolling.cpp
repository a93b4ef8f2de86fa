// SPDX-License-Identifier: BSD-3-Clause
#include "unrolling.hpp"

#include <starpu.h>

#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include <tessera/blas3.hpp>
#include <tessera/lapack.hpp>
#include <tessera/runtime.hpp>

#include "distributed/owner_table.hpp"
#include "problems.hpp"
#include "runtime/process_session.hpp"
#include "shared/bad_argument.hpp"
#include "sinks/dump.hpp"
#include "tile/processes.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::mpi_bench {

namespace {

/// Stands in for the other processes, which do not exist.
class Nobody final : public detail::Processes {
 public:
  Nobody(int rank, int size, const detail::ProcessControl& control) : rank_(rank), control_(control) {
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
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;

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
  detail::ProcessControl control() const override { return control_; }
  const detail::Tokens& tokens() override { return tokens_; }
  std::int64_t least(std::int64_t value) override { return value; }
  void matrix_ends() noexcept override {}

 private:
  static void release(void* tile) {
    starpu_data_release_on_node(static_cast<starpu_data_handle_t>(tile), STARPU_MAIN_RAM);
  }

  int rank_;
  detail::ProcessControl control_;
  detail::Tokens tokens_;
  char byte_ = 0;  ///< of all tokens
  detail::OwnerTable owners_;
  std::uint64_t sent_ = 0, received_ = 0;
};

/// CPU time of this thread, which is independent of other programs on the machine.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// @pre  the routine exists in double precision
void submit(const std::string& routine, const Matrix<double>& A, const Matrix<double>& B, const Matrix<double>& C) {
  constexpr auto lower = Uplo::Lower;
  constexpr auto as_stored = Op::NoTrans;
  if (routine == "gemm") gemm(as_stored, as_stored, 1., A, B, 1., C);
  if (routine == "gemmt") gemmt(lower, as_stored, Op::Trans, 1., A, A, 1., C);
  if (routine == "symm") symm(Side::Left, lower, 1., A, B, 1., C);
  if (routine == "syrk") syrk(lower, as_stored, 1., A, 1., C);
  if (routine == "syr2k") syr2k(lower, as_stored, 1., A, B, 1., C);
  if (routine == "trmm") trmm(Side::Left, lower, as_stored, Diag::Unit, 1., A, B);
  if (routine == "trsm") trsm(Side::Left, lower, as_stored, Diag::Unit, 1., A, B);
  if (routine == "potrf") potrf(lower, A);
  if (routine == "potrs") potrs(lower, A, B);
  if (routine == "getrf_nopiv") getrf_nopiv(A);
  if (routine == "getrs_nopiv") getrs_nopiv(as_stored, A, B);
}

}  // namespace

Unrolling unroll_alone(const std::string& routine, int p, int q, int rank, Index tiles,
                       const detail::ProcessControl& control, bool dumps) {
  const bool needs_pivots = routine == "getrf" || routine == "getrs" || routine == "gesv";  // which do not arrive
  if (is_for_complex_only(routine) || needs_pivots)
    throw tools::BadArgument("--routine", routine, "cannot be unrolled");
  constexpr Index tile = 2;  // tasks take no time
  const Runtime runtime;
  const auto nobody = std::make_shared<Nobody>(rank, p * q, control);
  const Index order = tiles * tile, rows = (tiles / p + 1) * tile, columns = (tiles / q + 1) * tile;
  std::vector<double> memory[3];
  std::vector<Matrix<double>> matrices;
  const double start = cpu_seconds();
  for (auto& data : memory) {
    data.assign(static_cast<std::size_t>(rows * columns), 1.0);
    detail::Share share;
    share.processes = nobody;
    share.p = p, share.q = q, share.row = rank / q, share.column = rank % q;
    matrices.push_back(detail::MatrixAccess::matrix<double>(std::make_shared<detail::TileGrid>(
        detail::session(), data.data(), order, order, rows, sizeof(double), TileSize{tile, tile}, false, share)));
  }
  Unrolling result;
  result.handles = cpu_seconds() - start;
  reset_statistics();
  std::optional<sinks::Dump> dump;
  if (dumps) dump.emplace();
  starpu_pause();
  const double begin = cpu_seconds();
  submit(routine, matrices[0], matrices[1], matrices[2]);
  result.seconds = cpu_seconds() - begin;
  starpu_resume();
  if (dump) result.dump = dump->text();
  result.tasks = statistics().tasks;
  result.sent = nobody->sent(), result.received = nobody->received();
  return result;
}

}  // namespace tessera::mpi_bench
