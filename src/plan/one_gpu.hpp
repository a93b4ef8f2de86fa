// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <span>
#include <vector>

#include <tessera/error.hpp>

#include "common/failure.hpp"
#include "common/not_copyable.hpp"
#include "common/of_type.hpp"
#include "machine/machine.hpp"
#include "sinks/submit.hpp"
#include "tile/ops.hpp"

/// What it takes to time operations on a GPU.
namespace tessera::plan {

/// The sink that runs operations on the first GPU one after another.
class OneGpu {
 public:
  explicit OneGpu(const machine::Machine& machine) : worker_(machine.gpu_workers.front().front()) {}

  /// Whether `submit` waits until the operation has run.
  void wait(bool wait) { wait_ = wait; }
  double flops() const { return flops_; }  ///< of the last operation
  bool failed() const { return failed_; }  ///< a failed operation took no time

  using Temporary = sinks::TemporaryTile;
  static Temporary temporary(const tile::Tile& /*stands_for*/, Index m, Index n, std::size_t element_size) {
    return {m, n, element_size};
  }
  static void step(Index /*k*/) {}
  static bool runs(starpu_data_handle_t /*tile*/) { return true; }

  template <typename Args, std::size_t count>
  void submit(starpu_codelet& codelet, const tile::Access (&accesses)[count], const Args& args, int /*owner*/,
              starpu_data_handle_t /*wanted_next*/ = nullptr) {
    submit(codelet, std::span<const tile::Access>(accesses), args);
  }
  /// At most STARPU_NMAXBUFS tiles.
  template <typename Args>
  void submit(starpu_codelet& codelet, std::span<const tile::Access> accesses, const Args& args) {
    void* const memory = std::malloc(sizeof(Args));  // StarPU frees it together with the task by free()
    if (memory == nullptr) throw RuntimeError("no memory for the arguments of a task");
    auto* const task = starpu_task_create();
    task->cl = &codelet;
    task->cl_arg = new (memory) Args(args);
    task->cl_arg_size = sizeof(Args), task->cl_arg_free = 1;
    task->nbuffers = codelet.nbuffers == STARPU_VARIABLE_NBUFFERS ? static_cast<int>(accesses.size()) : 0;
    for (std::size_t i = 0; i < accesses.size(); i++) {
      task->handles[i] = accesses[i].handle;
      STARPU_TASK_SET_MODE(task, accesses[i].mode, i);
    }
    task->execute_on_a_specific_worker = 1, task->workerid = static_cast<unsigned>(worker_);
    task->synchronous = wait_ ? 1 : 0;
    task->epilogue_callback_func = note_failure, task->epilogue_callback_arg = &failed_;
    flops_ = args.work.flops;
    if (starpu_task_submit(task) == 0) return;
    starpu_task_destroy(task);
    throw RuntimeError("StarPU refused a task that measures a GPU");
  }

 private:
  static void note_failure(void* failed) {
    if (common::failure_after(*starpu_task_get_current())) *static_cast<std::atomic<bool>*>(failed) = true;
  }

  int worker_;
  bool wait_ = false;
  double flops_ = 0;
  std::atomic<bool> failed_ = false;
};

/// A matrix of ones on the diagonal and small random numbers elsewhere, in host memory. Operations can be repeated on
/// it any number of times without overflow. On a plain identity, they would be faster than in a call, because a GPU
/// draws less power if most bits are equal.
class NearIdentity : common::NotCopyable {
 public:
  /// @pre  m ≥ n
  NearIdentity(char type, Index m, Index n)
      : memory_(common::size_of(type) * static_cast<std::size_t>(m * n)), m_(m), n_(n) {
    common::with_type(type, [&]<Scalar T>(T) {
      const auto most = Real<T>(0.5) / static_cast<Real<T>>(m);
      std::uniform_real_distribution<Real<T>> uniform(-most, most);
      std::mt19937 engine;
      std::vector<Real<T>> numbers(65537);  // a prime, so that columns differ
      std::ranges::generate(numbers, [&] { return uniform(engine); });
      const auto number = [&](Index i) { return numbers[static_cast<std::size_t>(i) % numbers.size()]; };
      for (Index i = 0; i < m * n; i++) {
        T x(number(i));
        if constexpr (is_complex<T>) x.imag(number(i + m));
        new (memory_.data() + sizeof(T) * static_cast<std::size_t>(i)) T(i % (m + 1) == 0 ? T(1) : x);
      }
    });
    const auto rows = static_cast<std::uint32_t>(m), columns = static_cast<std::uint32_t>(n);
    starpu_matrix_data_register(&handle_, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(memory_.data()), rows, rows,
                                columns, common::size_of(type));
    common::take_failure(handle_);
  }
  ~NearIdentity() { starpu_data_unregister_no_coherency(handle_); }

  tile::Tile tile() const { return {handle_, nullptr, 0, 0, m_, n_, 0}; }

 private:
  std::vector<std::byte> memory_;
  Index m_, n_;
  starpu_data_handle_t handle_ = nullptr;
};

/// The product of a matrix and a square one in the memory of the GPU. It has no home on the host, so tasks do not wait
/// for a write-back.
class OnGpu {
 public:
  OnGpu(tile::Ops<OneGpu>& to, const NearIdentity& matrix, const NearIdentity& square) : tile_(matrix.tile()) {
    const auto M = matrix.tile();
    memory_ = OneGpu::temporary(M, M.rows, M.columns, common::size_of(to.type()));
    tile_.handle = memory_.handle();
    to.gemm(1, M, square.tile(), 0, tile_);
  }
  const tile::Tile& tile() const { return tile_; }

 private:
  sinks::TemporaryTile memory_;
  tile::Tile tile_;
};

/// Seconds of `length` consecutive runs of an operation, the median of a few attempts.
template <typename Run>
double chain(OneGpu& gpu, int length, Run run) {
  const auto attempt = [&] {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 1; i <= length; i++) gpu.wait(i == length), run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  attempt();  // includes initialization
  std::array<double, 3> seconds{};
  std::ranges::generate(seconds, attempt);
  std::ranges::sort(seconds);
  return seconds[1];
}

}  // namespace tessera::plan
