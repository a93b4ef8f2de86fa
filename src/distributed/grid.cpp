// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>

#include <tessera/distributed.hpp>
#include <tessera/error.hpp>

#include "network.hpp"
#include "process_end.hpp"

namespace tessera {

namespace {

std::string processes(Index count) { return std::to_string(count) + (count == 1 ? " process" : " processes"); }

/// @throws if a communicator of `size` processes is no grid of p×q
void require_processes(Index p, Index q, MPI_Comm comm, Index size) {
  if (size == p * q) return;
  const auto shape = std::to_string(p) + "x" + std::to_string(q);
  if (comm != MPI_COMM_WORLD)
    throw ArgumentError("Grid", 3, "comm", "has " + processes(size) + ", but " + shape + " needs " + processes(p * q));
  throw ArgumentError("Grid", 0, shape,
                      "needs " + processes(p * q) + ", but there " + (size == 1 ? "is " : "are ") +
                          std::to_string(size) + ": start the program with mpirun -n " + std::to_string(p * q));
}

}  // namespace

Grid::Grid(int p, int q, MPI_Comm comm, const RuntimeOptions& options) : p_(p), q_(q) {
  if (p < 1) throw ArgumentError("Grid", 1, "p", "is " + std::to_string(p) + ", must be at least 1");
  if (q < 1) throw ArgumentError("Grid", 2, "q", "is " + std::to_string(q) + ", must be at least 1");
  distributed::initialize_mpi();
  if (comm == MPI_COMM_NULL) throw ArgumentError("Grid", 3, "comm", "is MPI_COMM_NULL: this process is not in it");
  int size = 0;
#ifndef STARPU_SIMGRID  // SimGrid's MPI has no intercommunicators
  int is_inter = 0;
  MPI_Comm_test_inter(comm, &is_inter);
  if (is_inter != 0) throw ArgumentError("Grid", 3, "comm", "is an intercommunicator: merge its two groups first");
#endif
  MPI_Comm_size(comm, &size);
  require_processes(p, q, comm, size);
  network_ = detail::Network::over(comm, options);
  ranks_ = network_->ranks_of(comm);
  place_ = ranks_ ? static_cast<int>(std::ranges::find(*ranks_, rank()) - ranks_->begin()) : rank();
}

int Grid::rank() const noexcept { return network_->rank(); }
MPI_Comm Grid::comm() const noexcept { return network_->comm(); }
void Grid::wait() const { network_->wait(); }
void Grid::control(const ProductControl& control) const {
  const std::pair<const char*, Index> sizes[] = {{"block_rows", control.block_rows},
                                                 {"block_columns", control.block_columns},
                                                 {"chunk", control.chunk},
                                                 {"look_ahead", control.look_ahead}};
  std::string text = std::string("Grid::control(") +
                     (!control.holds_back   ? "holds back what does not fit"
                      : *control.holds_back ? "holds back"
                                            : "holds nothing back") +
                     (control.gpus_by_columns ? ", columns" : ", grid");
  for (const auto& [name, size] : sizes) {
    if (size < 0)
      throw ArgumentError("Grid::control", 1, "control",
                          std::string("has ") + name + " " + std::to_string(size) + ", must be at least 0");
    text += std::string(", ") + name + " " + std::to_string(size);
  }
  network_->agree(text + ")");
  network_->set_control(
      {control.gpus_by_columns,
       {control.block_rows, control.block_columns, control.chunk, control.look_ahead, control.holds_back}});
}
ProductControl Grid::control() const {
  const auto control = network_->control();
  const auto& [rows, columns, chunk, ahead, holds_back] = control.blocks;
  return {holds_back, rows, columns, chunk, ahead, control.by_columns};
}
std::vector<std::uint64_t> Grid::bytes_sent() const { return network_->bytes_sent(); }

}  // namespace tessera
