// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "planned.hpp"
#include "triangular.hpp"

namespace tessera::detail {

namespace {

/// Works in place, without a copy: rows are overwritten from the last to the first, each after all rows that need it
/// have read it. A row t of the last half is used, once loaded, for all results at once. The terms of the other half
/// are added result by result, so that results are written back one after another.
template <Scalar T>
void unroll_products(unroll::Sweep<T>& sweep, T factor) {
  const Index rows = sweep.rows(), middle = rows / 2;
  for (const auto group : sweep.groups()) {
    for (Index t = rows - 1; t >= middle; t--) {
      for (Index x = 0; x < rows - 1 - t; x++)
        for (Index j = group.begin; j < group.end; j++)
          sweep.product(rows - 1 - sweep.term(j, x, rows - 1 - t), t, j, factor, T(1));
      sweep.diagonal(t, factor, group);
    }
    for (Index s = rows - 1; s >= 0; s--) {
      const Index terms = std::min(s, middle);
      if (s < middle) sweep.diagonal(s, factor, group);
      for (Index x = 0; x < terms; x++)
        for (Index j = group.begin; j < group.end; j++)
          sweep.product(s, terms - 1 - sweep.term(j, x, terms), j, factor, T(1));
    }
  }
}

}  // namespace

template <Scalar T>
void submit_trmm(const TileCall<T>& call) {
  submit_triangular(call, unroll_products<T>);
}
template <Scalar T>
void compute_trmm(const blas::Call& call) {
  compute_triangular<T>(call, unroll_products<T>);
}
template <Scalar T>
void compute_trmm(const std::shared_ptr<Session>& session, const Plan& plan, const blas::Call& call) {
  compute_triangular<T>(session, plan, call, unroll_products<T>);
}

INSTANTIATE(trmm, SDCZ)
INSTANTIATE_PLANNED(compute_trmm)

}  // namespace tessera::detail
