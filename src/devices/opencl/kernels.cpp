// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.hpp"

#include <string>

namespace tessera::device::opencl {

/// The text of kernels.cl, which CMakeLists.txt turns into a source file.
extern const char* const kernel_source;

namespace {

/// The number of columns that a group of apply_triangle computes, limited by the registers of a work item.
template <Scalar T>
constexpr int columns = 64 / sizeof(T);

template <Scalar T>
std::string macros() {
  std::string text = std::same_as<Real<T>, double> ? "-D REAL=double -D DOUBLE" : "-D REAL=float";
  if (is_complex<T>) text += " -D COMPLEX";
  return text + " -D ORDER=" + std::to_string(largest_triangle) + " -D COLUMNS=" + std::to_string(columns<T>);
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string text(size, '\0');
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.c_str();
}

Program build(cl_context context, cl_device_id device, const std::string& options) {
  cl_int status = CL_SUCCESS;
  const char* source = kernel_source;
  Program program(clCreateProgramWithSource(context, 1, &source, nullptr, &status));
  require(status, "an OpenCL program");
  status = clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (status != CL_SUCCESS)
    throw RuntimeError("compiling kernels for OpenCL: error " + std::to_string(status) + ": " +
                       build_log(program.get(), device));
  return program;
}

Kernel kernel(const Program& program, const char* name) {
  cl_int status = CL_SUCCESS;
  Kernel kernel(clCreateKernel(program.get(), name, &status));
  require(status, std::string("the OpenCL kernel ") + name);
  return kernel;
}

/// Sets all arguments of a kernel. Returns the first error.
template <typename... Args>
cl_int set_arguments(const Kernel& kernel, const Args&... args) {
  cl_uint index = 0;
  cl_int first = CL_SUCCESS;
  const auto set = [&](const auto& arg) {
    const auto status = clSetKernelArg(kernel.get(), index++, sizeof arg, &arg);
    if (first == CL_SUCCESS) first = status;
  };
  (set(args), ...);
  return first;
}

/// Runs a kernel with at least m×n work items. Groups always have the same size, because some drivers recompile a
/// kernel whenever the size changes.
cl_int run(cl_command_queue queue, const Kernel& kernel, int m, int n) {
  constexpr std::size_t group[] = {64, 1};
  const std::size_t size[] = {(static_cast<std::size_t>(m) + group[0] - 1) / group[0] * group[0],
                              static_cast<std::size_t>(n)};
  return clEnqueueNDRangeKernel(queue, kernel.get(), 2, nullptr, size, group, 0, nullptr, nullptr);
}

cl_int number_of(common::Part part) { return part == common::Part::All ? 0 : part == common::Part::Lower ? 1 : 2; }
cl_int flag(bool value) { return value ? 1 : 0; }
cl_int stride(const Place& place) { return static_cast<cl_int>(place.ld); }
cl_ulong offset(const Place& place) { return place.offset; }

}  // namespace

template <Scalar T>
Kernels<T>::Kernels(cl_context context, cl_device_id device)
    : program_(build(context, device, macros<T>())), scale_(kernel(program_, "scale")), add_(kernel(program_, "add")),
      real_diagonal_(kernel(program_, "real_diagonal")), apply_triangle_(kernel(program_, "apply_triangle")),
      move_rows_(kernel(program_, "move_rows")) {}

template <Scalar T>
cl_int Kernels<T>::scale(cl_command_queue queue, const PartOf& part, T beta, const Place& C) const {
  if (part.m == 0 || part.n == 0) return CL_SUCCESS;
  const Real<T> re = std::real(beta), im = std::imag(beta);
  const auto status = set_arguments(scale_, part.m, part.n, number_of(part.part), part.first, flag(part.real_diagonal),
                                    re, im, C.buffer, offset(C), stride(C));
  return status != CL_SUCCESS ? status : run(queue, scale_, part.m, part.n);
}

template <Scalar T>
cl_int Kernels<T>::add(cl_command_queue queue, const PartOf& part, const Place& D, T beta, const Place& C) const {
  if (part.m == 0 || part.n == 0) return CL_SUCCESS;
  const Real<T> re = std::real(beta), im = std::imag(beta);
  const auto status = set_arguments(add_, part.m, part.n, number_of(part.part), part.first, flag(part.real_diagonal),
                                    re, im, D.buffer, offset(D), stride(D), C.buffer, offset(C), stride(C));
  return status != CL_SUCCESS ? status : run(queue, add_, part.m, part.n);
}

template <Scalar T>
cl_int Kernels<T>::apply(cl_command_queue queue, const TriangleOf& triangle, T alpha, const Place& A,
                         const Place& B) const {
  const auto& [side, uplo, op, diag, m, n, inverse] = triangle;
  if (m == 0 || n == 0) return CL_SUCCESS;
  // On the right, the transposed triangle is applied to the transposed B.
  const bool left = side == Side::Left, as_stored = (op == Op::NoTrans) == left,
             forward = ((uplo == Uplo::Lower) != (op != Op::NoTrans)) == left;
  const int count = left ? n : m;
  const cl_ulong one = 1, lda = A.ld, ldb = B.ld;
  const Real<T> re = std::real(alpha), im = std::imag(alpha);
  const auto status =
      set_arguments(apply_triangle_, flag(inverse), flag(forward), flag(diag == Diag::Unit), flag(op == Op::ConjTrans),
                    triangle.order(), count, re, im, A.buffer, offset(A), as_stored ? one : lda, as_stored ? lda : one,
                    B.buffer, offset(B), left ? one : ldb, left ? ldb : one);
  if (status != CL_SUCCESS) return status;
  const std::size_t group = largest_triangle, size = group * ((count + columns<T> - 1) / columns<T>);
  return clEnqueueNDRangeKernel(queue, apply_triangle_.get(), 1, nullptr, &size, &group, 0, nullptr, nullptr);
}

template <Scalar T>
cl_int Kernels<T>::move_rows(cl_command_queue queue, const RowsOf& rows, bool to_tile, cl_mem W, const Place& B) const {
  const auto& [count, indices, most, begin, m, n] = rows;
  if (m == 0 || n == 0) return CL_SUCCESS;
  const auto status = set_arguments(move_rows_, flag(to_tile), count.buffer, offset(count), offset(indices), begin, m,
                                    n, W, most, B.buffer, offset(B), stride(B));
  return status != CL_SUCCESS ? status : run(queue, move_rows_, most, n);
}

template <Scalar T>
cl_int Kernels<T>::clear_imaginary_diagonal(cl_command_queue queue, int n, const Place& C) const {
  if (n == 0) return CL_SUCCESS;
  const auto status = set_arguments(real_diagonal_, n, C.buffer, offset(C), stride(C));
  return status != CL_SUCCESS ? status : run(queue, real_diagonal_, n, 1);
}

template class Kernels<float>;
template class Kernels<double>;
template class Kernels<std::complex<float>>;
template class Kernels<std::complex<double>>;

}  // namespace tessera::device::opencl
