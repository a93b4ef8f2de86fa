// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <starpu.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "common/not_copyable.hpp"
#include "devices/kernel_tile.hpp"
#include "devices/row_moves.hpp"
#include "devices/tile_stack.hpp"
#include "workers.hpp"

namespace tessera::device {

inline void check(const char* operation, clblast::StatusCode status) {
  if (status != clblast::StatusCode::kSuccess)
    common::report_failure(std::string(operation) + " on an OpenCL device: CLBlast's status " +
                           std::to_string(static_cast<int>(status)));
}
inline void check_opencl(const char* operation, cl_int status) {
  if (status != CL_SUCCESS)
    common::report_failure(operation + (" on an OpenCL device: OpenCL's error " + std::to_string(status)));
}

/// The tiles of a task on an OpenCL device. Kernels calculate with addresses of elements, but OpenCL has buffers and
/// offsets. Each tile therefore gets a range of numbers that serve as addresses; `place` translates them.
class OpenClTiles : common::NotCopyable {
 public:
  OpenClTiles(void* const buffers[], int count) : interfaces_(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < interfaces_.size(); i++) {
      auto& tile = interfaces_[i] = *static_cast<const starpu_matrix_interface*>(buffers[i]);
      tile.ptr = ((i + 1) << range_bits) + tile.offset;
      buffers_.push_back(&tile);
    }
  }

  /// The tiles in the form that kernels expect.
  void** buffers() { return buffers_.data(); }

  template <typename T>
  opencl::Place place(const T* address, int ld) const {
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    const auto& tile = interfaces_[(number >> range_bits) - 1];
    return {reinterpret_cast<cl_mem>(tile.dev_handle), (number & ((std::uintptr_t{1} << range_bits) - 1)) / sizeof(T),
            static_cast<std::size_t>(ld)};
  }

 private:
  static constexpr int range_bits = 44;  // 2^44 exceeds the bytes of any tile
  std::vector<starpu_matrix_interface> interfaces_;
  std::vector<void*> buffers_;
};

/// The BLAS of an OpenCL worker, for the tiles of its task. Operations are only put into the worker's queue; they do
/// not wait.
struct OnOpenCl {
  const OpenClTiles& tiles;
  const opencl::Worker& worker = opencl::local_worker();

  template <typename T>
  opencl::Place place(const T* address, int ld) const {
    return tiles.place(address, ld);
  }
  /// D ← α op(A) op(B) + β D, where D may be the `square`.
  template <Scalar T>
  void gemm_to(const opencl::Place& D, Op op_a, Op op_b, int m, int n, int k, T alpha, const T* A, int lda, const T* B,
               int ldb, T beta) const {
    if (k == 0) return check_opencl("gemm", kernels<T>().scale(worker.queue, {m, n}, beta, D));
    const auto a = place(A, lda), b = place(B, ldb);
    const auto bytes = opencl::workspace_of_gemm<T>(worker.queue, op_a, op_b, m, n, k, a, b, D);
    check("gemm", opencl::gemm<T>(worker.queue, op_a, op_b, m, n, k, alpha, a, b, beta, D, worker.workspace(bytes)));
  }
  template <Scalar T>
  void gemm(Op op_a, Op op_b, int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
            int ldc) const {
    gemm_to<T>(place(C, ldc), op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta);
  }
  template <Scalar T>
  void symm(Side side, Uplo uplo, int m, int n, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
            int ldc) const {
    call("symm", clblast::Symm<T>, side, uplo, m, n, alpha, place(A, lda), place(B, ldb), beta, place(C, ldc));
  }
  template <ComplexScalar T>
  void hemm(Side side, Uplo uplo, int m, int n, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
            int ldc) const {
    call("hemm", clblast::Hemm<T>, side, uplo, m, n, alpha, place(A, lda), place(B, ldb), beta, place(C, ldc));
  }
  template <Scalar T>
  void syrk(Uplo uplo, Op op, int n, int k, T alpha, const T* A, int lda, T beta, T* C, int ldc) const {
    call("syrk", clblast::Syrk<T>, uplo, opencl::clblast_of<T>(op), n, k, alpha, place(A, lda), beta, place(C, ldc));
  }
  template <ComplexScalar T>
  void herk(Uplo uplo, Op op, int n, int k, Real<T> alpha, const T* A, int lda, Real<T> beta, T* C, int ldc) const {
    if (beta != 0) clear_imaginary_diagonal(n, C, ldc);  // CLBlast would read the imaginary part
    call("herk", clblast::Herk<Real<T>>, uplo, opencl::clblast_of<T>(op), n, k, alpha, place(A, lda), beta,
         place(C, ldc));
    clear_imaginary_diagonal(n, C, ldc);  // rounding leaves an imaginary part
  }
  template <Scalar T>
  void syr2k(Uplo uplo, Op op, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
             int ldc) const {
    call("syr2k", clblast::Syr2k<T>, uplo, opencl::clblast_of<T>(op), n, k, alpha, place(A, lda), place(B, ldb), beta,
         place(C, ldc));
  }
  template <ComplexScalar T>
  void her2k(Uplo uplo, Op op, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, Real<T> beta, T* C,
             int ldc) const {
    if (beta != 0) clear_imaginary_diagonal(n, C, ldc);  // CLBlast would read it
    call("her2k", clblast::Her2k<T, Real<T>>, uplo, opencl::clblast_of<T>(op), n, k, alpha, place(A, lda),
         place(B, ldb), beta, place(C, ldc));
    clear_imaginary_diagonal(n, C, ldc);
  }
  /// B ← α op(A) B or α B op(A), or with the inverse of A, for a triangle of order at most opencl::largest_triangle
  template <Scalar T>
  void apply(const opencl::TriangleOf& triangle, T alpha, const T* A, int lda, T* B, int ldb) const {
    check_opencl("triangle", kernels<T>().apply(worker.queue, triangle, alpha, place(A, lda), place(B, ldb)));
  }

  /// C ← β C
  template <Scalar T>
  void scale(const opencl::PartOf& part, T beta, T* C, int ldc) const {
    check_opencl("scale", kernels<T>().scale(worker.queue, part, beta, place(C, ldc)));
  }
  /// C ← D + β C
  template <Scalar T>
  void add(const opencl::PartOf& part, const opencl::Place& D, T beta, T* C, int ldc) const {
    check_opencl("add", kernels<T>().add(worker.queue, part, D, beta, place(C, ldc)));
  }
  /// Exchanges rows of B by the pivots of a PivotTile; in reverse order if `backwards`.
  template <Scalar T>
  void move_rows(const TileStack<T>& B, int first, const int* pivots, int count, bool backwards) const {
    const int batches = PivotTile::batches(count), most = PivotTile::capacity(std::min(count, PivotTile::batch));
    auto* const W = worker.workspace(static_cast<std::size_t>(most) * static_cast<std::size_t>(B.n()) * sizeof(T));
    if (W == nullptr) return check_opencl("laswp", CL_MEM_OBJECT_ALLOCATION_FAILURE);
    for (int b = 0; b < batches; b++) {
      const auto moves = PivotTile::moves(pivots, count, backwards ? batches - 1 - b : b);
      for (const bool to_tile : {false, true})
        for (int i = 0; i < B.count(); i++) {
          const auto& [data, m, n, ld] = B.tile(i);
          const opencl::RowsOf rows{place(moves.count, 1),
                                    place(to_tile != backwards ? moves.destination : moves.source, 1),
                                    most,
                                    i * B.tile_m() - first,
                                    m,
                                    n};
          check_opencl("laswp", kernels<T>().move_rows(worker.queue, rows, to_tile, W, place(data, ld)));
        }
    }
  }
  /// Workspace: a square of order `opencl::leaf`.
  opencl::Place square() const { return {worker.square.get(), 0, opencl::leaf}; }

 private:
  void call(const char* name, auto function, const auto&... x) const {
    check(name, opencl::call(function, worker.queue, x...));
  }
  template <Scalar T>
  const opencl::Kernels<T>& kernels() const {
    return std::get<opencl::Kernels<T>>(worker.kernels);
  }
  template <ComplexScalar T>
  void clear_imaginary_diagonal(int n, T* C, int ldc) const {
    check_opencl("scale", kernels<T>().clear_imaginary_diagonal(worker.queue, n, place(C, ldc)));
  }
};

}  // namespace tessera::device
