// SPDX-License-Identifier: BSD-3-Clause
#include "workload/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include <tessera/error.hpp>

#include "workload/parallel.hpp"

namespace tessera::bench {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Touches all pages from all cores. The first touch determines the NUMA node of a page, and pinning makes it
/// permanent.
void touch(char* data, std::size_t bytes) {
  constexpr Index page = 4096;
  parallel_for(static_cast<Index>(bytes) / page, 1024, [=](Index begin, Index end) {
    for (Index i = begin; i < end; i++) data[i * page] = 0;
  });
}

}  // namespace

HostMemory::HostMemory(std::size_t bytes, Memory kind)
    : bytes_((std::max<std::size_t>(bytes, 1) + huge_page - 1) / huge_page * huge_page) {
  if (kind == Memory::Managed) {
    data_ = managed_.emplace(std::nullopt, bytes_).data();
    touch(static_cast<char*>(data_), bytes_);
    return;
  }
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED)
    throw RuntimeError(fmt::format("cannot allocate {:.1f} GiB of host memory for an operand",
                                   static_cast<double>(bytes_) / (1 << 30)));
  madvise(data_, bytes_, MADV_HUGEPAGE);
  touch(static_cast<char*>(data_), bytes_);
  try {
    if (kind == Memory::Pinned) pinned_.emplace(data_, bytes_);
  } catch (...) {
    munmap(data_, bytes_);
    throw;
  }
}

HostMemory::~HostMemory() {
  pinned_.reset();
  if (!managed_) munmap(data_, bytes_);
}

}  // namespace tessera::bench
