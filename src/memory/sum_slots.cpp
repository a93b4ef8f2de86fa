// SPDX-License-Identifier: BSD-3-Clause
#include "sum_slots.hpp"

#include <starpu.h>

#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "common/of_type.hpp"

namespace tessera::memory::sum_slots {

namespace {

std::mutex mutex;
std::vector<void*> unused;  // guarded by mutex

#ifdef STARPU_SIMGRID
/// The slot of all simulated tasks, which access no memory and return no slot.
void* take_any() {
  static double slot;
  return &slot;
}
#else
void* take_any() {
  const std::lock_guard lock(mutex);
  if (unused.empty()) return nullptr;
  auto* const slot = unused.back();
  unused.pop_back();
  return slot;
}
#endif

}  // namespace

void add(std::span<double> memory) {
  const std::lock_guard lock(mutex);
  for (auto& slot : memory) unused.push_back(&slot);
}

void clear() {
  const std::lock_guard lock(mutex);
  unused = {};
}

void* take(char type) {
  auto* const slot = take_any();
  if (slot == nullptr) return nullptr;
  return common::with_type(
      type, [&]<Scalar T>(T) -> void* { return new (slot) Real<T>(std::numeric_limits<Real<T>>::quiet_NaN()); });
}

void give_back(void* slot) noexcept {
  if (slot == nullptr) return;
  const std::lock_guard lock(mutex);
  unused.push_back(slot);  // does not allocate: the vector has held this slot before
}

}  // namespace tessera::memory::sum_slots
