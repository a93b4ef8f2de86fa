// SPDX-License-Identifier: BSD-3-Clause
#include "support/call.hpp"

#include <sstream>
#include <stdexcept>

#include "blas/shapes.hpp"

namespace tessera::test {

template <Scalar T>
std::ostream& operator<<(std::ostream& out, const Call<T>& call) {
  const auto& [routine, o, e, alpha, beta, A, B, C] = call;
  out << type_letter<T> << routine->name;
  if (routine->has("side")) out << ", side " << static_cast<char>(o.side);
  if (routine->has("uplo")) out << ", uplo " << static_cast<char>(o.uplo);
  if (routine->has("op") || routine->has("op_a")) out << ", op " << static_cast<char>(o.op_a);
  if (routine->has("op_b")) out << static_cast<char>(o.op_b);
  if (routine->has("diag")) out << ", diag " << static_cast<char>(o.diag);
  if (routine->has("m")) out << ", m " << e.m;
  out << ", n " << e.n;
  if (routine->has("k")) out << ", k " << e.k;
  out << ", alpha " << alpha << ", lda " << A.ld();
  if (routine->has_b()) out << ", ldb " << B.ld();
  if (routine->has("beta")) out << ", beta " << beta;
  return out << ", ld" << (routine->has("C") ? 'c' : 'b') << ' ' << C.ld();
}

template <Scalar T>
void run_as(const Call<T>& call, const std::function<void()>& function) {
  try {
    function();
  } catch (const std::exception& error) {
    std::ostringstream message;
    message << call << " threw: " << error.what();
    throw std::runtime_error(message.str());
  }
}

template <Scalar T>
void on_pointers(Call<T>& call) {
  run_as(call, [&] { call.routine->on_pointers(call.arguments()); });
}

template <Scalar T>
void on_host(Call<T>& call) {
  if (!call.empty()) call.routine->on_host(call.arguments());
}

#define INSTANTIATE(letter, T, ...)                                                 \
  template std::ostream& operator<<(std::ostream& out, const Call<T>& call);        \
  template void run_as(const Call<T>& call, const std::function<void()>& function); \
  template void on_pointers(Call<T>& call);                                         \
  template void on_host(Call<T>& call);
FOR_SDCZ(INSTANTIATE, )
#undef INSTANTIATE

}  // namespace tessera::test
