// SPDX-License-Identifier: BSD-3-Clause
#include "backup.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "columns.hpp"

namespace tessera::dropin {

namespace {

double in_file(const char* path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : std::numeric_limits<double>::infinity();  // "max", or no such file: no limit
}

/// Bytes that this process can still allocate. Considers the memory of the machine, and the limit of the container if
/// that is visible at the root of the control groups.
double available_memory() {
  double available = std::numeric_limits<double>::infinity();
  std::ifstream file("/proc/meminfo");
  for (std::string name, unit; file >> name;) {
    double kibibytes = 0;
    if (!(file >> kibibytes)) break;
    std::getline(file, unit);
    if (name == "MemAvailable:") available = 1024 * kibibytes;
  }
  // The container's limit. Its current use includes cached pages of files, which it could drop: a safe estimate.
  const double limit = in_file("/sys/fs/cgroup/memory.max");
  if (limit < std::numeric_limits<double>::infinity())
    available = std::min(available, limit - in_file("/sys/fs/cgroup/memory.current"));
  return available;
}

}  // namespace

Backup::Backup(const Job& job) : element_size_(job.element_size) {
  const double needed = job.backup_bytes();
  if (needed > 1e6 && needed > available_memory() / 2) {
    complete_ = false;
    return;
  }
  for (std::size_t i = 0; i < copies_.size(); i++) {
    const auto& operand = job.overwritten[i];
    if (operand.use == blas::Use::None || operand.m == 0 || operand.n == 0) continue;
    const auto bytes = static_cast<std::size_t>(operand.m * operand.n * element_size_);
    // A separate mapping with huge pages. Page faults on small pages take several times as long as the copy.
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    complete_ = memory != MAP_FAILED;
    if (!complete_) return;
    madvise(memory, bytes, MADV_HUGEPAGE);  // if the system supports it
    copies_[i] = {operand, {static_cast<std::byte*>(memory), Unmap{bytes}}};
    for_each_column(copies_[i],
                    [](std::byte* saved, std::byte* column, std::size_t count) { std::memcpy(saved, column, count); });
  }
}

void Backup::Unmap::operator()(std::byte* data) const { munmap(data, bytes); }

void Backup::restore() const {
  for (const auto& copy : copies_)
    if (copy.memory != nullptr)
      for_each_column(
          copy, [](std::byte* saved, std::byte* column, std::size_t count) { std::memcpy(column, saved, count); });
}

template <typename Move>
void Backup::for_each_column(const Copy& copy, Move move) const {
  const auto& x = copy.operand;
  const auto columns = [&](Index first, Index last) {
    for (Index j = first; j < last; j++) {
      const Index begin = x.triangle == Uplo::Lower ? j : 0, end = x.triangle == Uplo::Upper ? j + 1 : x.m;
      move(copy.memory.get() + (begin + j * x.m) * element_size_,
           static_cast<std::byte*>(x.data) + (begin + j * x.ld) * element_size_,
           static_cast<std::size_t>((end - begin) * element_size_));
    }
  };
  for_columns(x.n, x.elements() * static_cast<double>(element_size_), columns);
}

}  // namespace tessera::dropin
