// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

namespace tessera::detail {

/// Memory of one device for tiles, taken in slabs of 2 GiB and handed out piece by piece. Of slabs with nothing in them
/// one is kept, others go back, so that whoever shares the device can have them. Taking a piece from the driver costs
/// 0.2 to 1.7 ms each (H200), a slab of 1 GiB 0.3 ms, or some more where it is
/// shown to other devices; and giving one back stops the device. Source of the idea: BLASX.
///
/// Not for several threads at a time.
class DeviceHeap {
 public:
  /// Where slabs come from.
  struct Source {
    std::function<void*(std::size_t bytes)> take;  ///< null: there is no more
    std::function<void(void* slab)> give_back;
  };

  /// @param limit  bytes of all slabs that are kept. Where these are so fragmented that a piece finds no place though
  ///               there is as much room, it gets a slab of its own, which is not kept
  DeviceHeap(std::size_t limit, Source source);
  /// Gives all slabs back, whatever is in them.
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  /// What a piece of so many bytes takes.
  static std::size_t aligned(std::size_t bytes);
  /// Takes the first slab, so that the first piece need not wait for it.
  void prepare();
  /// @returns a piece, aligned as the slabs are if those are aligned to 512 bytes; null: there is no room
  void* allocate(std::size_t bytes);
  /// @param piece  from `allocate`
  void release(void* piece);

  bool all_free() const noexcept { return pieces_.empty(); }
  /// Of all slabs.
  std::size_t taken() const noexcept { return taken_; }

 private:
  struct Slab {
    std::byte* memory;
    std::size_t bytes;
    bool kept;
    std::map<std::size_t, std::size_t> free;  ///< bytes by offset; no two that touch
  };
  struct Piece {
    std::size_t slab, bytes;
  };
  void* place(std::size_t bytes);
  bool add_slab(std::size_t bytes, bool kept);

  std::size_t limit_, taken_ = 0, kept_ = 0;
  Source source_;
  std::vector<Slab> slabs_;  ///< those that were given back have no memory
  std::unordered_map<void*, Piece> pieces_;
};

}  // namespace tessera::detail
