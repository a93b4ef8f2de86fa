// SPDX-License-Identifier: BSD-3-Clause
#include "nan_check.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cmath>
#include <cstdlib>

#include "common/columns.hpp"
#include "common/of_type.hpp"
#include "guest.hpp"
#include "lapack_host.hpp"

namespace tessera::dropin {

namespace {

/// @param diagonal  whether the diagonal of a triangle is read
template <Scalar T>
bool has_nan(const blas::StoredOperand& x, bool diagonal) {
  std::atomic<bool> found = false;
  const Index skipped = diagonal ? 0 : 1;
  detail::for_columns(x.n, x.elements() * sizeof(T), [&](Index first, Index last) {
    for (Index j = first; j < last && !found.load(std::memory_order_relaxed); j++) {
      const T* const column = static_cast<const T*>(x.data) + j * x.ld;
      const Index begin = x.triangle == Uplo::Lower ? j + skipped : 0,
                  end = x.triangle == Uplo::Upper ? j + 1 - skipped : x.m;
      bool nan = false;  // branch-free, so the compiler can vectorize the loop
      for (Index i = begin; i < end; i++) {
        nan |= std::isnan(std::real(column[i]));
        if constexpr (is_complex<T>) nan |= std::isnan(std::imag(column[i]));
      }
      if (nan) found = true;
    }
  });
  return found;
}

}  // namespace

bool checks_nan() {
  static KnownSymbol getter;
  void* const get = getter.find([]() -> void* {
    constexpr const char* name = "LAPACKE_get_nancheck";
    if (void* const found = dlsym(RTLD_DEFAULT, name); found != nullptr) return found;
    return find_lapack(Guest::of_process().host(), name);
  });
  if (get != nullptr) return reinterpret_cast<int (*)()>(get)() != 0;
  static const bool by_environment = [] {
    const char* const value = std::getenv("LAPACKE_NANCHECK");
    return value == nullptr || std::atoi(value) != 0;
  }();
  return by_environment;
}

const char* operand_with_nan(const blas::LapackCall& call) {
  return with_type(call.type, [&]<Scalar T>(T) -> const char* {
    const auto [A, B] = operands(call);
    if (has_nan<T>(A, call.diag == Diag::NonUnit)) return "A";
    if (B.use != blas::Use::None && has_nan<T>(B, true)) return "B";
    const blas::StoredOperand tau{.data = call.tau, .m = call.k, .n = 1, .ld = call.k};
    if (call.properties().reads_factors() && has_nan<T>(tau, true)) return "tau";
    return nullptr;
  });
}

}  // namespace tessera::dropin
