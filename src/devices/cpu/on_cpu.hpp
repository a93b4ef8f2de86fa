// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host_blas.hpp"

namespace tessera::device {

/// The BLAS of a CPU worker.
struct OnHost {
  static void gemm(auto... x) { cpu::gemm(x...); }
  static void symm(auto... x) { cpu::symm(x...); }
  static void hemm(auto... x) { cpu::hemm(x...); }
  static void syrk(Uplo uplo, Op op, int n, int k, auto alpha, const auto* A, int lda, auto beta, auto* C, int ldc) {
    cpu::syrk(uplo, op, n, k, alpha, A, lda, cpu::after_nan(beta, uplo, n, C, ldc), C, ldc);
  }
  static void herk(Uplo uplo, Op op, int n, int k, auto alpha, const auto* A, int lda, auto beta, auto* C, int ldc) {
    cpu::herk(uplo, op, n, k, alpha, A, lda, cpu::after_nan(beta, uplo, n, C, ldc), C, ldc);
  }
  static void syr2k(Uplo uplo, Op op, int n, int k, auto alpha, const auto* A, int lda, const auto* B, int ldb,
                    auto beta, auto* C, int ldc) {
    cpu::syr2k(uplo, op, n, k, alpha, A, lda, B, ldb, cpu::after_nan(beta, uplo, n, C, ldc), C, ldc);
  }
  static void her2k(Uplo uplo, Op op, int n, int k, auto alpha, const auto* A, int lda, const auto* B, int ldb,
                    auto beta, auto* C, int ldc) {
    cpu::her2k(uplo, op, n, k, alpha, A, lda, B, ldb, cpu::after_nan(beta, uplo, n, C, ldc), C, ldc);
  }
};

}  // namespace tessera::device
