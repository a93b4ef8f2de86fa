// SPDX-License-Identifier: BSD-3-Clause
#include "submit.hpp"

#include <cerrno>
#include <cstring>

#include <tessera/sched.h>

#include "common/failure.hpp"
#include "devices/panels_on_cores.hpp"
#include "devices/tile_interface.hpp"
#include "memory/allocation_size.hpp"
#include "owning_worker.hpp"
#include "runtime/counters.hpp"
#include "runtime/process_session.hpp"
#include "tile/unwritten.hpp"

namespace tessera::sinks {

namespace {

/// Prefetches a tile, at idle priority, to the memory node of the worker that ran the current task.
void fetch_when_idle(starpu_data_handle_t handle) {
  const auto node = starpu_worker_get_memory_node(starpu_worker_get_id_check());
  starpu_data_idle_prefetch_on_node(handle, node, 1);
}

void set_accesses(starpu_task* task, std::span<const Access> accesses) {
  task->nbuffers = static_cast<int>(accesses.size());
  if (accesses.size() > STARPU_NMAXBUFS) {  // StarPU frees them with the task
    task->dyn_handles = static_cast<starpu_data_handle_t*>(std::malloc(accesses.size() * sizeof(starpu_data_handle_t)));
    task->dyn_modes =
        static_cast<starpu_data_access_mode*>(std::malloc(accesses.size() * sizeof(starpu_data_access_mode)));
    if (task->dyn_handles == nullptr || task->dyn_modes == nullptr) {
      starpu_task_destroy(task);
      throw RuntimeError("no memory for the tiles of a task");
    }
  }
  int buffer = 0;
  for (const auto& access : accesses) {
    STARPU_TASK_SET_HANDLE(task, access.handle, buffer);
    STARPU_TASK_SET_MODE(task, access.mode, buffer);
    buffer++;
  }
}

/// A codelet without implementations: StarPU only orders its tasks by their accesses.
starpu_codelet& ordering_codelet() {
  static starpu_codelet codelet = [] {
    starpu_codelet cl{};
    cl.where = STARPU_NOWHERE;
    cl.nbuffers = STARPU_VARIABLE_NBUFFERS;
    cl.name = "order";
    return cl;
  }();
  return codelet;
}

starpu_task* empty_task() {
  auto* task = starpu_task_create();
  task->cl = &ordering_codelet();
  return task;
}

void submit_only(starpu_task* task, std::span<const Access> accesses, bool counts_other_tasks) {
  if (auto* const dump = Dump::active()) dump->order(accesses);
  set_accesses(task, accesses);
  if (counts_other_tasks) task->sched_data = &tessera_sched_tile_task;
  if (const int status = starpu_task_submit(task); status != 0) {
    starpu_task_destroy(task);
    throw RuntimeError(std::string("cannot submit an empty task: ") + std::strerror(-status));
  }
}

}  // namespace

TemporaryTile::TemporaryTile(Index m, Index n, std::size_t element_size) {
  starpu_matrix_interface matrix{};
  matrix.id = STARPU_MATRIX_INTERFACE_ID;
  matrix.nx = matrix.ld = static_cast<std::uint32_t>(m), matrix.ny = static_cast<std::uint32_t>(n);
  matrix.elemsize = element_size;
  matrix.allocsize = memory::allocation_size(static_cast<std::size_t>(m * n) * element_size);
  starpu_data_register(&handle_, -1, &matrix, device::tile_interface::pinned());
  starpu_data_set_sequential_consistency_flag(handle_, 1);
  common::take_failure(handle_);
  if (auto* const dump = Dump::active()) dump->temporary(handle_);
}

void TemporaryTile::release() noexcept {
  auto* const handle = std::exchange(handle_, nullptr);
  if (handle != nullptr && !runtime::in_forked_child()) starpu_data_unregister_submit(handle);
}

void TemporaryTile::stand_for(const detail::TileGrid& matrix, Index i, Index j) const {
  const char name[] = {matrix.letter(), '\0'};
  starpu_data_set_name(handle_, name);
  starpu_data_set_coordinates(handle_, 2, static_cast<int>(i), static_cast<int>(j));
  if (auto* const dump = Dump::active()) dump->stands_for(handle_, matrix.letter(), i, j);
}

common::float_mode::Bits Submitter::mode_of_caller(const machine::Machine& machine) {
  const auto mode = common::float_mode::current();
  if (mode != common::float_mode::usual && machine.gpu_count() > 0)
    throw RuntimeError("the calling thread " + common::float_mode::text(mode) +
                       ", which GPUs do not: they round to nearest, with denormals. Set that mode for the call "
                       "(fesetenv(FE_DFL_ENV)), or use no GPU (TESSERA_DEVICES=none)");
  return mode;
}

/// StarPU's epilogue callback. It runs before dependent tasks can run, so `wanted_next` is still registered: a
/// dependent task writes it.
void Submitter::task_has_run(void* end) {
  const auto [call, wanted_next, chunk] = *static_cast<const TaskEnd*>(end);
  const auto& task = *starpu_task_get_current();
  if (wanted_next != nullptr) fetch_when_idle(wanted_next);
  if (const auto failure = common::failure_after(task)) call->fails(failure);
  call->share().has_run(task.priority);
  if (call->metered()) runtime::count_finished(task);
  if (chunk != nullptr) starpu_task_end_dep_release(chunk);
  call->one_ends();
}

void Submitter::begin_chunk() { chunk_ = empty_task(); }

void Submitter::end_chunk(std::span<const Access> accesses) {
  submit_only(std::exchange(chunk_, nullptr), accesses, session_.counts_other_tasks());
}

void Submitter::submit_empty(std::span<const Access> accesses) {
  submit_only(empty_task(), accesses, session_.counts_other_tasks());
}

void Submitter::submit(starpu_codelet& codelet, std::span<const Access> accesses, void* args, std::size_t args_size,
                       TaskEnd& end, double flops, int priority, int owner) {
  auto* task = starpu_task_create();
  task->cl = &codelet;
  set_accesses(task, accesses);
  task->cl_arg = args;
  task->cl_arg_size = args_size;
  task->cl_arg_free = 1;
  task->flops = flops;
  if (session_.counts_other_tasks()) task->sched_data = &tessera_sched_tile_task;
  task->tag_id = static_cast<starpu_tag_t>(step_);  // for traces only: use_tag stays 0, since nothing waits for the tag
  task->epilogue_callback_func = task_has_run;
  task->epilogue_callback_arg = &end;
  task->priority = priority;
  const auto& machine = session_.machine();
  const bool on_cores = device::gpu::panel_rate_of_cores() > 0 && static_cast<const device::Work*>(args)->columns > 0;
  const auto gpus = on_cores ? 0 : kinds_of_gpus(codelet, machine);
  if (on_cores) task->where = STARPU_CPU;
  // A StarPU started by the program may have workers of both kinds. Tessera does not use the OpenCL ones then.
  if (!machine.has_opencl() && starpu_opencl_worker_get_count() > 0) task->where = STARPU_CPU | STARPU_CUDA;
  if (owner >= 0 && gpus != 0) {
    const int worker = worker_of(owner, gpus, machine);
    if (machine.placement == Placement::Home) {
      // GPUs may take over tiles of cores that are late. Otherwise only GPUs compute them, so identical GPUs give the
      // same bits for the same call.
      task->where = static_cast<std::int32_t>(gpus);
      if (owner >= machine.gpu_count()) task->where |= STARPU_CPU;
      if (gpus_ > 0 && gpus_ < machine.gpu_count()) {  // other GPUs must not steal
        const auto& workers = machine.first_workers[static_cast<std::size_t>(gpus_ - 1)];
        task->workerids = const_cast<std::uint32_t*>(workers.data());  // StarPU only reads them
        task->workerids_len = static_cast<unsigned>(workers.size());
      }
      for (const auto& access : accesses)
        if ((access.mode & STARPU_W) != 0) tessera_sched_suggest_home(access.handle, worker);
    } else {
      task->execute_on_a_specific_worker = 1;
      task->workerid = static_cast<unsigned>(worker);
    }
  }
  if (chunk_ != nullptr) starpu_task_end_dep_add(chunk_, 1);
  call_->task_begins();
  counted_.count(*task);
  // StarPU remembers the workers of earlier sessions, and would otherwise accept the task but never run it.
  const bool nowhere = gpus == 0 && machine.cpu_workers == 0;
  if (const int status = nowhere ? -ENODEV : starpu_task_submit(task); status != 0) {
    counted_.take_back(*task);
    if (chunk_ != nullptr) starpu_task_end_dep_add(chunk_, -1);
    call_->one_ends();
    const std::string why = status != -ENODEV ? std::strerror(-status)
                            : gpus != 0       ? "no worker can run it"
                                        : "it runs only on CPU workers, and there are none besides the OpenCL devices";
    task->destroy = 0;  // StarPU refuses to destroy the task otherwise
    starpu_task_destroy(task);
    throw RuntimeError(std::string(codelet.name) + ": cannot submit a task: " + why);
  }
  runtime::count_submitted();
  for (const auto& access : accesses)
    if ((access.mode & STARPU_W) != 0) tile::unwritten::remove(access.handle);
}

}  // namespace tessera::sinks
