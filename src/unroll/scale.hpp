// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "submit.hpp"
#include "tile/owners.hpp"

namespace tessera::unroll {

/// C ← β C on a region of C as stored.
/// @param hermitian  whether the imaginary parts of the diagonal become 0
template <Scalar T>
void submit_scale(const detail::Session& session, T beta, const Matrix<T>& C, detail::Region region = detail::Part::All,
                  bool hermitian = false) {
  if (beta == T(1)) return;
  const auto owner = tile::owners(session, detail::owner_grid(session.machine().gpu_count()), C, region);
  Submitter submitter(session, C);
  for (Index j = 0; j < C.nt(); j++)
    for (Index i = 0; i < C.mt(); i++) {
      if (!region.contains(i, j)) continue;
      const bool on_diagonal = region.on_diagonal(i, j);
      const double elements = static_cast<double>(C.tile_m(i)) * static_cast<double>(C.tile_n(j));
      const codelets::ScaleArgs<T> args{{elements, type_letter<T>},
                                        on_diagonal ? region.part : detail::Part::All,
                                        region.first_row(j, C.nb()),
                                        on_diagonal && hermitian,
                                        beta};
      const auto mode = beta == T{} && !on_diagonal ? STARPU_W : STARPU_RW;
      submitter.submit(codelets::scale<T>(), {{C.handle(i, j), mode}}, args, owner.of(i, j));
    }
}

}  // namespace tessera::unroll
