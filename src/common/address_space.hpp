// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <fstream>
#include <string>

#include <tessera/error.hpp>

#include "not_copyable.hpp"

/// Limits of the process (RLIMIT_AS, RLIMIT_DATA) and of the system (overcommit_memory = 2) on the memory that it maps.
/// OpenBLAS needs a buffer for each thread that computes, and tries forever to map one.
namespace tessera::common {

/// Address space that threads need [bytes].
struct AddressSpace {
  std::size_t writable;      ///< memory that can be written
  std::size_t reserved = 0;  ///< other address space, which RLIMIT_DATA and the system do not count

  /// What `workers` CPU workers and the calling thread need before they can compute: a buffer of OpenBLAS each, and for
  /// each worker a stack and an arena of malloc.
  static constexpr AddressSpace of(int workers) {
    constexpr std::size_t buffer = std::size_t{128} << 20, arena = std::size_t{128} << 20, stack = std::size_t{8} << 20;
    const auto count = static_cast<std::size_t>(workers);
    return {count * (buffer + stack) + buffer, count * arena};
  }
};

inline bool is_address_space_limited() {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA})
    if (rlimit limit{}; getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return true;
  std::ifstream file("/proc/sys/vm/overcommit_memory");
  int overcommit = 0;
  return (file >> overcommit) && overcommit == 2;
}

/// Whether so much could be mapped. If something limits it, this maps it for a moment.
inline bool has_address_space(const AddressSpace& needed) {
  class Mapped : NotCopyable {
   public:
    Mapped(std::size_t bytes, int protection)
        : bytes_(bytes),
          data_(bytes == 0 ? nullptr
                           : mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
    ~Mapped() {
      if (data_ != nullptr && !failed()) munmap(data_, bytes_);
    }
    bool failed() const { return data_ == MAP_FAILED; }

   private:
    std::size_t bytes_;
    void* data_;
  };
  if (!is_address_space_limited()) return true;
  const Mapped writable(needed.writable, PROT_READ | PROT_WRITE), reserved(needed.reserved, PROT_NONE);
  return !writable.failed() && !reserved.failed();
}

/// @throws RuntimeError if so much could not be mapped
inline void require_address_space(const AddressSpace& needed) {
  if (!has_address_space(needed))
    throw RuntimeError("StarPU cannot start: it needs " + std::to_string((needed.writable + needed.reserved) >> 20) +
                       " MiB of address space, which a limit refuses (RLIMIT_AS, RLIMIT_DATA, overcommit_memory = 2)");
}

/// The number of CPU workers, at most `wanted`, for which there is address space.
/// @throws RuntimeError if there is not enough even for one, or for `wanted` ones if `all` must start
inline int workers_that_fit(int wanted, bool all) {
  int workers = wanted;
  while (!all && workers > 1 && !has_address_space(AddressSpace::of(workers))) workers--;
  require_address_space(AddressSpace::of(workers));
  return workers;
}

}  // namespace tessera::common
