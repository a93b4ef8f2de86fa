// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/not_copyable.hpp"

namespace tessera::memory {

/// Memory of one device for tiles, after BLASX. Memory is allocated in slabs of 2 GiB and handed out in pieces, because
/// the driver takes as long to allocate a small piece as a slab, and synchronizes the device when memory is freed. One
/// empty slab is kept. Other empty slabs are freed for other users of the device.
///
/// Not thread-safe.
class DeviceHeap : common::NotCopyable {
 public:
  /// Allocates and frees slabs.
  struct Source {
    std::function<void*(std::size_t bytes)> take;  ///< returns null if there is not enough memory
    std::function<void(void* slab)> give_back;
  };

  /// @param limit  total bytes of the shared slabs. If a piece fits into none of them, and the limit leaves no room for
  ///               another, it gets a slab of its own beyond the limit. This slab is freed with its piece, unless
  ///               `lend` has been called for the piece
  DeviceHeap(std::size_t limit, Source source);
  /// Frees all slabs, with all pieces in them.
  ~DeviceHeap();

  /// The bytes that a piece of `bytes` bytes occupies: a multiple of 512, at least 512.
  static std::size_t aligned(std::size_t bytes);
  /// Allocates the first slab in advance, so that the first piece need not wait for it.
  void prepare();
  /// @returns a piece at a multiple of 512 bytes from the start of its slab; null if there is not enough memory
  void* allocate(std::size_t bytes);
  /// @param piece  a result of `allocate`
  void release(void* piece);

  /// Where a piece lies.
  struct Position {
    void* slab;
    std::size_t offset;
  };
  /// Tells where a piece lies, for other processes that open its slab. From then on, the slab stays until the heap
  /// ends, even while it is empty: memory must not be freed while another process has it open.
  /// @param piece  from `allocate`; otherwise, nothing is returned
  std::optional<Position> lend(void* piece);

  /// True if no piece is allocated.
  bool all_free() const noexcept { return pieces_.empty(); }
  /// Total bytes of all slabs.
  std::size_t taken() const noexcept { return taken_; }

 private:
  struct Slab {
    std::byte* memory;
    std::size_t bytes;
    bool kept;                                ///< counts towards the limit, and may be kept when empty
    bool lent;                                ///< other processes may have opened it
    std::map<std::size_t, std::size_t> free;  ///< sizes of free spaces by offset; neighbours are merged
  };
  struct Piece {
    std::size_t slab, bytes;
  };
  void* place(std::size_t bytes);
  bool add_slab(std::size_t bytes, bool kept);

  std::size_t limit_, taken_ = 0, kept_ = 0;
  Source source_;
  std::vector<Slab> slabs_;  ///< freed slabs leave entries without memory
  std::unordered_map<void*, Piece> pieces_;
};

}  // namespace tessera::memory
