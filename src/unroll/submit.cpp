// SPDX-License-Identifier: BSD-3-Clause
#include "submit.hpp"

#include <algorithm>
#include <limits>

namespace tessera::unroll {

void Submitter::submit(starpu_codelet& codelet, std::initializer_list<Access> accesses, void* args,
                       std::size_t args_size, double flops, int owner) {
  auto* task = starpu_task_create();
  task->cl = &codelet;
  task->nbuffers = static_cast<int>(accesses.size());
  int buffer = 0;
  for (const auto& access : accesses) {
    task->handles[buffer] = access.handle;
    task->modes[buffer] = access.mode;
    buffer++;
  }
  task->cl_arg = args;
  task->cl_arg_size = args_size;
  task->cl_arg_free = 1;
  task->flops = flops;
  task->priority = priority_;
  if (priority_ > std::numeric_limits<int>::min()) priority_--;
  if (owner >= 0) {
    const auto& workers = session_.gpu_workers()[static_cast<std::size_t>(owner)];
    task->execute_on_a_specific_worker = 1;
    task->workerid = static_cast<unsigned>(workers.front());
  }
  if (const int status = starpu_task_submit(task); status != 0) {
    const std::string why = status == -ENODEV ? "no worker can run it" : std::strerror(-status);
    starpu_task_destroy(task);
    throw RuntimeError(std::string(codelet.name) + ": cannot submit a task: " + why);
  }
  detail::count_submitted();
}

}  // namespace tessera::unroll
