// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "owners.hpp"
#include "runtime/session.hpp"
#include "tiles/tile_grid.hpp"

namespace tessera::unroll {

/// The owners of the tiles of a result as stored; none if the session assigns no owners.
template <Scalar T>
Owners owners(const detail::Session& session, detail::OwnerGrid grid, const Matrix<T>& C, Region region) {
  using detail::MatrixAccess;
  if (!session.machine().has_owners()) return {};
  const auto& share = MatrixAccess::grid(C).share();
  return {grid, C.mt(), C.nt(), region, MatrixAccess::first_row(C), MatrixAccess::first_column(C), {share.p, share.q}};
}

}  // namespace tessera::unroll
