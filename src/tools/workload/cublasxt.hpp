// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublasXt.h>

#include <string>
#include <tuple>

#include <tessera/error.hpp>
#include <tessera/types.hpp>

#include "codelets/device_blas.hpp"

namespace tessera::bench {

/// @throws RuntimeError whose message starts with `what`
void require(cublasStatus_t status, const std::string& what);

/// cuBLAS as a library of libraries.hpp, on operands that the current device can access. Only built with CUDA.
struct DeviceBlas {
  using Size = int;
  cublasHandle_t handle;

  void gemm(auto... x) const { require(device::gemm(handle, x...), "cuBLAS gemm"); }
  static void gemmt(auto...) { throw RuntimeError("cuBLAS has no gemmt"); }
  void symm(auto... x) const { require(device::symm(handle, x...), "cuBLAS symm"); }
  void hemm(auto... x) const { require(device::hemm(handle, x...), "cuBLAS hemm"); }
  void syrk(auto... x) const { require(device::syrk(handle, x...), "cuBLAS syrk"); }
  void herk(auto... x) const { require(device::herk(handle, x...), "cuBLAS herk"); }
  void syr2k(auto... x) const { require(device::syr2k(handle, x...), "cuBLAS syr2k"); }
  void her2k(auto... x) const { require(device::her2k(handle, x...), "cuBLAS her2k"); }
  void trmm(auto... x) const { require(device::trmm(handle, x...), "cuBLAS trmm"); }
  void trsm(auto... x) const { require(device::trsm(handle, x...), "cuBLAS trsm"); }
};

/// cuBLAS-XT as a library of libraries.hpp. Only built with CUDA.
struct Xt {
  using Size = Index;
  cublasXtHandle_t handle;

  void gemm(auto... x) const {
    call("gemm", of_type<Element<decltype(x)...>>(cublasXtSgemm, cublasXtDgemm, cublasXtCgemm, cublasXtZgemm), x...);
  }
  static void gemmt(auto...) { throw RuntimeError("cuBLAS-XT has no gemmt"); }
  void symm(auto... x) const {
    call("symm", of_type<Element<decltype(x)...>>(cublasXtSsymm, cublasXtDsymm, cublasXtCsymm, cublasXtZsymm), x...);
  }
  void hemm(auto... x) const { call("hemm", of_type<Element<decltype(x)...>>(cublasXtChemm, cublasXtZhemm), x...); }
  void syrk(auto... x) const {
    call("syrk", of_type<Element<decltype(x)...>>(cublasXtSsyrk, cublasXtDsyrk, cublasXtCsyrk, cublasXtZsyrk), x...);
  }
  void herk(auto... x) const { call("herk", of_type<Element<decltype(x)...>>(cublasXtCherk, cublasXtZherk), x...); }
  void syr2k(auto... x) const {
    call("syr2k", of_type<Element<decltype(x)...>>(cublasXtSsyr2k, cublasXtDsyr2k, cublasXtCsyr2k, cublasXtZsyr2k),
         x...);
  }
  void her2k(auto... x) const { call("her2k", of_type<Element<decltype(x)...>>(cublasXtCher2k, cublasXtZher2k), x...); }
  /// Works in place, like the BLAS: cuBLAS allows B as the output.
  template <Scalar T>
  void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
            Index ldb) const {
    call("trmm", of_type<T>(cublasXtStrmm, cublasXtDtrmm, cublasXtCtrmm, cublasXtZtrmm), side, uplo, op, diag, m, n,
         alpha, A, lda, B, ldb, B, ldb);
  }
  void trsm(auto... x) const {
    call("trsm", of_type<Element<decltype(x)...>>(cublasXtStrsm, cublasXtDtrsm, cublasXtCtrsm, cublasXtZtrsm), x...);
  }

 private:
  /// The type of the output's elements. The output and its leading dimension are the last arguments.
  template <typename... X>
  using Element = std::remove_pointer_t<std::tuple_element_t<sizeof...(X) - 2, std::tuple<X...>>>;

  void call(const char* routine, auto function, const auto&... x) const {
    require(function(handle, device::argument(x)...), std::string("cuBLAS-XT ") + routine);
  }
};

}  // namespace tessera::bench
