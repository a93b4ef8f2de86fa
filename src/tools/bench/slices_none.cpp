// SPDX-License-Identifier: BSD-3-Clause
#include "bench/slices.hpp"
#include "shared/bad_argument.hpp"

namespace tessera::bench {

void measure_slices(const Options& /*options*/, const Machine& /*machine*/, Progress& /*progress*/) {
  throw tools::BadArgument("--slices: is not available: this program was built without CUDA");
}

}  // namespace tessera::bench
