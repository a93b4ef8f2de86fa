// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "simulate/simulation.hpp"

namespace tessera::simulate {

/// Draws the trace that a simulation has left in `scratch`: starpu_fxt_tool converts it, ViTE draws it.
/// @throws RuntimeError with the end of what the programs have said
void draw_gantt(const Scratch& scratch, const std::filesystem::path& svg);

}  // namespace tessera::simulate
