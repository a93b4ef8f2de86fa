// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/types.hpp>

/// A pool of places in pinned host memory for the results of `inspect`. A kernel writes the result directly to its
/// slot: a copy would queue behind the tiles that the GPU writes back.
///
/// A slot is taken when an `inspect` and the trmm or trsm after it are submitted. The latter returns the slot to the
/// pool, on whatever worker it runs. If its submission fails, the slot is lost until the session ends, since the
/// `inspect` may still write to it.
namespace tessera::codelets::sum_slots {

/// Adds memory to the pool.
void add(std::span<double> memory);
/// Empties the pool, so that its memory can be freed.
/// @pre  no slot is in use
void clear();

/// Takes a slot and sets it to NaN, so that an `inspect` that fails makes its tile count as not finite.
/// @return null if all slots are in use
template <Scalar T>
Real<T>* take();
/// @param slot  may be null
void give_back(void* slot) noexcept;

}  // namespace tessera::codelets::sum_slots
