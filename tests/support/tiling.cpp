// SPDX-License-Identifier: BSD-3-Clause
#include "support/tiling.hpp"

#include "blas/shapes.hpp"

namespace tessera::test {

template <Scalar T>
Call<T> on_matrices(const Call<T>& call, const Tiling& tiling) {
  TiledCall<T> tiles(call, tiling);
  run_as(call, [&] { tiles.submit(); });
  return tiles.written_back();
}

#define INSTANTIATE(letter, T, ...) \
  template class Shown<T>;          \
  template class TiledCall<T>;      \
  template Call<T> on_matrices(const Call<T>& call, const Tiling& tiling);
FOR_SDCZ(INSTANTIATE, )
#undef INSTANTIATE

}  // namespace tessera::test
