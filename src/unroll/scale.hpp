// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/matrix.hpp>

#include "codelets/codelet.hpp"
#include "owners.hpp"
#include "submit.hpp"

namespace tessera::unroll {

/// C ← β C on a part of C as it is stored.
/// @param hermitian  the imaginary parts of the diagonal become 0
template <Scalar T>
void submit_scale(const detail::Session& session, T beta, const Matrix<T>& C, Part part = Part::All,
                  bool hermitian = false) {
  if (beta == T(1)) return;
  const auto owner = unroll::owners(session, C, part);
  Submitter submitter(session, C);
  for (Index j = 0; j < C.nt(); j++)
    for (Index i = 0; i < C.mt(); i++) {
      if (!contains(part, i, j)) continue;
      const bool triangle = part != Part::All && i == j;
      const double elements = static_cast<double>(C.tile_m(i)) * static_cast<double>(C.tile_n(j));
      const codelets::ScaleArgs<T> args{
          {elements, type_letter<T>}, triangle ? part : Part::All, triangle && hermitian, beta};
      const auto mode = beta == T{} && !triangle ? STARPU_W : STARPU_RW;
      submitter.submit(codelets::scale<T>(), {{C.handle(i, j), mode}}, args, owner.of(i, j));
    }
}

}  // namespace tessera::unroll
