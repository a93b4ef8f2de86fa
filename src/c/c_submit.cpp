// SPDX-License-Identifier: BSD-3-Clause
// The routines on matrices in C. All matrices of a call have the element type of the last one, the output.
#include <tessera/blas3.hpp>

#include "c_interface.hpp"

using namespace tessera;
using namespace tessera::c;

namespace {

/// Calls `routine` for the element type of the last argument, the output.
template <Types types, typename Routine, typename... Arguments>
tessera_status submit(const char* function, Routine routine, Arguments... arguments) {
  constexpr int position = sizeof...(arguments);
  return status_of(function, [&] {
    const Operand& output = std::get<position - 1>(std::tie(arguments...));
    const auto submit_typed = [&]<Scalar T>(const Matrix<T>& /*typed*/) {
      if constexpr (exists<T>(types)) call<T>(function, routine, arguments...);
      else throw ArgumentError(function, position, output.name, "is of a real type, must be of type c or z");
    };
    std::visit(submit_typed, require_pointer(function, position, output.name, output.matrix)->matrix);
  });
}

}  // namespace

// The parameters of a function on matrices.
#define DECLARE_OPTION(Type, member, name, ...) C##Type name,
#define DECLARE_SIZE(name, ...)
#define DECLARE_FACTOR(Kind, name, ...) const void *name,
#define DECLARE_INPUT(name, ld, ...) const tessera_matrix *name,
#define DECLARE_OUTPUT(name, ld, ...) const tessera_matrix* name

// The arguments in the form that `submit` converts. The output is last.
#define GIVE_OPTION(Type, member, name, Alpha, Beta) choice(#name, name),
#define GIVE_SIZE(name, Alpha, Beta)
#define GIVE_FACTOR(Kind, name, Alpha, Beta) Factor<FACTOR_##Kind(Alpha, Beta)>{#name, name},
#define GIVE_INPUT(name, ld, Alpha, Beta) Operand{#name, name},
#define GIVE_OUTPUT(name, ld, Alpha, Beta) \
  Operand { #name, name }

#define ROUTINE(name, types, shape, alpha, beta)                                                                      \
  tessera_status tessera_##name##_submit(SHAPE_##shape(DECLARE)) {                                                    \
    return submit<Types::types>(                                                                                      \
        "tessera_" #name "_submit", [](const auto&... x) { tessera::name(x...); }, SHAPE_##shape(GIVE, alpha, beta)); \
  }

extern "C" {
#include "blas/routines.def"

tessera_status tessera_copy_submit(const tessera_matrix* A, const tessera_matrix* B) {
  return submit<Types::SDCZ>(
      "tessera_copy_submit", [](const auto&... x) { tessera::copy(x...); }, Operand{"A", A}, Operand{"B", B});
}
}
