// SPDX-License-Identifier: BSD-3-Clause
// libtessera_observer.so is loaded before a program that tessera-simulate runs. It replaces three functions of StarPU,
// in order to start counting when StarPU has started, to give each submitted task a duration, and to send the result to
// tessera-simulate before StarPU stops.
#include <dlfcn.h>
#include <starpu.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "machine/simulation/machine.hpp"
#include "runtime/counters.hpp"
#include "simulate/outcome.hpp"
#include "simulate/program/durations.hpp"
#include "simulate/task_watch.hpp"

#undef starpu_task_submit  // a macro that calls the function

namespace {

using namespace tessera;

/// What is observed while StarPU runs.
struct Observation {
  simulate::TaskWatch watch{static_cast<int>(starpu_cuda_worker_get_count())};
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
  simulate::tell_of_nvlink(simulation::described_machine());
  observation.emplace();
  detail::reset_counters();
}

simulate::Outcome outcome() {
  const int gpus = static_cast<int>(starpu_cuda_worker_get_count());
  std::vector<unsigned> gpu_nodes;
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); node++)
    if (starpu_node_get_kind(node) == STARPU_CUDA_RAM) gpu_nodes.push_back(node);
  simulate::Outcome outcome;
  if (observation->begin == 0) outcome.error = "the program has submitted no task";
  outcome.seconds = 1e-6 * (starpu_timing_now() - observation->begin);
  outcome.policy = starpu_sched_get_sched_policy()->policy_name;
  if (const char* wanted = std::getenv("STARPU_SCHED"); wanted != nullptr && outcome.policy != wanted)
    outcome.error = "it ran under the policy '" + outcome.policy + "': StarPU knows no policy '" + wanted +
                    "', or refused its options, or the program chooses one itself";
  outcome.gpus = simulate::TaskWatch::result();
  outcome.activity = {detail::read_counters(gpu_nodes), 1, gpus, static_cast<int>(starpu_worker_get_count())};
  outcome.activity.total.seconds = outcome.seconds;
  return outcome;
}

void send(const simulate::Outcome& outcome) {
  const auto text = nlohmann::json(outcome).dump();
  const auto written = write(simulate::hand_over, text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) throw std::runtime_error("the result cannot be written");
  // tessera-simulate reads until the stream ends. The stream would not end while a process that the program has left
  // behind holds the socket.
  shutdown(simulate::hand_over, SHUT_RDWR);
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
  if (!simulate::ordered_type() || dladdr(of_starpu, &info) == 0) return;
  void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  const bool simulates = library == nullptr || dlsym(library, "_starpu_simgrid_actor_create") != nullptr;
  if (library != nullptr) dlclose(library);
  if (simulates) return;
  simulate::Outcome outcome;
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
  if (result == 0 && !again && simulate::ordered_type()) guarded(begin_observation);
  return result;
}

extern "C" int starpu_task_submit(starpu_task* task) {
  static auto* const original = replaced(&starpu_task_submit, "starpu_task_submit");
  if (observation && observation->begin == 0) observation->begin = starpu_timing_now();
  if (has_started) guarded([&] { simulate::set_durations(task); });
  return original(task);
}

extern "C" void starpu_shutdown(void) {
  static auto* const original = replaced(&starpu_shutdown, "starpu_shutdown");
  guarded(send_outcome);
  original();
}
