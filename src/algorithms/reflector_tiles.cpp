// SPDX-License-Identifier: BSD-3-Clause
#include "reflector_tiles.hpp"

#include <starpu.h>

#include <algorithm>

#include <tessera/error.hpp>

#include "blas/shapes.hpp"
#include "common/failure.hpp"
#include "runtime/process_session.hpp"
#include "runtime/session.hpp"

namespace tessera::detail {

namespace {

std::size_t element_size(char type) {
  return type == 's' ? sizeof(float) : type == 'z' ? sizeof(std::complex<double>) : sizeof(double);
}

}  // namespace

ReflectorTiles::ReflectorTiles(std::shared_ptr<Session> session, Index m, Index n, Index panel, char type)
    : session_(std::move(session)), m_(m), n_(n), panel_(panel), type_(type) {
  for (Index k = 0; k * panel < all(); k++) {
    factors_.emplace_back(count(k), 1, element_size(type));
    blocks_.emplace_back(count(k), 2 * count(k), element_size(type));
  }
}

template <Scalar T, typename Use>
void ReflectorTiles::access(Index k, starpu_data_access_mode mode, Use use) const {
  starpu_data_acquire_on_node(factors(k), STARPU_MAIN_RAM, mode);
  auto* const interface = starpu_data_get_interface_on_node(factors(k), STARPU_MAIN_RAM);
  auto* const tile = reinterpret_cast<T*>(STARPU_MATRIX_GET_PTR(interface));
  if (tile != nullptr) use(tile);  // null in simulated time
  starpu_data_release_on_node(factors(k), STARPU_MAIN_RAM);
}

template <Scalar T>
void ReflectorTiles::set(const T* tau) {
  for (Index k = 0; k < panels(); k++)
    access<T>(k, STARPU_W, [&](T* tile) { std::copy_n(tau + k * panel_, count(k), tile); });
}

template <Scalar T>
void ReflectorTiles::wait(T* tau) const {
  runtime::require_can_wait("Reflectors::wait");
  for (Index k = 0; k < panels(); k++) {
    access<T>(k, STARPU_R, [&](const T* tile) { std::copy_n(tile, count(k), tau + k * panel_); });
    if (const auto failure = common::failure_of(factors(k))) {
      failure->told = true;
      throw RuntimeError(failure->what);
    }
  }
}

#define INSTANTIATE_REFLECTORS(letter, T, ...)    \
  template void ReflectorTiles::set<T>(const T*); \
  template void ReflectorTiles::wait<T>(T*) const;
FOR_SDCZ(INSTANTIATE_REFLECTORS, )

}  // namespace tessera::detail
