// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// @file
/// All C++ headers of Tessera except <tessera/distributed.hpp>, which needs MPI.

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>
#include <tessera/keep.hpp>
#include <tessera/lapack.hpp>
#include <tessera/matrix.hpp>
#include <tessera/pinned.hpp>
#include <tessera/runtime.hpp>
#include <tessera/submissions.hpp>
#include <tessera/types.hpp>
