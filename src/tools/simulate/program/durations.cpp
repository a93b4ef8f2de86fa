// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/program/durations.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <string>

#include "machine/simulation/machine.hpp"

namespace tessera::simulate {

namespace {

using simulation::described_machine;

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
const detail::CostCurve* find(const std::map<std::string, detail::CostCurve>& table, const std::string& names) {
  const detail::CostCurve* found = nullptr;
  std::size_t longest = 0;
  for (const auto& [name, curve] : table)
    if (name.size() > longest && names.find(lower_case(name)) != std::string::npos)
      found = &curve, longest = name.size();
  return found;
}

/// The tile operation whose name occurs in `names`, for example `potrf` in `chol_model_potrf`; otherwise `gemm`.
std::string operation_in(const std::string& names, const simulation::GpuKind& kind) {
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

double seconds_on_gpu(const simulation::GpuKind& kind, const std::string& names, double flops, double bytes) {
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

}  // namespace

std::optional<char> ordered_type() {
  static const std::optional<char> type = [] {
    char letter = 0;
    return recv(hand_over, &letter, 1, MSG_DONTWAIT) == 1 ? std::optional(letter) : std::nullopt;
  }();
  return type;
}

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

}  // namespace tessera::simulate
