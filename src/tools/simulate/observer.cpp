// SPDX-License-Identifier: BSD-3-Clause
// libtessera_observer.so is loaded before a program that tessera-simulate runs. It replaces three functions of StarPU,
// in order to start counting when StarPU has started, to give each submitted task a duration, and to send the result to
// tessera-simulate before StarPU stops.
#include <dlfcn.h>
#include <starpu.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/simulated/machine_description.hpp"
#include "runtime/counters.hpp"
#include "simulate/outcome.hpp"
#include "simulate/task_watch.hpp"

#undef starpu_task_submit  // a macro that calls the function

namespace {

using namespace tessera;
using namespace tessera::simulate;
using device::simulated::described_machine;

/// The type of the elements: the letter that tessera-simulate has sent. Only the first process that asks receives it.
/// Empty for all others, and without tessera-simulate.
std::optional<char> ordered_type() {
  static const std::optional<char> type = [] {
    char letter = 0;
    return recv(hand_over, &letter, 1, MSG_DONTWAIT) == 1 ? std::optional(letter) : std::nullopt;
  }();
  return type;
}

/// The models that replace those of the program's codelets, with the lower-case names of each model's first task.
/// Codelets are identified by their model: a codelet may be copied, and its memory may be reused for another.
std::map<const starpu_perfmodel*, std::string> names_by_model;
std::deque<starpu_perfmodel> models;

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The names that the program has given to a task, its codelet and its model, concatenated.
std::string names_of(const starpu_task& task) {
  std::string names;
  const auto* model = task.cl->model;
  for (const char* name : {task.cl->name, model != nullptr ? model->symbol : nullptr, task.name})
    if (name != nullptr) names += lower_case(name) + " ";
  return names;
}

double bytes_of(starpu_task* task) {
  double bytes = 0;
  for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); i++)
    if ((STARPU_TASK_GET_MODE(task, i) & STARPU_SCRATCH) == 0)
      bytes += static_cast<double>(starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, i)));
  return bytes;
}

/// The times of a codelet whose name occurs in `names`; null if the table has none.
const device::CostCurve* find(const std::map<std::string, device::CostCurve>& table, const std::string& names) {
  const device::CostCurve* found = nullptr;
  std::size_t longest = 0;
  for (const auto& [name, curve] : table)
    if (name.size() > longest && names.find(lower_case(name)) != std::string::npos)
      found = &curve, longest = name.size();
  return found;
}

/// The tile operation whose name occurs in `names`, for example `potrf` in `chol_model_potrf`; otherwise `gemm`.
std::string operation_in(const std::string& names, const device::simulated::GpuKind& kind) {
  std::string operation = "gemm";
  for (const auto& [name, curve] : kind.kernels)
    if (names.find(name) != std::string::npos && (operation == "gemm" || name.size() > operation.size()))
      operation = name;
  return operation;
}

char element_type() { return ordered_type().value_or('d'); }

double seconds_on_core(const std::string& names, double flops, double bytes) {
  constexpr double memory_rate = 10e9;  // bytes/s of one core
  const auto& machine = described_machine();
  if (const auto* curve = find(machine.core_codelets, names); curve != nullptr) return curve->seconds(bytes);
  const double single = element_type() == 's' || element_type() == 'c' ? 2 : 1;
  return flops > 0 ? flops / (single * machine.core_rate) : bytes / memory_rate;
}

double seconds_on_gpu(const device::simulated::GpuKind& kind, const std::string& names, double flops, double bytes) {
  if (const auto* curve = find(kind.codelets, names); curve != nullptr) return curve->seconds(bytes);
  if (flops > 0) return kind.task_seconds(operation_in(names, kind), {flops, element_type()});
  return kind.task_overhead + bytes / kind.memory_rate;
}

/// @returns microseconds
double duration(starpu_task* task, unsigned worker, unsigned /*implementation*/) {
  const auto& names = names_by_model.at(task->cl->model);
  const double bytes = bytes_of(task);
  const int id = static_cast<int>(worker);
  constexpr double least = 1e-7;  // 0 would mean unknown to StarPU
  const double seconds =
      starpu_worker_get_type(id) == STARPU_CUDA_WORKER
          ? seconds_on_gpu(described_machine().kind_of(starpu_worker_get_devid(id)), names, task->flops, bytes)
          : seconds_on_core(names, task->flops, bytes);
  return 1e6 * std::max(seconds, least);
}

bool has_function(const starpu_perfmodel* model) {
  return model != nullptr &&
         (model->type == STARPU_PER_WORKER || model->type == STARPU_PER_ARCH || model->type == STARPU_COMMON);
}

/// Gives the codelet of a task a performance model from the described machine, unless its model is a function. Models
/// based on earlier runs are replaced too, because nothing is measured in a simulation.
void set_durations(starpu_task* task) {
  auto* codelet = task->cl;
  if (codelet == nullptr || codelet->where == STARPU_NOWHERE || has_function(codelet->model)) return;
  auto& model = models.emplace_back();
  const auto& names = names_by_model[&model] = names_of(*task);
  model.type = STARPU_PER_WORKER;
  model.symbol = names.c_str();
  model.worker_cost_function = duration;
  codelet->model = &model;
}

/// What is observed while StarPU runs.
struct Observation {
  TaskWatch watch{static_cast<int>(starpu_cuda_worker_get_count())};
  double begin = 0;  ///< µs, when the first task is submitted; 0: no task so far
};
std::optional<Observation> observation;
bool has_started = false;  ///< false: tasks that StarPU itself submits during its start are ignored

/// The next function of this name, which is StarPU's.
template <typename Function>
Function* replaced(Function* /*replacement*/, const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (found == nullptr) {
    std::fprintf(stderr, "tessera-simulate: StarPU has no function %s\n", name);
    std::abort();
  }
  return found;
}

/// Ends the program with a message if an exception occurs. The functions below are called by C programs, which cannot
/// catch exceptions.
template <typename Function>
void guarded(Function function) {
  try {
    function();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera-simulate: %s\n", error.what());
    std::_Exit(EXIT_FAILURE);
  }
}

void begin_observation() {
  tell_of_nvlink(device::simulated::described_machine());
  observation.emplace();
  runtime::reset_counters();
}

Outcome outcome() {
  const int gpus = static_cast<int>(starpu_cuda_worker_get_count());
  std::vector<unsigned> gpu_nodes;
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++)
    if (starpu_node_get_kind(node) == STARPU_CUDA_RAM) gpu_nodes.push_back(node);
  Outcome outcome;
  if (observation->begin == 0) outcome.error = "the program has submitted no task";
  outcome.seconds = 1e-6 * (starpu_timing_now() - observation->begin);
  outcome.policy = starpu_sched_get_sched_policy()->policy_name;
  if (const char* wanted = std::getenv("STARPU_SCHED"); wanted != nullptr && outcome.policy != wanted)
    outcome.error = "it ran under the policy '" + outcome.policy + "': StarPU knows no policy '" + wanted +
                    "', or refused its options, or the program chooses one itself";
  outcome.gpus = TaskWatch::result();
  outcome.activity = {runtime::read_counters(gpu_nodes), 1, gpus, static_cast<int>(starpu_worker_get_count())};
  outcome.activity.total.seconds = outcome.seconds;
  return outcome;
}

void send(const Outcome& outcome) {
  if (!write_outcome(hand_over, outcome)) throw std::runtime_error("the result cannot be written");
  // tessera-simulate reads until the stream ends. The stream would not end while a process that the program has left
  // behind holds the socket.
  shutdown(hand_over, SHUT_RDWR);
}

/// Sends the result. Does so only once, because a program may start StarPU again.
void send_outcome() {
  if (!observation) return;
  send(outcome());
  observation.reset();
}

/// Ends the program unless it uses the StarPU that is built for simulation. An ordinary StarPU would silently find no
/// GPU.
/// @param of_starpu  one of StarPU's functions
void require_simulation(void* of_starpu) {
  Dl_info info{};
  if (!ordered_type() || dladdr(of_starpu, &info) == 0) return;
  void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  const bool simulates = library == nullptr || dlsym(library, "_starpu_simgrid_actor_create") != nullptr;
  if (library != nullptr) dlclose(library);
  if (simulates) return;
  Outcome outcome;
  outcome.error = std::string("--program: it has been built with a StarPU that computes, ") + info.dli_fname +
                  ": build it with the one that simulates, whose prefix './run starpu simgrid' prints";
  outcome.bad_argument = true;
  send(outcome);
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace

extern "C" int starpu_init(starpu_conf* conf) {
  static auto* const original = replaced(&starpu_init, "starpu_init");
  guarded([] { require_simulation(reinterpret_cast<void*>(original)); });
  const int result = original(conf);
  const bool again = std::exchange(has_started, has_started || result == 0);
  if (result == 0 && !again && ordered_type()) guarded(begin_observation);
  return result;
}

extern "C" int starpu_task_submit(starpu_task* task) {
  static auto* const original = replaced(&starpu_task_submit, "starpu_task_submit");
  if (observation && observation->begin == 0) observation->begin = starpu_timing_now();
  if (has_started) guarded([&] { set_durations(task); });
  return original(task);
}

extern "C" void starpu_shutdown(void) {
  static auto* const original = replaced(&starpu_shutdown, "starpu_shutdown");
  guarded(send_outcome);
  original();
}
