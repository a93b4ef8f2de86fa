// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host_blas.hpp"

namespace tessera::codelets {

/// The BLAS of a CPU worker.
struct OnHost {
  static void gemm(auto... x) { host::gemm(x...); }
  static void symm(auto... x) { host::symm(x...); }
  static void hemm(auto... x) { host::hemm(x...); }
  static void syrk(auto... x) { host::syrk(x...); }
  static void herk(auto... x) { host::herk(x...); }
  static void syr2k(auto... x) { host::syr2k(x...); }
  static void her2k(auto... x) { host::her2k(x...); }
};

}  // namespace tessera::codelets
