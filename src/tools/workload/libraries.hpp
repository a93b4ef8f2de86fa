// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tuple>

#include <tessera/blas.hpp>
#include <tessera/error.hpp>

#include "codelets/host_blas.hpp"
#ifdef TESSERA_WITH_CUDA
#include <cublasXt.h>

#include "codelets/device_blas.hpp"
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

/// The routines that other libraries have, too, except for trmm, whose arguments differ; and the types of each.
#define ROUTINES_OF_OTHERS(ROUTINE) \
  ROUTINE(gemm, SDCZ)               \
  ROUTINE(symm, SDCZ)               \
  ROUTINE(hemm, CZ)                 \
  ROUTINE(syrk, SDCZ)               \
  ROUTINE(herk, CZ)                 \
  ROUTINE(syr2k, SDCZ)              \
  ROUTINE(her2k, CZ)                \
  ROUTINE(trsm, SDCZ)

struct HostBlas {
  using Size = int;
#define ROUTINE(name, types) \
  static void name(auto... x) { host::name(x...); }
  ROUTINES_OF_OTHERS(ROUTINE)
  ROUTINE(trmm, SDCZ)
#undef ROUTINE
  static void gemmt(auto...) { throw RuntimeError("this OpenBLAS has no gemmt"); }
};

#ifdef TESSERA_WITH_CUDA

/// @throws RuntimeError whose message starts with `what`
void require(cublasStatus_t status, const std::string& what);

/// cuBLAS, on operands that the current device can access.
struct DeviceBlas {
  using Size = int;
  cublasHandle_t handle;

#define ROUTINE(name, types) \
  void name(auto... x) const { require(device::name(handle, x...), "cuBLAS " #name); }
  ROUTINES_OF_OTHERS(ROUTINE)
  ROUTINE(trmm, SDCZ)
#undef ROUTINE
  static void gemmt(auto...) { throw RuntimeError("cuBLAS has no gemmt"); }
};

struct Xt {
  using Size = Index;
  cublasXtHandle_t handle;

#define FUNCTIONS_SDCZ(S, D, C, Z) S, D, C, Z
#define FUNCTIONS_CZ(S, D, C, Z) C, Z
#define FUNCTIONS(name, types) FUNCTIONS_##types(cublasXtS##name, cublasXtD##name, cublasXtC##name, cublasXtZ##name)
#define ROUTINE(name, types) \
  void name(auto... x) const { call(#name, of_type<Element<decltype(x)...>>(FUNCTIONS(name, types)), x...); }
  ROUTINES_OF_OTHERS(ROUTINE)
#undef ROUTINE
  /// Works in place, like the BLAS: cuBLAS allows B as the output.
  template <Scalar T>
  void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
            Index ldb) const {
    call("trmm", of_type<T>(FUNCTIONS(trmm, SDCZ)), side, uplo, op, diag, m, n, alpha, A, lda, B, ldb, B, ldb);
  }
#undef FUNCTIONS
  static void gemmt(auto...) { throw RuntimeError("cuBLAS-XT has no gemmt"); }

 private:
  /// The type of the output's elements. The output and its leading dimension are the last arguments.
  template <typename... X>
  using Element = std::remove_pointer_t<std::tuple_element_t<sizeof...(X) - 2, std::tuple<X...>>>;

  void call(const char* routine, auto function, const auto&... x) const {
    require(function(handle, device::argument(x)...), std::string("cuBLAS-XT ") + routine);
  }
};

#endif

}  // namespace tessera::bench
