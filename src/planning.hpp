// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "tile_size.hpp"

/// The choices of tile_size.hpp for the machine that a session runs on.
namespace tessera::detail {

class Session;

template <Scalar T>
TileProblem tile_problem(const Session& session);

/// Tiles for a product of pointers; `Session::tile` overrides.
template <Scalar T>
ProductTiles plan_product(const Session& session, Index m, Index n, Index k);

/// Blocks of C for tiles of C of that size.
template <Scalar T>
Block block_of_tiles(const Session& session, Index tile);

/// Tile size of a matrix that is registered without one; `Session::tile` overrides.
template <Scalar T>
Index default_tile(const Session& session);

}  // namespace tessera::detail
