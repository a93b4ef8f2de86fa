// SPDX-License-Identifier: BSD-3-Clause
#include "failure.hpp"

#include <mutex>
#include <unordered_map>

namespace tessera::common {

namespace {

struct FailedTile {
  std::shared_ptr<Failure> failure;
  const starpu_task* reporter;  ///< the task that reported the failure; null once that task has ended
};

std::mutex mutex;
std::string last_stray;
std::atomic<std::uint64_t> strays{0};
std::unordered_map<starpu_data_handle_t, FailedTile> failed;

/// Calls on_tile(handle, mode) for each data handle of the task, which may be a task of the program itself.
template <typename OnTile>
void for_each_tile(const starpu_task& task, OnTile on_tile) {
  if (task.cl == nullptr) return;
  for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(&task); i++)
    on_tile(STARPU_TASK_GET_HANDLE(&task, i), STARPU_TASK_GET_MODE(&task, i));
}

}  // namespace

void report_failure(const std::string& what) {
  const std::lock_guard lock(mutex);
  bool stray = true;
  if (const auto* task = starpu_task_get_current()) {
    const auto failure = std::make_shared<Failure>(what);
    for_each_tile(*task, [&](starpu_data_handle_t tile, starpu_data_access_mode mode) {
      if ((mode & STARPU_W) == 0) return;
      failed[tile] = {failure, task};
      stray = false;
    });
  }
  if (stray) last_stray = what, strays++;
  else failed_tiles::exist = true;
}

std::uint64_t stray_failures() { return strays; }

std::string last_stray_failure() {
  const std::lock_guard lock(mutex);
  return last_stray;
}

bool failed_tiles::are_read(const starpu_task& task) {
  const std::lock_guard lock(mutex);
  bool any = false;
  for_each_tile(task, [&](starpu_data_handle_t tile, starpu_data_access_mode mode) {
    any = any || ((mode & STARPU_R) != 0 && failed.contains(tile));
  });
  return any;
}

std::shared_ptr<Failure> failed_tiles::after(const starpu_task& task) {
  const std::lock_guard lock(mutex);
  std::shared_ptr<Failure> failure;
  for_each_tile(task, [&](starpu_data_handle_t tile, starpu_data_access_mode mode) {
    const auto found = failed.find(tile);
    if (found == failed.end()) return;
    if ((mode & STARPU_R) != 0 || found->second.reporter == &task) failure = found->second.failure;
  });
  for_each_tile(task, [&](starpu_data_handle_t tile, starpu_data_access_mode mode) {
    if ((mode & STARPU_W) == 0) return;
    if (failure) failed[tile] = {failure, nullptr};
    else failed.erase(tile);
  });
  exist = !failed.empty();
  return failure;
}

std::shared_ptr<Failure> failed_tiles::of(starpu_data_handle_t tile) {
  const std::lock_guard lock(mutex);
  const auto found = failed.find(tile);
  return found == failed.end() ? nullptr : found->second.failure;
}

std::shared_ptr<Failure> failed_tiles::take(starpu_data_handle_t tile) {
  const std::lock_guard lock(mutex);
  const auto found = failed.find(tile);
  if (found == failed.end()) return nullptr;
  auto failure = std::move(found->second.failure);
  failed.erase(found);
  exist = !failed.empty();
  return failure;
}

}  // namespace tessera::common
