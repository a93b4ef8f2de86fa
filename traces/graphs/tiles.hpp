// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>
#include <sys/mman.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

/// Matrices and tasks as in any StarPU program, independent of Tessera.
namespace graphs {

/// The heights of rows of tiles, or the widths of columns [elements].
using Lengths = std::vector<int>;

/// A matrix of doubles that is registered tile by tile. Its addresses are reserved, but have no memory.
class Tiles {
 public:
  Tiles(const Lengths& rows, const Lengths& columns) : rows_(rows), columns_(columns) {
    const auto m = std::accumulate(rows.begin(), rows.end(), 0L),
               n = std::accumulate(columns.begin(), columns.end(), 0L);
    bytes_ = static_cast<std::size_t>(m * n) * sizeof(double);
    data_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::runtime_error("there is no address space for a matrix");
    auto* column = static_cast<double*>(data_);
    for (const int width : columns) {
      auto* tile = column;
      for (const int height : rows) {
        auto& handle = handles_.emplace_back();
        starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(tile),
                                    static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(height),
                                    static_cast<std::uint32_t>(width), sizeof(double));
        tile += height;
      }
      column += m * width;
    }
  }
  ~Tiles() {
    for (auto* handle : handles_) starpu_data_unregister(handle);
    munmap(data_, bytes_);
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  int rows() const { return static_cast<int>(rows_.size()); }
  int columns() const { return static_cast<int>(columns_.size()); }
  int height(int i) const { return rows_[static_cast<std::size_t>(i)]; }
  int width(int j) const { return columns_[static_cast<std::size_t>(j)]; }
  starpu_data_handle_t operator()(int i, int j) const {
    return handles_[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * rows_.size()];
  }

 private:
  Lengths rows_, columns_;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
  std::vector<starpu_data_handle_t> handles_;
};

}  // namespace graphs
