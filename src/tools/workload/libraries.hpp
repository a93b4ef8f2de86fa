// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tuple>

#include <tessera/blas.hpp>
#include <tessera/error.hpp>

#include "devices/cpu/host_blas.hpp"
#ifdef TESSERA_WITH_CUDA
#include <cublasXt.h>

#include "devices/cuda/cublas.hpp"
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
#define ROUTINE(name, ...) \
  static void name(auto... x) { device::cpu::name(x...); }
#define GEMMT(name, ...) \
  static void name(auto...) { throw RuntimeError("this OpenBLAS has no gemmt"); }
#include "blas/routines.def"
#undef ROUTINE
};

#ifdef TESSERA_WITH_CUDA

/// @throws RuntimeError whose message starts with `what`
void require(cublasStatus_t status, const std::string& what);

/// cuBLAS, on operands that the current device can access.
struct DeviceBlas {
  using Size = int;
  cublasHandle_t handle;

#define ROUTINE(name, ...) \
  void name(auto... x) const { require(device::cuda::name(handle, x...), "cuBLAS " #name); }
#define GEMMT(name, ...) \
  static void name(auto...) { throw RuntimeError("cuBLAS has no gemmt"); }
#include "blas/routines.def"
#undef ROUTINE
};

struct Xt {
  using Size = Index;
  cublasXtHandle_t handle;

#define ROUTINE(name, types, ...)                                                                                   \
  void name(auto... x) const {                                                                                      \
    using T = Element<decltype(x)...>;                                                                              \
    require(device::cuda::call_blas(                                                                                \
                common::of_type<T>(OF_##types(cublasXtS##name, cublasXtD##name, cublasXtC##name, cublasXtZ##name)), \
                handle, x...),                                                                                      \
            "cuBLAS-XT " #name);                                                                                    \
  }
#define GEMMT(name, ...) \
  static void name(auto...) { throw RuntimeError("cuBLAS-XT has no gemmt"); }
#include "blas/routines.def"
#undef ROUTINE

 private:
  /// The type of the output's elements. The output and its leading dimension are the last arguments.
  template <typename... X>
  using Element = std::remove_pointer_t<std::tuple_element_t<sizeof...(X) - 2, std::tuple<X...>>>;
};

#endif

}  // namespace tessera::bench
