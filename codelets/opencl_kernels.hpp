// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "common/triangle.hpp"
#include "opencl_blas.hpp"
#include "opencl_resources.hpp"

/// The operations of opencl_kernels.cl on one device.
namespace tessera::opencl {

/// The part of an m×n matrix that an operation computes. The diagonal enters the matrix in row `first`.
struct PartOf {
  int m, n;
  codelets::Part part = codelets::Part::All;
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

}  // namespace tessera::opencl
