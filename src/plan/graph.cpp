// SPDX-License-Identifier: BSD-3-Clause
#include "graph.hpp"

#include <algorithm>
#include <limits>

#include "common/of_type.hpp"
#include "devices/partial_tile.hpp"
#include "tile/owners.hpp"

namespace tessera::plan {

namespace {

/// The number of panels that a diagonal tile is copied in. Each panel is copied from the diagonal down.
Index panels_of(Index columns) { return std::clamp<Index>(columns / device::narrowest_panel, 1, device::most_panels); }
/// The fraction of a diagonal tile that is copied.
double part_of_diagonal(Index columns) { return 0.5 + 0.5 / static_cast<double>(panels_of(columns)); }

}  // namespace

Outline::Outline(Graph& graph, const tile::Edges& rows, const tile::Edges& columns, char type, bool triangle)
    : Stored(type, rows, columns, static_cast<int>(graph.tiles.size())) {
  const auto element_size = static_cast<double>(common::size_of(type));
  const tile::Owners owners(graph.owners, mt(), nt(), tile::Part::All);
  const bool one_row = mt() == 1, panels = triangle && one_row && nt() > 1;  // copied from the diagonal down
  for (Index j = 0; j < nt(); j++)
    for (Index i = 0; i < mt(); i++) {
      const bool diagonal = triangle && (i == j || panels);
      const auto on_diagonal = static_cast<double>(panels ? tile_n(j) : tile_m(i)),
                 height = static_cast<double>(panels ? m() - j * nb() : tile_m(i));
      const double copied = diagonal ? height - on_diagonal * (1 - part_of_diagonal(tile_n(j))) : height,
                   column = element_size * copied, bytes = column * static_cast<double>(tile_n(j));
      const bool one_piece = one_row && !diagonal && !graph.far;  // the tile holds all rows, so it is contiguous
      graph.add({.bytes = bytes,
                 .column = one_piece ? bytes : column,
                 .apart = graph.far ? std::numeric_limits<double>::infinity() : element_size * static_cast<double>(m()),
                 .narrow = static_cast<double>(std::min(tile_m(i), tile_n(j))),
                 .calls = diagonal ? static_cast<int>(panels_of(tile_n(j))) : 1,
                 .calls_home = diagonal ? 3 : 0,  // a kernel that changes nothing else, and an event
                 .home = graph.operands == machine::on_their_owners ? owners.of(i, j)
                                                                    : std::max(graph.operands, machine::in_host_memory),
                 .returns = graph.operands != machine::on_their_owners});
    }
}

}  // namespace tessera::plan
