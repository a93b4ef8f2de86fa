// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera::codelets {

struct OperationColour {
  std::string_view operation;
  std::uint32_t rgb;  ///< 0xRRGGBB
};

/// The colours of tile operations in all pictures, from Paul Tol's bright and muted schemes, which colour-blind readers
/// can distinguish. A Hermitian operation has the colour of its symmetric counterpart.
inline constexpr OperationColour operation_colours[] = {
    {"gemm", 0x4477aa},
    {"gemmt", 0xaa3377},
    {"symm", 0x66ccee},
    {"symm_panel", 0x66ccee},
    {"hemm_panel", 0x66ccee},
    {"hemm", 0x66ccee},
    {"syrk", 0x228833},
    {"herk", 0x228833},
    {"syr2k", 0x44aa99},
    {"her2k", 0x44aa99},
    {"trmm", 0xccbb44},
    {"trsm", 0xee6677},
    {"trmm_panel", 0xccbb44},
    {"trsm_panel", 0xee6677},
    {"scale", 0x999999},
    {"add", 0x999933},
    {"diagonal_blocks", 0x882255},
    {"symmetrize", 0x882255},
    {"inspect", 0x332288},
    {"potrf", 0xddcc77},
    {"getrf", 0xddcc77},
    {"getrf_nopiv", 0xddcc77},
    {"growth", 0x332288},
    {"getrf_beside_updates", 0xddcc77},
    {"panel_update", 0x4477aa},
    {"laswp", 0x999933},
    {"panel_solve", 0xee6677},
    {"trtri", 0xddcc77},
    {"lauum", 0xddcc77},
    {"find_zero", 0x332288},
    {"panel_multiply", 0xccbb44},
    {"panel_invert", 0xddcc77},
    {"split_panel", 0x999933},
    {"swap_columns", 0x999933},
    {"geqrf", 0xddcc77},
    {"geqrf_beside_updates", 0xddcc77},
    {"larft", 0x882255},
    {"larfb", 0x4477aa},
    {"ungqr", 0xddcc77},
    {"outcome", 0xbbbbbb},
};

/// The colour of an operation [0xRRGGBB]; 0 if it is not in the table, so that StarPU chooses a colour.
constexpr std::uint32_t colour_of(std::string_view operation) {
  for (const auto& entry : operation_colours)
    if (entry.operation == operation) return entry.rgb;
  return 0;
}

}  // namespace tessera::codelets
