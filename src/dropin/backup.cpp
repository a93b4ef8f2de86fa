// SPDX-License-Identifier: BSD-3-Clause
#include "backup.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

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

Backup::Backup(const Call& call) : call_(call) {
  if (!reads_result(call) || call.rows() == 0 || call.n == 0) return;
  const auto bytes = static_cast<std::size_t>(call.rows() * call.n * call.element_size());
  if (static_cast<double>(bytes) > 1e6 && static_cast<double>(bytes) > available_memory() / 2) {
    complete_ = false;
    return;
  }
  // A separate mapping with huge pages. Page faults on small pages take several times as long as the copy.
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  complete_ = memory != MAP_FAILED;
  if (!complete_) return;
  madvise(memory, bytes, MADV_HUGEPAGE);  // if the system supports it
  copy_ = {static_cast<std::byte*>(memory), Unmap{bytes}};
  for_each_column([](std::byte* saved, std::byte* column, std::size_t count) { std::memcpy(saved, column, count); });
}

void Backup::Unmap::operator()(std::byte* data) const { munmap(data, bytes); }

void Backup::restore() const {
  if (copy_ == nullptr) return;
  for_each_column([](std::byte* saved, std::byte* column, std::size_t count) { std::memcpy(column, saved, count); });
}

Backup::Part Backup::part(Index j) const {
  if (!call_.has_triangle()) return {0, call_.rows()};
  if (call_.uplo == Uplo::Lower) return {j, call_.n - j};
  return {0, j + 1};
}

template <typename Copy>
void Backup::for_each_column(Copy copy) const {
  const auto size = call_.element_size();
  const auto columns = [&](Index first, Index last) {
    for (Index j = first; j < last; j++) {
      const auto [begin, count] = part(j);
      copy(copy_.get() + (begin + j * call_.rows()) * size,
           static_cast<std::byte*>(call_.C) + (begin + j * call_.ldc) * size, static_cast<std::size_t>(count * size));
    }
  };
  // Several threads: one core copies 12 GB/s on a host whose memory can do 80.
  constexpr double worth_a_thread = 32e6;
  const double bytes = static_cast<double>(call_.rows()) * static_cast<double>(call_.n) * static_cast<double>(size);
  const auto most = std::min<Index>({8, std::max(1U, std::thread::hardware_concurrency()), call_.n});
  const auto threads = std::clamp<Index>(static_cast<Index>(bytes / worth_a_thread), 1, most);
  Index done = 0;  // columns that another thread copies
  std::vector<std::jthread> others;
  try {
    for (Index t = 1; t < threads; t++) {
      const Index next = call_.n * t / threads;
      others.emplace_back(columns, done, next);
      done = next;
    }
  } catch (const std::exception&) {  // no more threads: this one copies the remaining columns
  }
  columns(done, call_.n);
}

}  // namespace tessera::dropin
