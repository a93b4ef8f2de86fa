// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <memory>

#include "colours.hpp"
#include "devices/cpu/host_lapack.hpp"
#include "kernel.hpp"
#include "not_finite.hpp"

#ifdef TESSERA_WITH_CUDA
#include "devices/cuda/magnitude.hpp"
#include "devices/cuda/visit_diagonal.hpp"
#endif

namespace tessera::codelets {

namespace {

/// The index of the first of `count` diagonal elements of a factor that is not positive, or `count`. NaN counts as not
/// positive, as in reference LAPACK; OpenBLAS and cuSOLVER do not check for it.
template <Scalar T>
int first_not_positive(const T* diagonal, std::ptrdiff_t stride, int count) {
  int i = 0;
  while (i < count && std::real(diagonal[i * stride]) > 0) i++;
  return i;
}

template <Scalar T>
struct Potrf {
  using Args = PotrfArgs;

  static void run(const device::OnHost& /*blas*/, void* buffers[], const Args& args) {
    const auto A = tile<T>(buffers[0]);
    const int finite = first_not_finite<T>(args.uplo, {A.data, A.m, A.n, A.ld});
    const int info = device::cpu::potrf<T>(args.uplo, A.n, A.data, A.ld);
    const int factorized = std::min(info > 0 ? info - 1 : A.n, finite);
    const int bad = first_not_positive(A.data, A.ld + std::ptrdiff_t{1}, factorized);
    if (bad < A.n) args.value->report(args.first + bad + 1);
  }

#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& on, void* buffers[], const Args& args) {
    const auto A = tile<T>(buffers[0]);
    const auto& solver = device::cuda::local_solver();
    if (solver.handle == nullptr) return;  // the failure has been reported
    if constexpr (is_complex<T>) device::cuda::clear_imaginary_diagonal(A.n, A.data, A.ld);  // LAPACK does not read it
    device::check("potrf", device::cuda::first_not_finite<T>(device::cuda::local_stream(), args.uplo == Uplo::Lower,
                                                             A.n, A.data, A.ld, solver.not_finite));
    int elements = 0;
    if (!device::check("potrf",
                       device::cuda::potrf_workspace<T>(solver.handle, args.uplo, A.n, A.data, A.ld, &elements)))
      return;
    auto* const workspace =
        static_cast<T*>(device::cuda::solver_workspace(static_cast<std::size_t>(elements) * sizeof(T)));
    if (workspace == nullptr) return;  // the failure has been reported
    device::check(
        "potrf", device::cuda::potrf<T>(solver.handle, args.uplo, A.n, A.data, A.ld, workspace, elements, solver.info));
    const auto examine = [info = solver.info, not_finite = solver.not_finite, args](const T* diagonal, int first,
                                                                                    int count) {
      const auto rows_before = [=](int row) { return std::clamp(row - first, 0, count); };
      const int factorized = std::min(*info > 0 ? rows_before(*info - 1) : count, rows_before(*not_finite));
      const int bad = first_not_positive(diagonal, 1, factorized);
      if (bad < count) args.value->report(args.first + first + bad + 1);
    };
    device::visit_diagonal<T>(on, {A.data, A.n, A.n, A.ld}, examine);
  }
#endif
};

}  // namespace

starpu_codelet& potrf(char type) { return codelet_of<Potrf>(type, "potrf"); }

namespace {

/// The implementation of `outcome`, also for GPU workers, because there may be no CPU workers.
void write_outcome(void* buffers[], void* args) {
  const std::unique_ptr<OutcomeValue> value(static_cast<const OutcomeArgs*>(args)->value);
  *reinterpret_cast<std::int64_t*>(STARPU_VARIABLE_GET_PTR(buffers[1])) = value->bits();
}

constexpr double outcome_microseconds = 1;

starpu_codelet make_outcome() {
  static starpu_perfmodel model{};  // StarPU needs one in simulated time
  model.type = STARPU_PER_WORKER;
  model.symbol = "outcome";
  model.worker_cost_function = [](starpu_task*, unsigned, unsigned) { return outcome_microseconds; };
  model.footprint = [](starpu_task*) { return std::uint32_t{0}; };
  starpu_codelet codelet{};
  codelet.model = &model;
  codelet.name = "outcome";
  codelet.color = colour_of(codelet.name);
  codelet.cpu_funcs[0] = codelet.cuda_funcs[0] = write_outcome;
  codelet.nbuffers = 2;
  codelet.modes[0] = STARPU_R, codelet.modes[1] = STARPU_W;
  codelet.specific_nodes = 1;
  codelet.nodes[0] = STARPU_SPECIFIC_NODE_LOCAL, codelet.nodes[1] = STARPU_SPECIFIC_NODE_CPU;
  return codelet;
}

}  // namespace

starpu_codelet& outcome() {
  static auto codelet = make_outcome();
  return codelet;
}

}  // namespace tessera::codelets
