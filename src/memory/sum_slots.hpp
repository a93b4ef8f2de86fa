// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

/// A pool of slots in pinned host memory for the results of `inspect`. A kernel writes the result directly to its slot,
/// because a copy would have to queue behind tiles that the GPU writes back.
///
/// A slot is taken when an `inspect` and the following trmm or trsm are submitted. The trmm or trsm returns it to the
/// pool, on whichever worker it runs. If its submission fails, the slot is lost until the session ends, because the
/// `inspect` may still write to it.
namespace tessera::memory::sum_slots {

/// Adds memory to the pool.
void add(std::span<double> memory);
/// Empties the pool, so that its memory can be freed.
/// @pre  no slot is in use
void clear();

/// Takes a slot and sets it to NaN, so that a tile whose `inspect` fails is treated as not finite.
/// @param type  the type of the tile, whose Real<T> the slot holds
/// @return  null if all slots are in use
void* take(char type);
/// Returns a slot to the pool.
/// @param slot  may be null
void give_back(void* slot) noexcept;

}  // namespace tessera::memory::sum_slots
