// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Constants that decide the order of factorizations in panels. The same call on the same GPUs must give the same
/// result, so these do not come from measurements, which vary. The values are those of an H100 in double precision. The
/// constants of plans are in plan/tuning.hpp, which algorithms do not include.
namespace tessera::algorithms::tuning {

/// Time to factorize a column of a panel beside products: the latency of the exchange of its pivot [s].
inline constexpr double seconds_of_column = 5e-6;
/// The further time per byte of the column, which the thread blocks read and write [s].
inline constexpr double seconds_of_byte = 1.6e-11;
/// Rate of products while a panel is factorized, with the multiprocessors that the panel leaves them [flop/s].
inline constexpr double rate_beside = 40e12;
/// The shortest update of a panel, because of the time to launch its kernels [s].
inline constexpr double shortest_update = 1e-4;
/// The fraction of a GPU's memory for panels that are updated at the same time. The rest is for tiles that arrive.
inline constexpr double memory_beside = 0.5;

/// Rate of the link of a GPU: PCI Express 5.0 with 16 lanes [bytes/s].
inline constexpr double link_rate = 5e10;
/// Flops of a GPU per byte that its link transfers, which decides how many updates fit beside the arrival of a column.
inline constexpr double flops_of_byte = 1000;

/// At most one in `first_panels` panels updates columns while these arrive, so that most columns never wait for a link;
/// without GPUs, one in `first_panels_without_gpus`.
inline constexpr int first_panels = 4, first_panels_without_gpus = 8;

}  // namespace tessera::algorithms::tuning
