// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/not_copyable.hpp"

namespace tessera::device {

/// Columns of a tile in the memory of a process.
struct Columns {
  std::uintptr_t address;
  std::size_t bytes;     ///< of a column
  std::size_t distance;  ///< from one column to the next [bytes]
  std::size_t count;

  Columns part(std::size_t first, std::size_t columns) const {
    return {address + first * distance, bytes, distance, columns};
  }
  bool has_shape_of(const Columns& other) const { return bytes == other.bytes && count == other.count; }
  std::size_t total() const { return bytes * count; }
};

/// The memory of this process's GPUs, which other processes of the node read, and this process's copies from theirs.
/// Only one thread may use an object at a time.
class PeerMemory : common::NotCopyable {
 public:
  /// Names memory to the other processes of the node. Plain bytes, sent as they are.
  struct Name {
    std::array<unsigned char, 64> allocation;
    std::uint64_t offset;
  };
  /// A block in the memory of a GPU that begins with `value`, to find out who can read it, and how fast.
  struct Sample {
    Name name;
    std::uint64_t value;
  };
  static constexpr std::size_t sample_bytes = std::size_t{8} << 20;

  /// @pre  all copies have ended
  virtual ~PeerMemory() = default;

  /// StarPU's numbers of these memories.
  virtual const std::vector<unsigned>& nodes() const noexcept = 0;
  /// One sample in the memory of each GPU.
  virtual std::vector<Sample> samples() = 0;
  /// The time that the slowest GPU of this process takes to copy the sample of another process [s]; infinity if one of
  /// them cannot. @pre  `samples` has been called
  virtual double seconds_to_read(const Sample& theirs) = 0;
  /// The time that the slowest GPU takes to copy as much to pinned host memory, and back [s].
  /// @pre     `samples` has been called
  /// @throws  RuntimeError if that fails
  virtual double seconds_to_host_and_back() = 0;
  /// Frees the samples. @pre  no other process still reads them
  virtual void free_samples() noexcept = 0;

  /// Names a tile of this process. Its memory is not returned to the driver before the session ends.
  /// @throws RuntimeError if other processes cannot open it
  virtual Name name(unsigned node, std::uintptr_t tile) = 0;
  /// Starts to copy columns of another process's tile.
  /// @param from    the shape of the columns; the address does not matter
  /// @param target  in the memory `node` of this process, with the shape of `from`
  /// @param what    identifies the copy
  /// @throws RuntimeError if this process cannot open the memory
  virtual void start(const Name& theirs, const Columns& from, unsigned node, const Columns& target, void* what) = 0;
  /// Identifies a copy that has ended, once; null if there is none.
  /// @throws RuntimeError if a copy has failed
  virtual void* next_ended() = 0;
};

/// Makes the object for the GPUs of this process's session; null if processes cannot share their memory. Tests without
/// GPUs replace this function.
extern std::unique_ptr<PeerMemory> (*make_peer_memory)();

}  // namespace tessera::device
