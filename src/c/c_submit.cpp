// SPDX-License-Identifier: BSD-3-Clause
// The routines on matrices in C. All matrices of a call have the element type of the last one, the output.
#include <tessera/blas3.hpp>

#include "c_interface.hpp"

using namespace tessera;
using namespace tessera::c;

namespace {

/// A matrix argument, which must have the element type of the output.
struct Operand {
  const char* name;
  const tessera_matrix* matrix;

  template <Scalar T>
  const Matrix<T>& as(const char* function, int position) const {
    const auto* typed = std::get_if<Matrix<T>>(&require_pointer(function, position, name, matrix)->matrix);
    if (typed == nullptr)
      throw ArgumentError(function, position, name, std::string("is not of the output's type, ") + type_letter<T>);
    return *typed;
  }
};

/// The types in which a routine exists, as in routines.def.
enum class Types { SDCZ, CZ };

/// Calls `routine` for the element type of `output`.
/// @param arguments  all arguments but the last
/// @param output     the last argument
template <Types types, typename Routine, typename... Arguments>
tessera_status submit(const char* function, Routine routine, Operand output, Arguments... arguments) {
  constexpr int position = sizeof...(arguments) + 1;
  return status_of(function, [&] {
    const auto submit_typed = [&]<Scalar T>(const Matrix<T>& /*typed*/) {
      if constexpr (types == Types::SDCZ || is_complex<T>) call<T>(function, routine, arguments..., output);
      else throw ArgumentError(function, position, output.name, "is of a real type, must be of type c or z");
    };
    std::visit(submit_typed, require_pointer(function, position, output.name, output.matrix)->matrix);
  });
}

}  // namespace

extern "C" {

tessera_status tessera_gemm_submit(tessera_op op_a, tessera_op op_b, const void* alpha, const tessera_matrix* A,
                                   const tessera_matrix* B, const void* beta, const tessera_matrix* C) {
  return submit<Types::SDCZ>(
      "tessera_gemm_submit", [](auto... x) { gemm(x...); }, Operand{"C", C}, Choice("op_a", op_a, ops),
      Choice("op_b", op_b, ops), Factor<Full>{"alpha", alpha}, Operand{"A", A}, Operand{"B", B},
      Factor<Full>{"beta", beta});
}

tessera_status tessera_gemmt_submit(tessera_uplo uplo, tessera_op op_a, tessera_op op_b, const void* alpha,
                                    const tessera_matrix* A, const tessera_matrix* B, const void* beta,
                                    const tessera_matrix* C) {
  return submit<Types::SDCZ>(
      "tessera_gemmt_submit", [](auto... x) { gemmt(x...); }, Operand{"C", C}, Choice("uplo", uplo, uplos),
      Choice("op_a", op_a, ops), Choice("op_b", op_b, ops), Factor<Full>{"alpha", alpha}, Operand{"A", A},
      Operand{"B", B}, Factor<Full>{"beta", beta});
}

tessera_status tessera_symm_submit(tessera_side side, tessera_uplo uplo, const void* alpha, const tessera_matrix* A,
                                   const tessera_matrix* B, const void* beta, const tessera_matrix* C) {
  return submit<Types::SDCZ>(
      "tessera_symm_submit", [](auto... x) { symm(x...); }, Operand{"C", C}, Choice("side", side, sides),
      Choice("uplo", uplo, uplos), Factor<Full>{"alpha", alpha}, Operand{"A", A}, Operand{"B", B},
      Factor<Full>{"beta", beta});
}

tessera_status tessera_hemm_submit(tessera_side side, tessera_uplo uplo, const void* alpha, const tessera_matrix* A,
                                   const tessera_matrix* B, const void* beta, const tessera_matrix* C) {
  return submit<Types::CZ>(
      "tessera_hemm_submit", [](auto... x) { hemm(x...); }, Operand{"C", C}, Choice("side", side, sides),
      Choice("uplo", uplo, uplos), Factor<Full>{"alpha", alpha}, Operand{"A", A}, Operand{"B", B},
      Factor<Full>{"beta", beta});
}

tessera_status tessera_syrk_submit(tessera_uplo uplo, tessera_op op, const void* alpha, const tessera_matrix* A,
                                   const void* beta, const tessera_matrix* C) {
  return submit<Types::SDCZ>(
      "tessera_syrk_submit", [](auto... x) { syrk(x...); }, Operand{"C", C}, Choice("uplo", uplo, uplos),
      Choice("op", op, ops), Factor<Full>{"alpha", alpha}, Operand{"A", A}, Factor<Full>{"beta", beta});
}

tessera_status tessera_herk_submit(tessera_uplo uplo, tessera_op op, const void* alpha, const tessera_matrix* A,
                                   const void* beta, const tessera_matrix* C) {
  return submit<Types::CZ>(
      "tessera_herk_submit", [](auto... x) { herk(x...); }, Operand{"C", C}, Choice("uplo", uplo, uplos),
      Choice("op", op, ops), Factor<Real>{"alpha", alpha}, Operand{"A", A}, Factor<Real>{"beta", beta});
}

tessera_status tessera_syr2k_submit(tessera_uplo uplo, tessera_op op, const void* alpha, const tessera_matrix* A,
                                    const tessera_matrix* B, const void* beta, const tessera_matrix* C) {
  return submit<Types::SDCZ>(
      "tessera_syr2k_submit", [](auto... x) { syr2k(x...); }, Operand{"C", C}, Choice("uplo", uplo, uplos),
      Choice("op", op, ops), Factor<Full>{"alpha", alpha}, Operand{"A", A}, Operand{"B", B},
      Factor<Full>{"beta", beta});
}

tessera_status tessera_her2k_submit(tessera_uplo uplo, tessera_op op, const void* alpha, const tessera_matrix* A,
                                    const tessera_matrix* B, const void* beta, const tessera_matrix* C) {
  return submit<Types::CZ>(
      "tessera_her2k_submit", [](auto... x) { her2k(x...); }, Operand{"C", C}, Choice("uplo", uplo, uplos),
      Choice("op", op, ops), Factor<Full>{"alpha", alpha}, Operand{"A", A}, Operand{"B", B},
      Factor<Real>{"beta", beta});
}

tessera_status tessera_trmm_submit(tessera_side side, tessera_uplo uplo, tessera_op op, tessera_diag diag,
                                   const void* alpha, const tessera_matrix* A, const tessera_matrix* B) {
  return submit<Types::SDCZ>(
      "tessera_trmm_submit", [](auto... x) { trmm(x...); }, Operand{"B", B}, Choice("side", side, sides),
      Choice("uplo", uplo, uplos), Choice("op", op, ops), Choice("diag", diag, diags), Factor<Full>{"alpha", alpha},
      Operand{"A", A});
}

tessera_status tessera_trsm_submit(tessera_side side, tessera_uplo uplo, tessera_op op, tessera_diag diag,
                                   const void* alpha, const tessera_matrix* A, const tessera_matrix* B) {
  return submit<Types::SDCZ>(
      "tessera_trsm_submit", [](auto... x) { trsm(x...); }, Operand{"B", B}, Choice("side", side, sides),
      Choice("uplo", uplo, uplos), Choice("op", op, ops), Choice("diag", diag, diags), Factor<Full>{"alpha", alpha},
      Operand{"A", A});
}

}  // extern "C"
