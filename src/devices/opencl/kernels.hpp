// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <clblast.h>

#include <cstddef>
#include <tuple>

#include <tessera/types.hpp>

#include "common/triangle.hpp"
#include "objects.hpp"

/// Calls of CLBlast's functions, column-major, and the operations of kernels.cl on one device. Each enqueues
/// kernels and returns.
namespace tessera::device::opencl {

inline clblast::Side clblast_of(Side side) { return side == Side::Left ? clblast::Side::kLeft : clblast::Side::kRight; }
inline clblast::Triangle clblast_of(Uplo uplo) {
  return uplo == Uplo::Lower ? clblast::Triangle::kLower : clblast::Triangle::kUpper;
}
/// An operation as CLBlast's constant. CLBlast refuses the conjugate transpose of a real matrix, which is its
/// transpose.
template <Scalar T>
clblast::Transpose clblast_of(Op op) {
  if (op == Op::NoTrans) return clblast::Transpose::kNo;
  return is_complex<T> && op == Op::ConjTrans ? clblast::Transpose::kConjugate : clblast::Transpose::kYes;
}

/// A matrix in an OpenCL buffer.
struct Place {
  cl_mem buffer;
  std::size_t offset;  ///< elements before the matrix
  std::size_t ld;
};

constexpr auto by_columns = clblast::Layout::kColMajor;
constexpr auto length(int n) { return static_cast<std::size_t>(n); }

/// Bytes of workspace that `gemm` needs.
template <Scalar T>
std::size_t workspace_of_gemm(cl_command_queue queue, Op op_a, Op op_b, int m, int n, int k, Place A, Place B,
                              Place C) {
  std::size_t bytes = 0;
  clblast::GemmTempBufferSize<T>(by_columns, clblast_of<T>(op_a), clblast_of<T>(op_b), length(m), length(n), length(k),
                                 A.offset, A.ld, B.offset, B.ld, C.offset, C.ld, &queue, bytes);
  return bytes;
}

/// C ← α op(A) op(B) + β C
/// @param workspace  `workspace_of_gemm` bytes, if there are any. If null, CLBlast allocates the workspace, and the
///                   call waits until the kernels have ended, which also delays copies in other queues
template <Scalar T>
clblast::StatusCode gemm(cl_command_queue queue, Op op_a, Op op_b, int m, int n, int k, T alpha, Place A, Place B,
                         T beta, Place C, cl_mem workspace = nullptr) {
  return clblast::Gemm(by_columns, clblast_of<T>(op_a), clblast_of<T>(op_b), length(m), length(n), length(k), alpha,
                       A.buffer, A.offset, A.ld, B.buffer, B.offset, B.ld, beta, C.buffer, C.offset, C.ld, &queue,
                       nullptr, workspace);
}

// Arguments as CLBlast takes them: matrices as three.
inline auto arguments(Side side) { return std::tuple(clblast_of(side)); }
inline auto arguments(Uplo uplo) { return std::tuple(clblast_of(uplo)); }
inline auto arguments(clblast::Transpose op) { return std::tuple(op); }
inline auto arguments(int n) { return std::tuple(length(n)); }
inline auto arguments(Scalar auto x) { return std::tuple(x); }
inline auto arguments(const Place& A) { return std::tuple(A.buffer, A.offset, A.ld); }

/// Calls a function of CLBlast.
clblast::StatusCode call(auto function, cl_command_queue queue, const auto&... x) {
  return std::apply(function, std::tuple_cat(std::tuple(by_columns), arguments(x)..., std::tuple(&queue, nullptr)));
}

/// The part of an m×n matrix that an operation computes. The diagonal enters the matrix in row `first`.
struct PartOf {
  int m, n;
  common::Part part = common::Part::All;
  int first = 0;
  bool real_diagonal = false;  ///< treats the imaginary part of the diagonal as 0, and sets it to 0
};

/// A triangle, and how it is applied to an m×n matrix.
struct TriangleOf {
  Side side;
  Uplo uplo;
  Op op;
  Diag diag;
  int m, n;      ///< size of the matrix that the triangle is applied to
  bool inverse;  ///< whether the inverse of the triangle is applied
  /// @return  the order of the triangle
  int order() const { return side == Side::Left ? m : n; }
};

/// Rows of a column of tiles that move. Their number and their indices are in a buffer of the device.
struct RowsOf {
  Place count, rows;  ///< of type int
  int most;           ///< the largest number of rows
  int begin;          ///< the index of the tile's first row
  int m, n;           ///< size of the tile
};

/// The largest order of a triangle for `Kernels::apply`. A larger value means fewer products per tile, but more work
/// for this kernel, which is slower than a product.
inline constexpr int largest_triangle = 128;

/// The kernels for one type.
template <Scalar T>
class Kernels {
 public:
  /// Compiles the kernels.
  /// @throws RuntimeError with the compiler's messages
  Kernels(cl_context context, cl_device_id device);

  /// C ← β C. With β = 0, C is not read.
  cl_int scale(cl_command_queue queue, const PartOf& part, T beta, const Place& C) const;
  /// C ← D + β C. With β = 0, C is not read.
  cl_int add(cl_command_queue queue, const PartOf& part, const Place& D, T beta, const Place& C) const;
  /// B ← α op(A) B or α B op(A), or with the inverse of A
  /// @pre  the order of the triangle is at most `largest_triangle`
  cl_int apply(cl_command_queue queue, const TriangleOf& triangle, T alpha, const Place& A, const Place& B) const;
  /// Copies rows of the tile B to workspace W, whose leading dimension is `rows.most`, or back.
  cl_int move_rows(cl_command_queue queue, const RowsOf& rows, bool to_tile, cl_mem W, const Place& B) const;
  /// The imaginary parts of the diagonal of a matrix of order n ← 0
  cl_int clear_imaginary_diagonal(cl_command_queue queue, int n, const Place& C) const;

 private:
  Program program_;
  Kernel scale_, add_, real_diagonal_, apply_triangle_, move_rows_;
};

}  // namespace tessera::device::opencl
