// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "common/overwrites.hpp"
#include "common/streaming_copy.hpp"
#include "partial_tile.hpp"

/// Pieces of tiles that fit in staging buffers, and their copies on the host. Independent of the kind of device.
namespace tessera::device::staging {

/// The size of a staging buffer [bytes]: small enough to give all threads a part of a tile, large enough for the full
/// rate of the link.
inline constexpr std::size_t buffer_bytes = std::size_t{2} << 20;

/// The size of the pieces of a tile [bytes]. The pieces of a small tile are smaller than a staging buffer, so that more
/// threads get one. At the lower limit, the link takes as long to start a copy as to transfer it.
inline std::size_t piece_bytes(std::size_t tile, std::size_t threads) {
  constexpr std::size_t smallest = std::size_t{256} << 10;
  return std::clamp(tile / std::max<std::size_t>(threads, 1), smallest, buffer_bytes);
}

/// The size of the pieces of a posted copy [bytes]. While the host copies one piece of a tile, the link copies another.
inline std::size_t posted_piece_bytes(std::size_t tile) { return std::clamp(tile / 4, buffer_bytes / 4, buffer_bytes); }
/// The size of the parts of such a piece, which several threads copy [bytes].
inline constexpr std::size_t part_bytes = std::size_t{256} << 10;

/// The number of buffers that posted copies should have for each GPU and direction.
/// @param memory  limit for the buffers of all GPUs in both directions [bytes]; 0: no limit
/// @return  0 if copies should not be posted, because the threads that drive GPUs would leave no cores for them, or
///          because the memory has room for fewer than four buffers for each GPU and direction
inline std::size_t useful_buffers(std::size_t memory, std::size_t gpus) {
  constexpr std::size_t fewest = 4, useful = 24;
  if (std::thread::hardware_concurrency() < 2 * gpus + 2) return 0;
  if (memory == 0) return useful;
  const auto buffers = std::min(useful, memory / buffer_bytes / (2 * std::max<std::size_t>(gpus, 1)));
  return buffers < fewest ? 0 : buffers;
}

/// Cuts a rectangle of a tile into ranges of columns. Columns that do not fit in a staging buffer are cut, too.
/// @param bytes  size of a piece; a piece has at least one column
inline void cut(const Rectangle& rectangle, std::size_t element_size, std::size_t bytes,
                std::vector<Rectangle>& pieces) {
  const auto& [i, j, m, n] = rectangle;
  const int rows = std::min(m, static_cast<int>(buffer_bytes / element_size));
  const int columns = static_cast<int>(
      std::clamp<std::size_t>(bytes / (static_cast<std::size_t>(rows) * element_size), 1, static_cast<std::size_t>(n)));
  for (int row = 0, height = 0; row < m; row += height) {
    height = std::min(rows, m - row);
    for (int first = 0; first < n; first += columns)
      pieces.push_back({i + row, j + first, height, std::min(columns, n - first)});
  }
}

/// Some columns of a tile in pageable memory, and a buffer that holds them contiguously. The link copies the whole
/// rectangle. In pageable memory, only the used part of the tile is read and written.
class PackedColumns {
 public:
  PackedColumns(const PartialTile& host, const Rectangle& rectangle, void* buffer)
      : host_(host), rectangle_(rectangle), buffer_(static_cast<std::byte*>(buffer)) {}

  const Rectangle& rectangle() const { return rectangle_; }
  std::byte* buffer() const { return buffer_; }
  /// Bytes of a column in the buffer.
  std::size_t height() const { return static_cast<std::size_t>(rectangle_.m) * host_.matrix.elemsize; }
  /// Bytes of all columns in the buffer.
  std::size_t bytes() const { return height() * static_cast<std::size_t>(rectangle_.n); }

  /// One of several parts of nearly equal size.
  PackedColumns part(int index, int count) const {
    const auto& [i, j, m, n] = rectangle_;
    const int first = n * index / count;
    return {host_,
            {i, j + first, m, n * (index + 1) / count - first},
            buffer_ + static_cast<std::size_t>(first) * height()};
  }

  /// Fills the buffer.
  /// @param streams  whether the copy bypasses the caches; otherwise the link reads it from there
  void pack(bool streams = false) const {
    for_each_column([streams](std::byte* column, std::byte* packed, std::size_t bytes) {
      if (streams) common::copy_streaming(packed, column, bytes);
      else std::memcpy(packed, column, bytes);
    });
    if (streams) common::end_streaming();
  }
  /// Copies the buffer back.
  void unpack() const {
    const auto& [i, j, m, n] = rectangle_;
    common::overwrites::before(at(i, j), at(i + m, j + n - 1));
    for_each_column([large = is_large()](std::byte* column, std::byte* packed, std::size_t bytes) {
      if (large) common::copy_streaming(column, packed, bytes);
      else std::memcpy(column, packed, bytes);
    });
    common::end_streaming();
  }

 private:
  template <typename Copy>
  void for_each_column(Copy copy) const {
    auto* packed = buffer_;
    for (int j = rectangle_.j; j < rectangle_.j + rectangle_.n; j++, packed += height())
      if (const auto [begin, end] = used_rows(host_, rectangle_, j); begin < end)
        copy(at(begin, j), packed + static_cast<std::size_t>(begin - rectangle_.i) * host_.matrix.elemsize,
             static_cast<std::size_t>(end - begin) * host_.matrix.elemsize);
  }
  /// Whether the tile is so large that the caches would not hold it until the program needs it. The limit is a guess.
  bool is_large() const { return host_.bytes >= std::size_t{32} << 20; }
  std::byte* at(int i, int j) const {
    return reinterpret_cast<std::byte*>(host_.matrix.ptr) + offset(host_.matrix, i, j);
  }

  PartialTile host_;
  Rectangle rectangle_;
  std::byte* buffer_;
};

}  // namespace tessera::device::staging
