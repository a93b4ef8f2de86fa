// SPDX-License-Identifier: BSD-3-Clause
#include "host_blas.hpp"

#include "common/no_signals.hpp"

namespace tessera::device::cpu {

namespace {

/// Looks up a function that only OpenBLAS has. Null if the library is another CBLAS.
template <typename Function>
Function* of_openblas(const char* name) {
  return reinterpret_cast<Function*>(symbol(name));
}

}  // namespace

int threads() {
  static auto* const get = of_openblas<int()>("openblas_get_num_threads");
  return get != nullptr ? get() : 1;
}

void set_threads(int count) {
  static auto* const set = of_openblas<void(int)>("openblas_set_num_threads");
  const common::NoSignals in_new_threads;
  if (set != nullptr) set(count);
}

}  // namespace tessera::device::cpu
