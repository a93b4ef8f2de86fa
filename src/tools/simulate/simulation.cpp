// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/simulation.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include <tessera/blas3.hpp>
#include <tessera/error.hpp>

#include "common/not_copyable.hpp"
#include "common/of_type.hpp"
#include "common/whole_file.hpp"
#include "devices/cpu/free_memory.hpp"
#include "devices/simulated/machine_description.hpp"
#include "shared/runtime_options.hpp"
#include "simulate/task_watch.hpp"
#include "sinks/dump.hpp"
#include "tile/split.hpp"
#include "workload/explanation.hpp"
#include "workload/spread.hpp"

namespace tessera::simulate {

namespace {

/// Reserved addresses without memory. Simulated tasks access no data, but the tiles must not overlap.
class AddressRange : common::NotCopyable {
 public:
  explicit AddressRange(std::size_t bytes)
      : bytes_(std::max<std::size_t>(bytes, 1)),
        data_(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (data_ == MAP_FAILED) throw RuntimeError("cannot reserve " + std::to_string(bytes_) + " bytes of address space");
  }
  ~AddressRange() { munmap(data_, bytes_); }
  void* data() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// A thread that repeats calls of a routine while this object exists. The constructor returns after the first call.
class EndlessLoop : common::NotCopyable {
 public:
  EndlessLoop(const bench::Routine& routine, const bench::Problem& problem)
      : routine_(routine), problem_(problem), A_(bench::operand_bytes(routine, problem)[0]),
        B_(bench::operand_bytes(routine, problem)[1]), C_(bench::operand_bytes(routine, problem)[2]) {
    call();
    starpu_pthread_create(&thread_, nullptr, repeat, this);
  }
  ~EndlessLoop() {
    ends_ = true;
    starpu_pthread_join(thread_, nullptr);
  }

 private:
  void call() const { routine_.run_tessera(problem_, {A_.data(), B_.data(), C_.data()}); }
  static void* repeat(void* loop) {
    for (const auto& self = *static_cast<EndlessLoop*>(loop); !self.ends_;) self.call();
    return nullptr;
  }

  const bench::Routine& routine_;
  const bench::Problem problem_;
  const AddressRange A_, B_, C_;
  bool ends_ = false;  // threads of a simulation run one at a time
  starpu_pthread_t thread_{};
};

/// The tiles of a product in slices of the rows of A and the columns of B.
tile::TileExtents slices_of(const bench::Problem& p, Index slices) {
  return {tile::divide_up(p.m, slices), tile::divide_up(p.n, slices), p.k};
}

/// C ← α A B + β C in slices.
void multiply_in_slices(const bench::Problem& p, Index slices, const bench::Operands& operands) {
  const auto tile = slices_of(p, slices);
  common::with_type(p.type, [&]<Scalar T>(T) {
    const Matrix<T> A(static_cast<const T*>(operands.A), p.m, p.k, p.m, {tile.m, tile.k}),
        B(static_cast<const T*>(operands.B), p.k, p.n, p.k, {tile.k, tile.n}),
        C(static_cast<T*>(operands.C), p.m, p.n, p.m, {tile.m, tile.n});
    gemm(Op::NoTrans, Op::NoTrans, bench::scalar_cast<T>(p.alpha), A, B, bench::scalar_cast<T>(p.beta), C);
    C.start_write_back();
    C.wait();
  });
}

/// Why the tasks of a call do not fit into the memory of this machine; "" if they may fit. All tasks are submitted
/// before the first one ends in simulated time.
std::string why_too_large(const Run& run, const tile::TileExtents& tile) {
  constexpr double bytes_of_task = 2.2e3;  // measured for dgemm in tiles of 128
  const double multiply_adds =
      run.routine->flops(run.problem) / (run.problem.type == 'c' || run.problem.type == 'z' ? 8 : 2);
  const auto terms = tile.k > 0 ? tile.k : tile.n;  // plans of solvers and triangles have square tiles, and no extent k
  const double tasks =
      multiply_adds / (static_cast<double>(tile.m) * static_cast<double>(tile.n) * static_cast<double>(terms));
  const double needed = tasks * bytes_of_task, free = device::free_memory();
  if (needed <= free) return "";
  return fmt::format(
      "{} of order {} in tiles of {} is about {:.2g} tasks, which need {:.1f} GB of memory, but only {:.1f} GB "
      "are free; use larger tiles (--tile)",
      run.routine->name(), std::max({run.problem.m, run.problem.n, run.problem.k}), tile.n, tasks, needed * 1e-9,
      free * 1e-9);
}

Outcome simulate(const Options& options, const Run& run) {
  RuntimeOptions start;
  start.cpus = run.cpus, start.gpus = run.gpus, start.tile = run.tile;
  start.policy = run.policy, start.placement = run.placement, start.trace = run.trace;
  const auto bytes = bench::operand_bytes(*run.routine, run.problem);
  const AddressRange A(bytes[0]), B(bytes[1]), C(bytes[2]);
  const Runtime runtime(start);
  tell_of_nvlink(options.machine);
  Outcome outcome;
  if (options.explain) {
    outcome.explanation = bench::explain(*run.routine, run.problem).dump();
    return outcome;
  }
  const auto plan = run.routine->plan_of(run.problem);
  const auto tile = options.slices > 0 ? slices_of(run.problem, options.slices) : plan.tile;
  outcome.tile_m = tile.m, outcome.tile_n = tile.n, outcome.tile_k = tile.k;
  if (options.slices == 0 && run.problem.chain == 1 && run.routine->is_planned_whole() &&
      run.problem.memory != bench::Memory::Spread)
    outcome.predicted = plan.seconds;
  outcome.policy = policy(), outcome.placement = tools::placement_name(placement());
  std::optional<EndlessLoop> loop;
  if (options.beside > 0) {
    auto problem = run.problem;
    problem.m = problem.n = problem.k = options.beside;
    loop.emplace(*run.routine, problem);
  }
  outcome.error = why_too_large(run, options.slices > 0 ? tile : plan.task());
  outcome.bad_argument = !outcome.error.empty();
  if (outcome.bad_argument) return outcome;
  const bench::Operands operands{A.data(), B.data(), C.data()};
  std::unique_ptr<bench::SpreadCall> spread;
  if (run.problem.memory == bench::Memory::Spread) {
    spread = run.routine->spread(run.problem, operands);
    spread->fill();
    outcome.tile_m = spread->tile().rows, outcome.tile_n = spread->tile().columns;
  }
  {
    const TaskWatch watch(run.gpus);
    reset_statistics();
    const double begin = starpu_timing_now();
    std::optional<sinks::Dump> dump;
    if (!run.dump.empty()) dump.emplace();
    if (options.slices > 0) multiply_in_slices(run.problem, options.slices, operands);
    else if (spread) spread->run();
    else run.routine->run_tessera(run.problem, operands);
    outcome.seconds = 1e-6 * (starpu_timing_now() - begin);
    outcome.activity = tools::activity(1, plan.has_cores());
    outcome.gpus = TaskWatch::result();
    if (dump) common::write_whole(run.dump, dump->text());
    outcome.cpus = cpu_workers(), outcome.core_tasks = TaskWatch::core_tasks();
  }
  return outcome;
}

struct {
  const Options* options;
  const Run* run;
  int result;
} job;

}  // namespace

void become_simulation(const Options& options, const Run& run, const Scratch& scratch, int result) {
  put_environment(options.platform, scratch, options.gpu_memory, options.machine);
  job = {&options, &run, result};
  device::simulated::operands_are_pageable = *options.memory == bench::Memory::Pageable;
  if (device::simulated::operands_are_pageable) stage_copies();
  device::simulated::operands_are_on_a_gpu = *options.memory == bench::Memory::Device;
  // StarPU defines its own main, which starts SimGrid and calls starpu_main in a simulated thread.
  const auto starpus_main = reinterpret_cast<int (*)(int, char**)>(dlsym(RTLD_NEXT, "main"));
  if (starpus_main == nullptr) _exit(1);
  std::string words[] = {"tessera-simulate", "--log=root.thresh:warning"};
  char* arguments[] = {words[0].data(), words[1].data(), nullptr};
  _exit(starpus_main(2, arguments));
}

}  // namespace tessera::simulate

extern "C" int starpu_main(int /*argc*/, char** /*argv*/) {
  using namespace tessera;
  simulate::Outcome outcome;
  try {
    outcome = simulate::simulate(*simulate::job.options, *simulate::job.run);
  } catch (const ArgumentError& error) {
    outcome.error = error.what(), outcome.bad_argument = true;
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  _exit(simulate::write_outcome(simulate::job.result, outcome) ? 0 : 1);  // skips SimGrid's slow clean-up
}
