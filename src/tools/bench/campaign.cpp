// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

#include "bench/timing.hpp"
#include "machine/machine_rates.hpp"
#include "shared/runtime_options.hpp"
#include "shared/trace_option.hpp"
#include "workload/memory.hpp"
#include "workload/other_libraries.hpp"
#include "workload/spread.hpp"

namespace tessera::bench {

namespace {

/// The settings that measurements with the same Runtime share.
struct Configuration {
  int gpus;
  std::string policy;
  Placement placement;
  Index tile;  ///< 0: the library chooses
  friend bool operator==(const Configuration&, const Configuration&) = default;
};

class Campaign {
 public:
  Campaign(const Options& options, const Machine& machine, const Limits& limits, Report& report, Progress& progress)
      : options_(options), machine_(machine), limits_(limits), report_(report), progress_(progress),
        recordings_(options.trace, runs()) {
    allocate();
  }

  std::vector<Result> run() {
    if (options_.sweep) return sweep();
    for (const auto& [routine, problem] : options_.calls()) run_problem(*routine, *problem);
    return std::move(results_);
  }

  /// Measures all calls in one way before it begins with the next way, because each way needs its own Runtime.
  std::vector<Result> sweep() {
    Regrets regrets(options_.gpus.back());
    for (const auto& way : alternatives(options_.gpus.back()))
      for (const auto& [routine, problem] : options_.calls()) {
        if (!suits(way, *problem)) continue;
        fill(*routine, *problem);
        try {
          run_tessera(*routine, *problem, {way.gpus, options_.policies.front(), options_.placements.front(), way.tile});
          regrets.add(results_.back(), way);
        } catch (const ArgumentError& error) {  // a tile size that does not fit on any GPU is not an alternative
          if (is_choice(way, options_.gpus.back())) throw;
          report_.note(error.what());
        }
      }
    report_.end(regrets);
    return std::move(results_);
  }

 private:
  void allocate() {
    std::array<std::size_t, 3> bytes{};
    for (const auto& [routine, problem] : options_.calls()) {
      const auto needed = operand_bytes(*routine, *problem);
      for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = std::max(bytes[i], needed[i]);
    }
    const double gigabytes = static_cast<double>(bytes[0] + bytes[1] + bytes[2]) * 1e-9;
    if (gigabytes >
        machine_.free_memory * 1e-9)  // A container may report too little free memory, so this is not an error.
      report_.note(fmt::format("The operands need {:.1f} GB; the system reports {:.1f} GB free.", gigabytes,
                               machine_.free_memory * 1e-9));
    progress_.begin("allocating the operands");
    progress_.show(fmt::format("{:.3g} GB", gigabytes));
    const bool on_gpu = *options_.memory == Memory::Device;
    operands_.emplace(bytes, *options_.memory, on_gpu ? std::optional(machine_.ordinals(1).front()) : std::nullopt);
  }

  void fill(const Routine& routine, const Problem& problem) {
    progress_.begin("filling the operands");
    progress_.show("");
    const PauseWorkers pause;
    operands_->fill(problem, routine.shapes(problem));
  }

  void run_problem(const Routine& routine, const Problem& problem) {
    fill(routine, problem);
    for (const int gpus : options_.gpus) {
      for (const auto& policy : options_.policies)
        for (const auto placement : options_.placements)
          run_tessera(routine, problem, {gpus, policy, placement, options_.tile});
      if (options_.against_cublasxt && gpus > 0) run_cublasxt(routine, problem, gpus);
      if (options_.against_cusolver && gpus > 1) run_cusolver_mg(routine, problem, gpus);
    }
    if (options_.against_cublas)
      run_on_one_gpu(routine, problem, "cublas", routine.peers().cublas, &Routine::run_cublas);
    if (options_.against_cusolver)
      run_on_one_gpu(routine, problem, "cusolver", routine.has_cusolver(problem), &Routine::run_cusolver);
    if (options_.against_openblas) run_openblas(routine, problem);
  }

  /// @param beside  rate of the cores that compute beside the GPUs [flop/s]
  void set_limits(Result& result, int gpus, double beside = 0) const {
    result.limit = limits_.seconds(*result.routine, result.problem, gpus, beside);
    result.parts = limits_.parts(*result.routine, result.problem, gpus, beside);
  }

  Result start(const Routine& routine, const Problem& problem, std::string library, int gpus, int limit_gpus) {
    Result result;
    result.routine = &routine, result.problem = problem, result.library = std::move(library);
    result.memory = name_of(*options_.memory), result.gpus = gpus, result.repeat = options_.repeat;
    set_limits(result, limit_gpus);
    result.bytes_min_h2d = gpus > 0 ? routine.compulsory(problem).in : 0;
    progress_.begin(fmt::format("{}{} {}x{}x{}, {}", problem.type, routine.name(), problem.m, problem.n, problem.k,
                                result.library));
    return result;
  }

  void restore_result(const Result& result) const {
    std::optional<PauseWorkers> pause(std::in_place);
    operands_->fill_result(result.problem, result.routine->shapes(result.problem));
    pause.reset();  // end the pause: the copies are tasks
    if (spread_) spread_->fill();
  }

  /// What to do before each call. A call overwrites C. The old C is restored once, because earlier measurements have
  /// overwritten it, or before each call if repeated calls would overflow the type, or if the routine needs the old
  /// values.
  std::function<void()> preparation(const Result& result) const {
    constexpr double too_large = 1e30;
    const auto restore = [this, &result] { restore_result(result); };
    if (std::pow(result.routine->growth(result.problem), 1 + options_.warmup + options_.repeat) > too_large)
      return restore;
    restore();
    return {};
  }

  /// @param count  called with a number of measured calls once the statistics cover just these: after each call if
  ///               something precedes it, otherwise after the last, because reading statistics delays the next call
  void time(Result& result, const std::function<void()>& run, const std::function<void(int calls)>& count = {}) {
    const auto prepare = preparation(result);
    if (!count) return void(result.timing = measure({run, prepare, {}}, {options_.warmup, options_.repeat}, progress_));
    const int unmeasured = 1 + options_.warmup, all = unmeasured + options_.repeat;
    int begun = 0, ended = unmeasured;
    const auto begin = [&] {
      if (prepare) prepare();
      if (prepare || begun == unmeasured) reset_statistics();
      begun++;
    };
    const auto end = [&] {
      ended++;
      if (prepare) count(1);
      else if (ended == all) count(options_.repeat);
    };
    result.timing = measure({run, begin, end}, {options_.warmup, options_.repeat}, progress_);
  }

  /// Checks one more call, which starts from the C that the oracle assumes.
  void check(Result& result, const std::function<void()>& run) {
    if (!options_.check) return;
    progress_.show("checking");
    restore_result(result);
    run();
    if (spread_) spread_->bring_back();
    const PauseWorkers pause;
    result.check = result.routine->check(result.problem, operands_->on_host());
  }

  void finish(Result result) {
    report_.add(result);
    results_.push_back(std::move(result));
  }

  RuntimeOptions runtime_options(const Configuration& configuration) const {
    RuntimeOptions start;
    start.cpus = options_.cpus, start.gpus = configuration.gpus;
    start.policy = configuration.policy, start.placement = configuration.placement, start.tile = configuration.tile;
    start.progress = false;  // the Runtime's own line would overwrite this program's
    return start;
  }

  /// Makes the matrices of a call on spread operands. `preparation` fills them.
  void spread(const Routine& routine, const Problem& problem) {
    if (problem.memory == Memory::Spread) spread_ = routine.spread(problem, operands_->get());
  }

  void start_runtime(const Configuration& configuration) {
    spread_.reset();
    if (runtime_ && configuration == running_) return;
    runtime_.reset();
    runtime_.emplace(runtime_options(configuration));
    running_ = configuration;
  }

  std::size_t runs() const {
    return options_.calls().size() * options_.gpus.size() * options_.policies.size() * options_.placements.size();
  }

  /// Explains the recording of a call that took `seconds`. If that fails, returns the error message as well, so that
  /// the next measurements still run.
  static std::string explained(double seconds, const std::string& folder) {
    const auto call = fmt::format("recorded: a call of {:.4g} s", seconds);
    try {
      const auto recording = tools::explain_recording(folder);
      return fmt::format("{}, of which {}; report: {}", call, recording.time, recording.page.string());
    } catch (const RuntimeError& error) {
      return call + "; " + error.what();
    }
  }

  /// Records one more warm call in a separate Runtime, because recording would slow down the measured calls.
  void record(const Result& result, const Configuration& configuration, const std::function<void()>& call) {
    if (options_.trace.empty()) return;
    progress_.show("recording");
    runtime_.reset();
    const auto& p = result.problem;
    auto start = runtime_options(configuration);
    start.trace = recordings_.next(fmt::format("{}{}-{}x{}x{}-{}gpu-{}-{}", p.type, result.routine->name(), p.m, p.n,
                                               p.k, configuration.gpus, result.policy, result.placement));
    double seconds = 0;
    {
      const Runtime recording(start);
      spread(*result.routine, p);
      pause_recording();
      const auto prepare = preparation(result);
      for (int i = 0; i <= options_.warmup; i++) seconds_of({call, prepare, {}});
      if (prepare) prepare();
      resume_recording();
      seconds = seconds_of({call, {}, {}});
      spread_.reset();
    }
    progress_.clear();
    report_.note(explained(seconds, start.trace));
  }

  /// The rate of a core, if cores compute beside the GPUs; otherwise 0. @pre a Runtime exists
  static double rate_of_a_core(const Problem& problem, const algorithms::Plan& plan) {
    const auto& machine = machine_for(problem);
    const auto& core = machine::machine_rates(machine, problem.type).cpu;
    const bool compute = plan.has_cores() || machine.placement == Placement::Scheduler;
    return machine.gpu_count() > 0 && compute && !core.empty() ? core.best_rate() : 0;
  }

  void run_tessera(const Routine& routine, const Problem& problem, const Configuration& configuration) {
    auto result = start(routine, problem, "tessera", configuration.gpus, configuration.gpus);
    progress_.show("starting StarPU");
    start_runtime(configuration);
    const auto plan = routine.plan_of(problem);
    result.tile_m = plan.tile.m, result.tile_n = plan.tile.n, result.tile_k = plan.tile.k;
    if (routine.is_planned_whole() && problem.chain == 1 && problem.memory != Memory::Spread)
      result.predicted = plan.seconds;
    result.cpus = cpu_workers(), result.policy = policy(), result.placement = tools::placement_name(placement());
    const double core = rate_of_a_core(problem, plan);
    set_limits(result, configuration.gpus, core * std::min(cpu_workers(), machine_.cores));
    spread(routine, problem);
    if (spread_) result.tile_m = spread_->tile().rows, result.tile_n = spread_->tile().columns;
    const auto call = [&] { spread_ ? spread_->run() : routine.run_tessera(problem, operands_->get()); };
    time(result, call, [&](int calls) { tools::add(result.activity, tools::activity(calls, plan.has_cores())); });
    const bool cores_take_part = result.activity->workers > result.activity->gpu_workers;
    if (result.gpus > 0 && cores_take_part) result.bytes_min_h2d.reset();  // the GPUs need not read what cores compute
    result.parts.chain = routine.critical_path(
        problem, operands_->on_host(), std::max(core, limits_.rate_of_a_device(problem.type, configuration.gpus)));
    check(result, call);
    spread_.reset();
    report_.add(result);
    record(result, configuration, call);
    results_.push_back(std::move(result));
  }

  /// Measures another library with each of several block sizes, and reports the fastest, and each whose check fails.
  /// Reports a row without a time if the library accepts none of the sizes.
  /// @param prepare  (block) → the call
  void run_in_blocks(const Routine& routine, const Problem& problem, const char* library, int gpus,
                     const std::vector<Index>& blocks,
                     const std::function<std::function<void()>(Index block)>& prepare) {
    runtime_.reset();  // StarPU keeps all GPU memory that it has allocated, perhaps nearly all there is
    std::optional<Result> best;
    std::string refusal;
    for (const Index block : blocks) {
      auto result = start(routine, problem, library, gpus, gpus);
      result.tile_m = result.tile_n = result.tile_k = block;
      const auto call = prepare(block);
      try {
        time(result, call);
      } catch (const RefusedBlock& error) {
        refusal = error.what();
        continue;
      }
      if (best && best->timing->median <= result.timing->median) continue;
      check(result, call);
      if (best && best->failed()) finish(*std::move(best));
      best = std::move(result);
    }
    finish(best ? *std::move(best) : start(routine, problem, library, gpus, gpus));
    if (!refusal.empty()) report_.note(fmt::format("{}, for some of those tried", refusal));
  }

  void run_cublasxt(const Routine& routine, const Problem& problem, int gpus) {
    if (!routine.peers().cublas) return finish(start(routine, problem, "cublasxt", gpus, gpus));
    run_in_blocks(routine, problem, "cublasxt", gpus, options_.xt_blocks, [&](Index block) {
      auto xt = std::make_shared<CublasXt>(machine_.ordinals(gpus));
      xt->set_block(block);
      return [&, xt] { routine.run_cublasxt(xt->handle(), problem, operands_->get()); };
    });
  }

  /// Measures cuSOLVERMg, which runs on several GPUs.
  void run_cusolver_mg(const Routine& routine, const Problem& problem, int gpus) {
    if (!routine.has_cusolver_mg(problem)) return finish(start(routine, problem, "cusolvermg", gpus, gpus));
    run_in_blocks(routine, problem, "cusolvermg", gpus, {256, 512, 1024}, [&](Index block) {
      auto solver = std::make_shared<CuSolverMg>(machine_.ordinals(gpus), block);
      return [&, solver] { routine.run_cusolver_mg(*solver, problem, operands_->get()); };
    });
  }

  /// @param exists  whether the library has the routine
  template <typename Library>
  void run_on_one_gpu(const Routine& routine, const Problem& problem, const char* name, bool exists,
                      void (Routine::*run_it)(Library&, const Problem&, const Operands&) const) {
    auto result = start(routine, problem, name, 1, 1);
    if (!exists) return finish(std::move(result));
    runtime_.reset();  // frees the GPUs' memory, as for cuBLAS-XT
    Library library(machine_.ordinals(1).front());
    const auto call = [&] { (routine.*run_it)(library, problem, operands_->get()); };
    time(result, call);
    check(result, call);
    finish(std::move(result));
  }

  void run_openblas(const Routine& routine, const Problem& problem) {
    auto result = start(routine, problem, "openblas", 0, options_.gpus.back());
    result.cpus = options_.cpus > 0 ? options_.cpus : machine_.blas_threads;
    if (!routine.peers().openblas) return finish(std::move(result));
    const OpenBlas threads(result.cpus);
    const auto call = [&] { routine.run_openblas(problem, operands_->get()); };
    time(result, call);
    check(result, call);
    finish(std::move(result));
  }

  const Options& options_;
  const Machine& machine_;
  const Limits& limits_;
  Report& report_;
  Progress& progress_;
  std::optional<OperandMemory> operands_;  // must outlive the Runtime, which may have registered this memory
  std::optional<Runtime> runtime_;
  std::unique_ptr<SpreadCall> spread_;  // its matrices belong to the Runtime
  Configuration running_{};
  tools::RecordingFolders recordings_;
  std::vector<Result> results_;
};

}  // namespace

void measure_limits(const Options& options, Limits& limits) {
  std::set<int> counts(options.gpus.begin(), options.gpus.end());
  if (options.against_cublas || options.against_cusolver) counts.insert(1);
  for (const int gpus : counts)
    for (const auto& problem : options.problems) {
      Index largest = 0;
      for (const auto& other : options.problems)
        if (other.type == problem.type) largest = std::max({largest, other.m, other.n, other.k});
      limits.measure(problem.type, gpus, largest);
    }
}

std::vector<Result> run_campaign(const Options& options, const Machine& machine, const Limits& limits, Report& report,
                                 Progress& progress) {
  return Campaign(options, machine, limits, report, progress).run();
}

}  // namespace tessera::bench
