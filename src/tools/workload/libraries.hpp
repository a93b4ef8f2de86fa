// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/blas.hpp>
#include <tessera/error.hpp>

#include "codelets/host_blas.hpp"

#ifdef TESSERA_WITH_CUDA
#include "workload/cublasxt.hpp"
#endif

/// The measured libraries. Each is an object with one function per routine, so that the arguments of a routine are
/// written only once. The functions take the arguments of <tessera/blas.hpp>, with sizes of type `Size`.
namespace tessera::bench {

struct Ours {
  using Size = Index;
#define ROUTINE(name, types, shape, alpha, beta) \
  static void name(auto... x) { tessera::name(x...); }
#include "blas/routines.def"
#undef ROUTINE
};

struct HostBlas {
  using Size = int;
  static void gemm(auto... x) { host::gemm(x...); }
  static void gemmt(auto...) { throw RuntimeError("this OpenBLAS has no gemmt"); }
  static void symm(auto... x) { host::symm(x...); }
  static void hemm(auto... x) { host::hemm(x...); }
  static void syrk(auto... x) { host::syrk(x...); }
  static void herk(auto... x) { host::herk(x...); }
  static void syr2k(auto... x) { host::syr2k(x...); }
  static void her2k(auto... x) { host::her2k(x...); }
  static void trmm(auto... x) { host::trmm(x...); }
  static void trsm(auto... x) { host::trsm(x...); }
};

}  // namespace tessera::bench
