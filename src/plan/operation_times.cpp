// SPDX-License-Identifier: BSD-3-Clause
#include "operation_times.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <new>
#include <random>
#include <vector>

#include <tessera/error.hpp>

#include "common/failure.hpp"
#include "common/of_type.hpp"
#include "machine/machine_rates.hpp"
#include "sinks/submit.hpp"
#include "tile/ops.hpp"

namespace tessera::plan {

namespace {

constexpr Index smallest_timed = 256, largest_timed = 4096;

/// The sink that runs operations on the first GPU one after another.
class OneGpu {
 public:
  explicit OneGpu(const detail::Machine& machine) : worker_(machine.gpu_workers.front().front()) {}

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
    void* const memory = std::malloc(sizeof(Args));  // StarPU frees it together with the task by free()
    if (memory == nullptr) throw RuntimeError("no memory for the arguments of a task");
    auto* const task = starpu_task_create();
    task->cl = &codelet;
    task->cl_arg = new (memory) Args(args);
    task->cl_arg_size = sizeof(Args), task->cl_arg_free = 1;
    task->nbuffers = codelet.nbuffers == STARPU_VARIABLE_NBUFFERS ? static_cast<int>(count) : 0;
    for (std::size_t i = 0; i < count; i++) {
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
    if (codelets::failure_after(*starpu_task_get_current())) *static_cast<std::atomic<bool>*>(failed) = true;
  }

  int worker_;
  bool wait_ = false;
  double flops_ = 0;
  std::atomic<bool> failed_ = false;
};

/// A matrix of ones on the diagonal and small random numbers elsewhere, in host memory. Operations can be repeated on
/// it any number of times without overflow. With the few different bits of a plain identity they would be faster than
/// in a call, because a GPU slows down as they draw more power.
class NearIdentity {
 public:
  NearIdentity(char type, Index n) : memory_(size_of(type) * static_cast<std::size_t>(n * n)), n_(n) {
    with_type(type, [&]<Scalar T>(T) {
      const auto most = Real<T>(0.5) / static_cast<Real<T>>(n);
      std::uniform_real_distribution<Real<T>> uniform(-most, most);
      std::mt19937 engine;
      std::vector<Real<T>> numbers(65537);  // a prime, so that columns differ
      std::ranges::generate(numbers, [&] { return uniform(engine); });
      const auto number = [&](Index i) { return numbers[static_cast<std::size_t>(i) % numbers.size()]; };
      for (Index i = 0; i < n * n; i++) {
        T x(number(i));
        if constexpr (is_complex<T>) x.imag(number(i + n));
        new (memory_.data() + sizeof(T) * static_cast<std::size_t>(i)) T(i % (n + 1) == 0 ? T(1) : x);
      }
    });
    const auto order = static_cast<std::uint32_t>(n);
    starpu_matrix_data_register(&handle_, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(memory_.data()), order,
                                order, order, size_of(type));
  }
  ~NearIdentity() { starpu_data_unregister_no_coherency(handle_); }
  NearIdentity(const NearIdentity&) = delete;
  NearIdentity& operator=(const NearIdentity&) = delete;

  tile::Tile tile() const { return {handle_, nullptr, 0, 0, n_, n_, 0}; }

 private:
  std::vector<std::byte> memory_;
  Index n_;
  starpu_data_handle_t handle_ = nullptr;
};

/// The square of the matrix in the memory of the GPU. It has no home on the host, so tasks do not wait for a
/// write-back.
class OnGpu {
 public:
  OnGpu(tile::Ops<OneGpu>& to, const NearIdentity& matrix) : tile_(matrix.tile()) {
    const auto M = matrix.tile();
    memory_ = OneGpu::temporary(M, M.rows, M.columns, size_of(to.type()));
    tile_.handle = memory_.handle();
    to.gemm(1, M, M, 0, tile_);
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

/// Seconds and flops of each operation on tiles of order n; empty if one failed.
std::map<std::string, detail::CostCurve::Point> time_operations(const detail::Machine& machine, char type, Index n) {
  OneGpu gpu(machine);
  tile::Ops<OneGpu> to(machine, gpu, type);
  const NearIdentity matrix(type, n);
  const OnGpu first(to, matrix), second(to, matrix);
  const auto &A = first.tile(), &B = second.tile();
  codelets::InfoValue info;
  std::map<std::string, detail::CostCurve::Point> times;
  const auto time = [&](const char* operation, int length, auto run) {
    const double seconds = chain(gpu, length, run) / length;
    times[operation] = {gpu.flops(), seconds};
  };
  // A task on the diagonal starts on an idle GPU. For other operations, StarPU prepares the next task while one runs.
  constexpr int alone = 1, several = 8;
  time("potrf", alone, [&] { to.potrf(A, Uplo::Lower, 0, &info); });
  time("getrf_nopiv", alone, [&] { to.getrf_nopiv(A, Uplo::Lower, 0, &info); });
  time("diagonal_blocks", alone, [&] { to.diagonal_blocks(A, 0, Uplo::Lower, Diag::NonUnit); });
  time("trmm", several, [&] { to.trmm(Side::Left, Op::NoTrans, A, Uplo::Lower, Diag::NonUnit, 1, B); });
  const auto divisor = to.divisor(A, Uplo::Lower);
  time("trsm", several, [&] { to.trsm(Side::Left, Op::NoTrans, divisor, 1, B); });
  if (!gpu.failed()) return times;
  codelets::take_failure(A.handle), codelets::take_failure(B.handle);
  return {};
}

std::map<std::string, detail::CostCurve> curves_of_operations(const detail::Machine& machine, char type) {
  constexpr double long_enough = 0.01;  // [s]; the next order may take eight times as long
  std::map<std::string, std::vector<detail::CostCurve::Point>> points;
  double longest = 0;
  for (Index n = smallest_timed; n <= largest_timed && longest < long_enough; n *= 2) {
    const auto times = time_operations(machine, type, n);
    if (times.empty()) return {};
    for (const auto& [operation, point] : times) {
      points[operation].push_back(point);
      longest = std::max(longest, point.seconds);
    }
  }
  std::map<std::string, detail::CostCurve> curves;
  for (auto& [operation, of_it] : points) curves[operation] = detail::CostCurve(std::move(of_it));
  return curves;
}

[[maybe_unused]] const bool is_set = (detail::set_operation_timer(plan::time_operations), true);

}  // namespace

std::map<std::string, detail::CostCurve> time_operations(const detail::Machine& machine, char type) {
  // StarPU would wait forever for memory that a small GPU does not have.
  constexpr double needed = 4.0 * largest_timed * largest_timed * sizeof(std::complex<double>);
  if (machine.gpu_memory > 0 && machine.gpu_memory < needed) return {};
  return curves_of_operations(machine, type);
}

}  // namespace tessera::plan
