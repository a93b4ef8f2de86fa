// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

/// @file
/// Pinned (page-locked) host memory, from which CUDA GPUs copy directly. Tessera also accepts ordinary memory, and
/// copies it through staging buffers, which is slower.

namespace tessera {

/// Pins memory of the caller. Call this before making matrices that use the memory. Pinning takes about as long as
/// touching all of the memory, so it pays off for memory that several calls use. Memory that CUDA has pinned, for
/// example by `cudaHostAlloc`, need not be pinned again.
/// @param data   the start of the memory
/// @param bytes  its size, above 0
/// @returns true if the memory is now pinned; false if there is no CUDA GPU that could use it
/// @throws ArgumentError  if `data` is null, `bytes` is 0, or the memory overlaps memory that is already registered
/// @throws RuntimeError   if CUDA refuses, for example because it has already pinned a part of the memory
bool host_register(void* data, std::size_t bytes);

/// Unpins memory. Call this after all matrices that use the memory are destroyed, and before the memory is freed.
/// @param data  the pointer that was passed to `host_register`
/// @throws ArgumentError if no registered memory begins at `data`
void host_unregister(void* data);

namespace detail {

/// Whole pages of memory, all zero, pinned if there is a CUDA GPU.
class PinnedPages {
 public:
  PinnedPages() noexcept = default;
  /// @throws ArgumentError if `size` is negative
  /// @throws RuntimeError  if there is not enough memory, or CUDA refuses to pin it
  PinnedPages(Index size, std::size_t element_size);
  ~PinnedPages();
  PinnedPages(PinnedPages&& other) noexcept { swap(other); }
  PinnedPages& operator=(PinnedPages&& other) noexcept {
    PinnedPages(std::move(other)).swap(*this);
    return *this;
  }
  void swap(PinnedPages& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(pinned_, other.pinned_);
  }
  void* data() const noexcept { return data_; }
  bool pinned() const noexcept { return pinned_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool pinned_ = false;
};

}  // namespace detail

/// An array in pinned memory, or in ordinary memory if there is no CUDA GPU. It owns its memory, and can be moved.
///
///     tessera::PinnedBuffer<double> A(n * n), B(n * n), C(n * n);
///     tessera::gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n);
///
/// Destroy it after all matrices that use its memory. Constructing it is slow, so keep it for many calls. On a machine
/// with several NUMA nodes, its pages are spread over the nodes near GPUs, or over all nodes. The first buffer of the
/// process measures which is faster.
template <Scalar T>
class PinnedBuffer {
 public:
  /// A buffer without elements.
  PinnedBuffer() noexcept = default;

  /// @param size  number of elements, which are set to zero
  /// @throws ArgumentError if `size` is negative
  /// @throws RuntimeError  if there is not enough memory, or CUDA refuses to pin it
  explicit PinnedBuffer(Index size) : pages_(size, sizeof(T)), size_(size) {}

  /// Takes the memory of `other`, which then has no elements.
  PinnedBuffer(PinnedBuffer&& other) noexcept : pages_(std::move(other.pages_)), size_(std::exchange(other.size_, 0)) {}
  /// Frees its memory and takes that of `other`, which then has no elements.
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    pages_ = std::move(other.pages_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() const noexcept { return static_cast<T*>(pages_.data()); }  ///< null if there are no elements
  Index size() const noexcept { return size_; }                        ///< elements
  bool pinned() const noexcept { return pages_.pinned(); }             ///< false if there is no CUDA GPU
  T* begin() const noexcept { return data(); }                         ///< the first element
  T* end() const noexcept { return data() + size_; }                   ///< past the last element
  T& operator[](Index i) const noexcept { return data()[i]; }          ///< element i, which must exist

 private:
  detail::PinnedPages pages_;
  Index size_ = 0;
};

}  // namespace tessera
