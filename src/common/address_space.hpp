// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <string>

#include <tessera/error.hpp>

#include "not_copyable.hpp"

namespace tessera::common {

/// Address space that threads need [bytes].
struct AddressSpace {
  std::size_t writable;      ///< memory that can be written
  std::size_t reserved = 0;  ///< other address space, which limits of the memory do not count

  /// What `workers` CPU workers and the calling thread need before they can compute: a buffer of OpenBLAS each, and for
  /// each worker a stack and an arena of malloc.
  static constexpr AddressSpace of(std::size_t workers) {
    constexpr std::size_t buffer = std::size_t{128} << 20, arena = std::size_t{128} << 20, stack = std::size_t{8} << 20;
    return {workers * (buffer + stack) + buffer, workers * arena};
  }
};

/// Checks that memory could be mapped, by mapping and unmapping it. Limits of the process (RLIMIT_AS, RLIMIT_DATA) and
/// of the system (overcommit_memory = 2) refuse that. OpenBLAS needs a buffer for each thread that computes, and tries
/// forever to map one.
/// @throws RuntimeError if it could not
inline void require_address_space(const AddressSpace& needed) {
  class Mapped : NotCopyable {
   public:
    Mapped(std::size_t bytes, int protection)
        : bytes_(bytes),
          data_(bytes == 0 ? nullptr
                           : mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
    ~Mapped() {
      if (data_ != nullptr && data_ != MAP_FAILED) munmap(data_, bytes_);
    }
    bool failed() const { return data_ == MAP_FAILED; }

   private:
    std::size_t bytes_;
    void* data_;
  };
  const Mapped first(needed.writable, PROT_READ | PROT_WRITE), second(needed.reserved, PROT_NONE);
  if (first.failed() || second.failed())
    throw RuntimeError("StarPU cannot start: it needs " + std::to_string((needed.writable + needed.reserved) >> 20) +
                       " MiB of address space, which a limit (RLIMIT_AS, RLIMIT_DATA) refuses");
}

}  // namespace tessera::common
