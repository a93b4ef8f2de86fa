// SPDX-License-Identifier: BSD-3-Clause
#include "common/symmetry.hpp"
#include "kernel.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/symmetrize_kernel.hpp"
#endif

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Symmetrize {
  using Args = SymmetrizeArgs;

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]);
    const auto D = tile<T>(buffers[1]);
    for (int j = 0; j < D.n; j++)
      for (int i = 0; i < D.n; i++) {
        const bool stored = args.uplo == Uplo::Lower ? i >= j : i <= j;
        const T x = stored ? *element(A, args.first_row + i, j) : *element(A, args.first_row + j, i);
        *element(D, i, j) = !args.hermitian ? x : i == j ? T(std::real(x)) : common::conjugated_if<T>(!stored, x);
      }
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<const T>(buffers[0]);
    const auto D = tile<T>(buffers[1]);
    device::check("symmetrize",
                  device::cuda::symmetrize(device::cuda::local_stream(), args.uplo == Uplo::Lower, args.hermitian, D.n,
                                           element(A, args.first_row, 0), A.ld, D.data, D.ld));
  }
#endif
};

}  // namespace

starpu_codelet& symmetrize(char type) { return codelet_of<Symmetrize>(type, "symmetrize"); }

}  // namespace tessera::codelets
