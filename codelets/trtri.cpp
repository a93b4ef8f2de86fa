// SPDX-License-Identifier: BSD-3-Clause
#include "device_triangle.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "kernel.hpp"

namespace tessera::codelets {

namespace {

template <Scalar T>
struct Trtri {
  using Args = TrtriArgs;

  /// If there is a zero on the diagonal, the tile stays unchanged, and `find_zero` reports the zero.
  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<T>(buffers[0]);
    static_cast<void>(device::cpu::trtri<T>(args.uplo, args.diag, A.n, A.data, A.ld));
  }

#ifdef TESSERA_WITH_CUDA
  /// Solves with the identity, which takes only a few products if the inverses of the diagonal blocks are accurate
  /// enough.
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    FoundInverses<T> inverses;
    if (args.blocked) inverses = {tile<const T>(buffers[2]), inverses_of(starpu_task_get_current()->handles[2])};
    invert_triangle<T>(on, args.uplo, args.diag, tile<T>(buffers[0]), tile<T>(buffers[1]), inverses);
  }
#endif
};

}  // namespace

starpu_codelet& trtri(char type) { return codelet_of<Trtri>(type, "trtri"); }

}  // namespace tessera::codelets
