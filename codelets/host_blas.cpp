// SPDX-License-Identifier: BSD-3-Clause
#include "host_blas.hpp"

// Every OpenBLAS has these functions; other implementations of CBLAS do not.
#pragma weak openblas_get_num_threads
#pragma weak openblas_set_num_threads

namespace tessera::host {

int threads() { return &openblas_get_num_threads != nullptr ? openblas_get_num_threads() : 1; }

void set_threads(int count) {
  if (&openblas_set_num_threads != nullptr) openblas_set_num_threads(count);
}

}  // namespace tessera::host
