// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef TESSERA_WITH_OPENCL

#include "blocked_triangle.hpp"
#include "kernel.hpp"
#include "memory/sum_slots.hpp"

/// trmm and trsm on one tile of an OpenCL device. CLBlast computes the products, and a kernel of Tessera multiplies by
/// the diagonal blocks, or substitutes, row by row. This kernel does not read the other triangle or multiply by its
/// zeros, and is as accurate as substitution. CLBlast's own trmm and trsm are not used, because each call allocates
/// memory and waits for kernels, which delays copies of other threads.
namespace tessera::codelets {

template <Scalar T>
class OpenClTriangle : public BlockedTriangle<T, device::OnOpenCl> {
  using Base = BlockedTriangle<T, device::OnOpenCl>;

 public:
  using Base::Base;

  /// B ← α op(A)⁻¹ B
  void solve() const { Base::solve(device::opencl::largest_triangle, on_blocks(true)); }
  /// B ← α op(A) B
  void multiply() const { Base::multiply(device::opencl::largest_triangle, on_blocks(false)); }

 private:
  auto on_blocks(bool inverse) const {
    return [this, inverse](const Range& rows, T alpha) {
      this->blas_.template apply<T>(
          {this->args_.side, this->args_.uplo, this->args_.op, this->args_.diag, this->m(rows), this->n(rows), inverse},
          alpha, this->a(rows.first, rows.first), this->A_.ld, this->b(rows.first), this->B_.ld);
    };
  }
};

/// B ← α op(A)⁻¹ B
template <Scalar T>
void solve(const device::OnOpenCl& on, const TriangularArgs& args, const Tile<const T>& A, const Tile<T>& B) {
  OpenClTriangle<T>(on, args, A, B).solve();
  memory::sum_slots::give_back(args.sum);
}

/// B ← α op(A) B
template <Scalar T>
void multiply(const device::OnOpenCl& on, const TriangularArgs& args, const Tile<const T>& A, const Tile<T>& B) {
  OpenClTriangle<T>(on, args, A, B).multiply();
  memory::sum_slots::give_back(args.sum);
}

}  // namespace tessera::codelets

#endif
