// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/tessera.h>

#include <tessera/lapack.hpp>

/// What factorizations on matrices leave in C besides the factors.

struct tessera_info {
  tessera::Info info;
};
struct tessera_pivots {
  tessera::Pivots pivots;
};
