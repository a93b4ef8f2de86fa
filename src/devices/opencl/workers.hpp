// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <tuple>

#include "kernels.hpp"

/// Resources of OpenCL workers for tile operations, created at the start of a session.
namespace tessera::device::opencl {

/// Order of the diagonal blocks that `gemmt` computes as squares.
inline constexpr int leaf = 256;

/// The resources of one worker. Its operations use them in the order of its queue.
struct Worker {
  cl_command_queue queue;  ///< StarPU's queue; a task ends when it has finished its commands
  std::tuple<Kernels<float>, Kernels<double>, Kernels<std::complex<float>>, Kernels<std::complex<double>>> kernels;
  Buffer square;  ///< workspace: a square of order `leaf`

  /// @param device  StarPU's number of the device
  explicit Worker(int device);

  /// Memory for one operation, valid until the next call. It grows as needed and is kept.
  /// @return  null for 0 bytes, or if the device has too little memory
  cl_mem workspace(std::size_t bytes) const;

  /// A lock to hold while a task enqueues kernels. It only has an effect on processors driven by PoCL: if two devices
  /// load a kernel at the same time for different numbers of work items, PoCL 3 to 5 miscounts its users and ends the
  /// process.
  std::unique_lock<std::mutex> turn() const;

 private:
  bool takes_turns_;
  cl_context context_;
  mutable Buffer workspace_;
  mutable std::size_t workspace_bytes_ = 0;
};

/// Creates the resources of the OpenCL workers.
/// @throws RuntimeError if a device refuses
void create_workers();
void destroy_workers();

/// The resources of the calling OpenCL worker.
const Worker& local_worker();

}  // namespace tessera::device::opencl
