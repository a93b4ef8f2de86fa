// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <clblast.h>

#include <cstddef>
#include <tuple>

#include <tessera/types.hpp>

/// Calls of CLBlast's functions, column-major. Each enqueues kernels and returns.
namespace tessera::opencl {

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

}  // namespace tessera::opencl
