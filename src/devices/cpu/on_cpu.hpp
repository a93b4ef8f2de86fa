// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host_blas.hpp"

namespace tessera::device {

/// The BLAS of a CPU worker.
struct OnHost {
  static void gemm(auto... x) { cpu::gemm(x...); }
  static void symm(auto... x) { cpu::symm(x...); }
  static void hemm(auto... x) { cpu::hemm(x...); }
  static void syrk(auto... x) { cpu::syrk(x...); }
  static void herk(auto... x) { cpu::herk(x...); }
  static void syr2k(auto... x) { cpu::syr2k(x...); }
  static void her2k(auto... x) { cpu::her2k(x...); }
};

}  // namespace tessera::device
