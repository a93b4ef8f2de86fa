// SPDX-License-Identifier: BSD-3-Clause
#include "support/routines.hpp"

#include <stdexcept>

#include "blas/shapes.hpp"
#include "devices/cpu/host_blas.hpp"

namespace tessera::test {

/// The host BLAS, with our own gemmt, since old versions of OpenBLAS have none.
namespace host_blas {

using namespace tessera::device::cpu;

/// If alpha is 0, the sums are skipped: OpenBLAS's kernels for small matrices would read A and B nevertheless on
/// processors with 512-bit vectors.
template <Scalar T>
void gemm(Op op_a, Op op_b, int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
          int ldc) {
  device::cpu::gemm<T>(op_a, op_b, m, n, alpha == T{} ? 0 : k, alpha, A, lda, B, ldb, beta, C, ldc);
}

template <Scalar T>
void gemmt(Uplo uplo, Op op_a, Op op_b, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C,
           int ldc) {
  HostMatrix<T> whole(n, n);
  const auto each_element = [&](auto function) {
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++)
        if (in_triangle(uplo, i, j)) function(C[i + j * ldc], whole(i, j));
  };
  each_element([](const T& c, T& element) { element = c; });
  gemm<T>(op_a, op_b, n, n, k, alpha, A, lda, B, ldb, beta, whole.data(), static_cast<int>(whole.ld()));
  each_element([](T& c, const T& element) { c = element; });
}

}  // namespace host_blas

namespace table {

/// Converts sizes to int, as the host BLAS takes them.
template <typename Argument>
Argument counted(Argument x) {
  return x;
}
inline int counted(Index x) { return static_cast<int>(x); }

template <typename Shape, Scalar T, typename Ours, typename Host>
Routine<T> routine(blas::Routine which, Ours, Host) {
  const auto& known = blas::properties(which);
  std::vector<std::string> names;
  for (const auto& parameter : blas::parameters(known.shape)) names.emplace_back(parameter.name);
  const bool hermitian = known.is_hermitian();
  std::vector<Op> ops{all_ops.begin(), all_ops.end()};
  if (Shape::c(hermitian) == Structure::Hermitian) ops = {Op::NoTrans, Op::ConjTrans};
  else if (Shape::c(hermitian) == Structure::Symmetric && is_complex<T>) ops = {Op::NoTrans, Op::Trans};
  return {which,
          known.name,
          names,
          known.alpha == blas::FactorKind::Real,
          known.beta == blas::FactorKind::Real,
          hermitian,
          Shape::a(hermitian),
          Shape::c(hermitian),
          ops,
          [](const Call<T>& call) { return Shape::terms(call); },
          [](const Arguments<T>& arguments) { Shape::on_pointers(Ours(), arguments); },
          [](Layout layout, const Arguments<T>& arguments) { Shape::on_pointers(Ours(), arguments, layout); },
          [](const TileArguments<T>& arguments) { Shape::on_matrices(Ours(), arguments); },
          [](const Arguments<T>& arguments) { Shape::on_pointers(Host(), arguments); }};
}

template <Scalar T>
std::vector<Routine<T>> make_routines() {
  std::vector<Routine<T>> list;
#define ROUTINE(name, types, shape, alpha, beta)                                               \
  if constexpr (blas::exists<T>(blas::Types::types))                                           \
    list.push_back(routine<shapes::shape, T>(                                                  \
        blas::Routine::name, [](const auto&... arguments) { tessera::name<T>(arguments...); }, \
        [](const auto&... arguments) { host_blas::name<T>(counted(arguments)...); }));
#include "blas/routines.def"
#undef ROUTINE
  return list;
}

}  // namespace table

template <Scalar T>
const std::vector<Routine<T>>& routines() {
  static const auto list = table::make_routines<T>();
  return list;
}

template <Scalar T>
void for_all_options(const Routine<T>& routine, const std::function<void(const Options&)>& body) {
  const auto choices = [&](const char* argument, const auto& all) {
    return std::vector(all.begin(), routine.has(argument) ? all.end() : all.begin() + 1);
  };
  for (const Side side : choices("side", all_sides))
    for (const Uplo uplo : choices("uplo", all_uplos))
      for (const Op op_a : choices(routine.has("op") ? "op" : "op_a", routine.ops))
        for (const Op op_b : choices("op_b", routine.ops))
          for (const Diag diag : choices("diag", all_diags)) {
            body(Options{side, uplo, op_a, op_b, diag});
            if (::testing::Test::HasFatalFailure()) return;
          }
}

template <Scalar T>
void for_all_sizes(const Routine<T>& routine, const std::vector<Index>& sizes,
                   const std::function<void(const Extent&)>& body) {
  const auto choices = [&](const char* argument) { return routine.has(argument) ? sizes : std::vector<Index>{0}; };
  for (const Index m : choices("m"))
    for (const Index n : choices("n"))
      for (const Index k : choices("k")) {
        body(Extent{m, n, k});
        if (::testing::Test::HasFatalFailure()) return;
      }
}

template <Scalar T>
std::vector<T> alphas(const Routine<T>& routine) {
  auto list = factors<T>();
  if (routine.real_alpha) std::erase_if(list, [](const T& x) { return std::imag(x) != 0; });
  return list;
}

template <Scalar T>
std::vector<T> betas(const Routine<T>& routine) {
  if (!routine.has("beta")) return {T(0)};
  auto list = factors<T>();
  if (routine.real_beta) std::erase_if(list, [](const T& x) { return std::imag(x) != 0; });
  return list;
}

template <Scalar T>
const Routine<T>& routine(std::string_view name) {
  for (const auto& candidate : routines<T>())
    if (candidate.name == name) return candidate;
  throw std::invalid_argument("no routine " + std::string(name));
}

#define INSTANTIATE(letter, T, ...)                                                                          \
  template const std::vector<Routine<T>>& routines<T>();                                                     \
  template void for_all_options(const Routine<T>& routine, const std::function<void(const Options&)>& body); \
  template void for_all_sizes(const Routine<T>& routine, const std::vector<Index>& sizes,                    \
                              const std::function<void(const Extent&)>& body);                               \
  template std::vector<T> alphas(const Routine<T>& routine);                                                 \
  template std::vector<T> betas(const Routine<T>& routine);                                                  \
  template const Routine<T>& routine<T>(std::string_view name);
FOR_SDCZ(INSTANTIATE, )
#undef INSTANTIATE

}  // namespace tessera::test
