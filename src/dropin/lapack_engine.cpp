// SPDX-License-Identifier: BSD-3-Clause
#include "lapack_engine.hpp"

#include <cstdint>

#include <tessera/lapack.hpp>

#include "common/of_type.hpp"

namespace tessera::dropin {

namespace {

using blas::LapackCall, blas::LapackRoutine;

// LAPACK's names for real matrices.
void ormqr(auto... x) { unmqr(x...); }
void orgqr(auto... x) { ungqr(x...); }

// The arguments of a LapackCall after the layout, in the form that the routines on pointers take.
#define GIVE_OPTION(Type, name, ...) , c.name
#define GIVE_SIZE(name, ...) , c.name
#define GIVE_MATRIX(name, ld, ...) , static_cast<T*>(c.name), c.ld
#define GIVE_PIVOTS(...) , static_cast<Int*>(c.ipiv)
#define GIVE_TAU(...) , static_cast<T*>(c.tau)
#define GIVE_WORK(...)
#define RETURN_Info(info) return info
#define RETURN_None(call) return call, 0

template <Scalar T, typename Int>
Index compute_typed(const LapackCall& c) {
  switch (c.routine) {
#define LAPACK(name, list, matrix, pivots, info, types) \
  case LapackRoutine::name:                             \
    RETURN_##info(name(c.layout LAPACK_##list(GIVE, )));
#include "blas/lapack.def"
#undef LAPACK
  }
  return 0;
}

}  // namespace

Index compute(const LapackCall& call) {
  return with_type(call.type, [&]<Scalar T>(T) {
    return call.wide ? compute_typed<T, std::int64_t>(call) : compute_typed<T, std::int32_t>(call);
  });
}

}  // namespace tessera::dropin
