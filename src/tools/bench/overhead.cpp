// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measurements.hpp"

#include <fmt/format.h>
#include <starpu.h>

#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include <tessera/sched.h>
#include <tessera/error.hpp>

#include "bench/timing.hpp"
#include "common/not_copyable.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"
#include "shared/exit_code.hpp"
#include "shared/formatting.hpp"
#include "shared/json_lines.hpp"
#include "shared/runtime_options.hpp"
#include "workload/other_libraries.hpp"

namespace tessera::bench {

namespace {

/// The data of the tasks. Each task writes its own tile and reads two tiles shared with other tasks, as in a product.
/// The policy thus computes its scores as for real tasks, although no task waits for another.
class Tiles : common::NotCopyable {
 public:
  explicit Tiles(int tasks) : side_(static_cast<std::size_t>(std::ceil(std::sqrt(tasks)))) {
    const auto count = static_cast<std::size_t>(tasks);
    memory_.resize((count + 2 * side_) * elements);
    for (std::size_t i = 0; i < count + 2 * side_; i++) {
      handles_.emplace_back();
      starpu_vector_data_register(&handles_.back(), STARPU_MAIN_RAM,
                                  reinterpret_cast<std::uintptr_t>(memory_.data() + i * elements), elements,
                                  sizeof(double));
    }
  }
  ~Tiles() {
    for (auto* handle : handles_) starpu_data_unregister_no_coherency(handle);
  }

  std::array<starpu_data_handle_t, 3> of(int task) const {
    const auto t = static_cast<std::size_t>(task);
    return {handles_[t / side_], handles_[side_ + t % side_], handles_[2 * side_ + t]};
  }

 private:
  static constexpr int elements = 8;
  std::size_t side_;
  std::vector<double> memory_;
  std::vector<starpu_data_handle_t> handles_;
};

/// A codelet that does nothing on any device. Its performance model predicts one microsecond.
starpu_codelet& nothing() {
  struct Codelet {
    starpu_perfmodel model{};
    starpu_codelet codelet{};
    Codelet() {
      model.type = STARPU_PER_WORKER;
      model.symbol = "tessera_nothing";
      model.worker_cost_function = [](starpu_task*, unsigned, unsigned) { return 1.0; };
      codelet.name = "nothing";
      codelet.model = &model;
      codelet.nbuffers = 3;
      codelet.modes[0] = codelet.modes[1] = STARPU_R, codelet.modes[2] = STARPU_W;
      codelet.cpu_funcs[0] = [](void**, void*) {};
#ifdef TESSERA_WITH_CUDA
      codelet.cuda_funcs[0] = [](void**, void*) {};
      codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
#endif
#ifdef TESSERA_WITH_OPENCL
      codelet.opencl_funcs[0] = [](void**, void*) {};
      codelet.opencl_flags[0] = STARPU_OPENCL_ASYNC;
#endif
    }
  };
  static Codelet one;
  return one.codelet;
}

void submit(const std::array<starpu_data_handle_t, 3>& handles, int home) {
  auto* task = starpu_task_create();
  task->cl = &nothing();
  for (std::size_t i = 0; i < handles.size(); i++) task->handles[i] = handles[i];
  if (home >= 0) {
    task->where = STARPU_CUDA | STARPU_OPENCL;
    tessera_sched_suggest_home(handles.back(), home);
  }
  if (starpu_task_submit(task) != 0) throw RuntimeError("--overhead: StarPU refuses an empty task");
}

/// Microseconds per task.
struct Overhead {
  double submission = 0, drain = 0;
  double push = NAN, pop = NAN;  ///< only the policy `tessera` measures them
};

/// @param homes  workers that the tasks suggest to the policy in turn; may be empty
Overhead run_tasks(int count, const std::vector<int>& homes) {
  const auto for_each_task = [=](double seconds) { return 1e6 * seconds / count; };
  const auto since = [](std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const Tiles tiles(count);  // new tiles for each run, because the policy remembers where tiles were
  Overhead result;
  std::chrono::steady_clock::time_point resumed;
  {
    const PauseWorkers pause;
    reset_statistics();
    const auto begin = std::chrono::steady_clock::now();
    for (int task = 0; task < count; task++)
      submit(tiles.of(task), homes.empty() ? -1 : homes[static_cast<std::size_t>(task) % homes.size()]);
    result.submission = for_each_task(since(begin));
    resumed = std::chrono::steady_clock::now();
  }
  starpu_task_wait_for_all();
  result.drain = for_each_task(since(resumed));
  if (const auto policy = statistics().policy)
    result.push = for_each_task(policy->in_push), result.pop = for_each_task(policy->in_pop);
  return result;
}

Overhead median_of(const std::vector<Overhead>& runs) {
  Overhead result;
  for (double Overhead::*part : {&Overhead::submission, &Overhead::push, &Overhead::pop, &Overhead::drain}) {
    std::vector<double> values;
    for (const auto& run : runs) values.push_back(run.*part);
    result.*part = median(values);
  }
  return result;
}

/// The columns for the Runtime that exists.
std::vector<tools::Column<Overhead>> columns() {
  const auto part = [](double Overhead::*which) {
    return [=](const Overhead& overhead) { return tools::significant(overhead.*which, 3); };
  };
  return {{"policy", -16, [](const Overhead&) { return policy(); }},
          {"placement", -9, [](const Overhead&) { return tools::placement_name(placement()); }},
          {"GPUs", 4, [](const Overhead&) { return std::to_string(gpu_count()); }},
          {"CPUs", 4, [](const Overhead&) { return std::to_string(cpu_workers()); }},
          {"submission", 10, part(&Overhead::submission)},
          {"push", 6, part(&Overhead::push)},
          {"pop", 6, part(&Overhead::pop)},
          {"drain", 6, part(&Overhead::drain)}};
}

nlohmann::ordered_json to_json(int tasks, const Overhead& overhead) {
  return {{"overhead_tasks", tasks},  {"policy", policy()},     {"placement", tools::placement_name(placement())},
          {"gpus", gpu_count()},      {"cpus", cpu_workers()},  {"submission_us", overhead.submission},
          {"push_us", overhead.push}, {"pop_us", overhead.pop}, {"drain_us", overhead.drain}};
}

}  // namespace

void measure_overhead(const Options& options, Progress& progress) {
  tools::JsonLines json(options.json);
  const auto print = [&](const std::string& line) {
    progress.clear();
    json.note(line);
  };
  print(fmt::format("Microseconds per task, with {} empty tasks queued; median of {} runs\n", options.overhead,
                    options.repeat));
  print(tools::table_head(columns()));
  for (const int gpus : options.gpus)
    for (const auto& name : options.policies)
      for (const auto where : options.placements) {
        RuntimeOptions start;
        start.cpus = options.cpus, start.gpus = gpus, start.policy = name, start.placement = where;
        start.progress = false;
        const Runtime runtime(start);
        if (placement() == Placement::Owner)
          throw tools::BadArgument("--placement", "owner",
                                   "cannot be used with --overhead: it leaves the policy nothing to decide");
        std::vector<int> homes;
        if (placement() == Placement::Home)
          for (const auto& workers : runtime::session()->machine().gpu_workers)
            homes.insert(homes.end(), workers.begin(), workers.end());
        progress.begin("empty tasks under " + policy());
        std::vector<Overhead> runs;
        for (int run = 0; run < options.warmup + options.repeat; run++) {
          progress.show(fmt::format("{}/{}", run + 1, options.warmup + options.repeat));
          runs.push_back(run_tasks(options.overhead, homes));
        }
        runs.erase(runs.begin(), runs.begin() + options.warmup);
        const auto middle = median_of(runs);
        print(tools::table_line(columns(), middle));
        json.write(to_json(options.overhead, middle));
      }
}

}  // namespace tessera::bench
