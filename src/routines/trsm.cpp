// SPDX-License-Identifier: BSD-3-Clause
#include "planned.hpp"
#include "triangular.hpp"
#include "unroll/solve.hpp"

namespace tessera::detail {

template <Scalar T>
void submit_trsm(const TileCall<T>& call) {
  submit_triangular(call, unroll::solve<T>);
}
template <Scalar T>
void compute_trsm(const blas::Call& call) {
  compute_triangular<T>(call, unroll::solve<T>);
}
template <Scalar T>
void compute_trsm(const std::shared_ptr<Session>& session, const Plan& plan, const blas::Call& call) {
  compute_triangular<T>(session, plan, call, unroll::solve<T>);
}

INSTANTIATE(trsm, SDCZ)
INSTANTIATE_PLANNED(compute_trsm)

}  // namespace tessera::detail
