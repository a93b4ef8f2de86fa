// SPDX-License-Identifier: BSD-3-Clause
#include "host_blas.hpp"

// Weak: present in every OpenBLAS, absent in other implementations of CBLAS.
extern "C" {
[[gnu::weak]] int openblas_get_num_threads(void);
[[gnu::weak]] void openblas_set_num_threads(int count);
}

namespace tessera::host {

int threads() { return &openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1; }

void set_threads(int count) {
  if (&openblas_set_num_threads != nullptr) openblas_set_num_threads(count);
}

}  // namespace tessera::host
