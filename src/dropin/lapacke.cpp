// SPDX-License-Identifier: BSD-3-Clause
// The LAPACKE symbols of every routine of lapack.def and every type: LAPACKE_dgetrf and LAPACKE_dgetrf_work, and two
// names for each with 64-bit integers: OpenBLAS's …64_ and the reference LAPACKE's …_64.
#include <dlfcn.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "blas/lapack_call.hpp"
#include "blas/shapes.hpp"
#include "common/columns.hpp"
#include "common/of_type.hpp"
#include "device_operands.hpp"
#include "dispatch.hpp"
#include "guest.hpp"
#include "lapack_host.hpp"
#include "option.hpp"

namespace tessera::dropin {

namespace {

using blas::LapackRoutine;

enum class Level {
  high,  ///< LAPACKE_dgetrf: checks for NaN, and allocates workspace
  low,   ///< LAPACKE_dgetrf_work
};

constexpr bool is_legal_layout(int layout) { return layout == 101 || layout == 102; }

/// The function that a symbol of the drop-in hides; null if there is none.
/// @param name  without the suffix for 64-bit integers
void* hidden(KnownSymbol& known, const char* name, bool wide) {
  return known.find([&]() -> void* {
    const auto& blas = Guest::of_process().host();
    for (const char* suffix : {wide ? "64_" : "", wide ? "_64" : ""})
      if (void* const found = find_lapack(blas, (std::string(name) + suffix).c_str()); found != nullptr) return found;
    return nullptr;
  });
}

/// @param diagonal  whether the diagonal of a triangle is read
template <Scalar T>
bool has_nan(const blas::StoredOperand& x, bool diagonal) {
  std::atomic<bool> found = false;
  const Index skipped = diagonal ? 0 : 1;
  common::for_columns(x.n, x.elements() * sizeof(T), [&](Index first, Index last) {
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

/// Whether the high-level functions of LAPACKE check their operands for NaN, according to the program's LAPACKE
/// (LAPACKE_set_nancheck), or else the environment variable LAPACKE_NANCHECK. The default is yes.
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

/// "A", "B" or "tau" if the part of it that the routine reads contains NaN, else null. Several threads read large
/// operands.
const char* operand_with_nan(const LapackCall& call) {
  return common::with_type(call.type, [&]<Scalar T>(T) -> const char* {
    const auto [A, B] = operands(call);
    if (has_nan<T>(A, call.diag == Diag::NonUnit)) return "A";
    if (B.use != blas::Use::None && has_nan<T>(B, true)) return "B";
    const blas::StoredOperand tau{.data = call.tau, .m = call.k, .n = 1, .ld = call.k};
    if (call.properties().reads_factors() && has_nan<T>(tau, true)) return "tau";
    return nullptr;
  });
}

/// Handles a call that must not be dispatched in a program without LAPACKE. Returns the info that LAPACKE documents,
/// taking it from LAPACK where LAPACK decides.
Index without_lapacke(LapackCall call, int layout, Level level, const char* name) {
  auto& lapack = Guest::of_process().lapack();
  // LAPACKE compares the leading dimension of a row-major matrix with its number of columns only, so both may be 0.
  if (call.by_rows() && call.columns() == 0 && call.lda == 0) call.lda = 1;
  if (call.by_rows() && call.right_columns() == 0 && call.ldb == 0) call.ldb = 1;
  const auto say_illegal = [&](int position) {
    say_now("argument " + std::to_string(position) + " of " + name + " is illegal");
    return -static_cast<Index>(position);
  };
  if (!is_legal_layout(layout)) return say_illegal(1);
  if (const int position = first_illegal(call).position; position > 0) {
    if (call.by_rows()) return say_illegal(position + 1);
    auto columns = call;
    alignas(16) std::byte work[16];  // LAPACK stores the best workspace size before it checks its arguments
    if (columns.work == nullptr) columns.work = work;
    std::int64_t info = 0;  // enough for either width
    if (!lapack.pass_on(columns, &info)) return say_illegal(position + 1);
    return -static_cast<Index>(position + 1);
  }
  if (level == Level::high && checks_nan())
    if (const char* operand = operand_with_nan(call); operand != nullptr) return -(position_of(call, operand) + 1);
  Index info = 0;
  // Without flops, orgqr still writes columns of the identity, gels writes zeros, and trtrs looks for zeros.
  if (traffic(call).out > 0 || call.routine == LapackRoutine::trtrs || call.lwork == -1) {
    auto columns = call;
    if (call.lwork == -1) columns = query_of(call);
    constexpr Index transpose_memory_error = -1011;
    if (!lapack.has(call)) Guest::of_process().abort_without_host("LAPACK");
    if (!lapack(columns, info)) return transpose_memory_error;
  }
  return info;
}

/// Handles a call of the program. Legal calls that compute something are dispatched, except those that LAPACKE would
/// refuse because of a NaN. All others reach the host's LAPACKE unchanged. The program's xerbla may leave by longjmp,
/// so no frame on that path has objects to destroy.
/// @param forward  calls the host's function with the program's arguments
template <typename Int, typename Forward>
Int make(const LapackCall& call, int layout, Level level, KnownSymbol& known, const char* name, Forward forward) {
  const bool computes = is_legal_layout(layout) && is_legal(call) && flops(call) > 0;
  if (computes)
    if (Index info = 0; done_on_gpu(call, nullptr, info)) return static_cast<Int>(info < 0 ? info - 1 : info);
  const bool dispatched = computes && !(level == Level::high && checks_nan() && operand_with_nan(call) != nullptr);
  if (Index info = 0; dispatched && dispatch(call, info)) return static_cast<Int>(info);
  if (void* const function = hidden(known, name, call.wide); function != nullptr) return forward(function);
  return static_cast<Int>(without_lapacke(call, layout, level, name));
}

}  // namespace

// The parameters after the layout, with integers of type Int; workspace parameters only at level `low`.
#define DECLARE_OPTION(Type, name, ...) , char name
#define DECLARE_SIZE(name, Int, level) , Int name
#define DECLARE_MATRIX(name, ld, Int, level) , void *name, Int ld
#define DECLARE_PIVOTS(Int, level) , Int* ipiv
#define DECLARE_TAU(Int, level) , void* tau
#define DECLARE_WORK(Int, level) DECLARE_WORK_##level(Int)
#define DECLARE_WORK_high(Int)
#define DECLARE_WORK_low(Int) , void *work, Int lwork

// The arguments in a call that passes them on.
#define FORWARD_OPTION(Type, name, ...) , name
#define FORWARD_SIZE(name, ...) , name
#define FORWARD_MATRIX(name, ld, ...) , name, ld
#define FORWARD_PIVOTS(...) , ipiv
#define FORWARD_TAU(...) , tau
#define FORWARD_WORK(Int, level) FORWARD_WORK_##level
#define FORWARD_WORK_high
#define FORWARD_WORK_low , work, lwork

// The arguments as members of a LapackCall.
#define MEMBER_OPTION(Type, name, ...) .name = option<Type>(name),
#define MEMBER_SIZE(name, ...) .name = name,
#define MEMBER_MATRIX(name, ld, ...) .name = name, .ld = ld,
#define MEMBER_PIVOTS(...) .ipiv = ipiv,
#define MEMBER_TAU(...) .tau = tau,
#define MEMBER_WORK(Int, level) MEMBER_WORK_##level
#define MEMBER_WORK_high .lwork = LapackCall::enough_work,
#define MEMBER_WORK_low .work = work, .lwork = lwork,

#define DEFINE_SYMBOL(symbol, name, code, Name, list, Int, level)                              \
  Int symbol(int layout LAPACK_##list(DECLARE, Int, level)) {                                  \
    static constinit KnownSymbol host;                                                         \
    const LapackCall call{.routine = LapackRoutine::Name,                                      \
                          .type = code,                                                        \
                          .wide = sizeof(Int) == 8,                                            \
                          .layout = layout == 101 ? Layout::RowMajor : Layout::ColMajor,       \
                          LAPACK_##list(MEMBER, Int, level)};                                  \
    return make<Int>(call, layout, Level::level, host, #name, [&](void* function) {            \
      using Function = Int(int LAPACK_##list(DECLARE, Int, level));                            \
      return reinterpret_cast<Function*>(function)(layout LAPACK_##list(FORWARD, Int, level)); \
    });                                                                                        \
  }

#define DEFINE(letter, T, list, Name, name)                          \
  DEFINE_LEVEL(LAPACKE_##letter##name, #letter[0], Name, list, high) \
  DEFINE_LEVEL(LAPACKE_##letter##name##_work, #letter[0], Name, list, low)
#define DEFINE_LEVEL(symbol, code, Name, list, level)                       \
  DEFINE_SYMBOL(symbol, symbol, code, Name, list, int, level)               \
  DEFINE_SYMBOL(symbol##64_, symbol, code, Name, list, std::int64_t, level) \
  DEFINE_SYMBOL(symbol##_64, symbol, code, Name, list, std::int64_t, level)
#define LAPACK(name, list, matrix, pivots, info, types) FOR_##types(DEFINE, list, name, name)

extern "C" {
#include "blas/lapack.def"
}

}  // namespace tessera::dropin
