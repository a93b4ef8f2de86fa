// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

#include "choose.hpp"
#include "sums.hpp"

namespace tessera::detail {
struct Machine;
}

/// The tiles and the number of GPUs that make a call fastest according to rehearsals. Empty if the model does not cover
/// the call, that is, without owners of tiles or out of core. The type of the elements is s, d, c or z.
namespace tessera::plan {

std::optional<Choice> choose_cholesky(const detail::Machine& machine, char type, Index n);
std::optional<Choice> choose_lu_nopiv(const detail::Machine& machine, char type, Index m, Index n);
/// In panels of `Choice::candidate.width` columns, with partial pivoting. Also empty if panels were not timed.
std::optional<Choice> choose_lu(const detail::Machine& machine, char type, Index m, Index n);
/// The same for QR.
std::optional<Choice> choose_qr(const detail::Machine& machine, char type, Index m, Index n);
/// @param columns  of B, as if the triangle were on its left
/// @param panels   candidates that cut the call into panels
std::optional<Choice> choose_triangular(const detail::Machine& machine, char type, Side side, bool inverse, Index order,
                                        Index columns, std::span<const Candidate> panels = {});

/// (int gpus): the candidates on this number of GPUs, with the times that formulas predict. The formulas' choice comes
/// first; the others are rehearsed in the order of these times.
using CompareTiles = std::function<std::vector<std::pair<detail::Plan, double>>(int gpus)>;
std::optional<ChoiceOf<detail::Plan>> choose_sums(const detail::Machine& machine, const Sums& call,
                                                  const CompareTiles& compare);

}  // namespace tessera::plan
