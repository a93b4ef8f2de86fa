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
#include "devices/cuda/solver.hpp"
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
  static void run(const device::OnDevice& /*on*/, void* buffers[], const Args& args) {
    const auto A = tile<T>(buffers[0]);
    const auto& solver = device::cuda::local_solver();
    if (solver.handle == nullptr) return;  // the failure has been reported
    if constexpr (is_complex<T>) device::cuda::clear_imaginary_diagonal(A.n, A.data, A.ld);  // LAPACK does not read it
    auto& report = device::cuda::new_report();
    auto* const stream = device::cuda::local_stream();
    device::check("potrf", device::cuda::first_not_finite<T>(stream, args.uplo == Uplo::Lower, A.n, A.data, A.ld,
                                                             &report.not_finite));
    int elements = 0;
    if (!device::check("potrf",
                       device::cuda::potrf_workspace<T>(solver.handle, args.uplo, A.n, A.data, A.ld, &elements)))
      return;
    auto* const workspace =
        static_cast<T*>(device::cuda::solver_workspace(static_cast<std::size_t>(elements) * sizeof(T)));
    if (workspace == nullptr) return;  // the failure has been reported
    device::check("potrf", device::cuda::potrf<T>(solver.handle, args.uplo, A.n, A.data, A.ld, workspace, elements,
                                                  &report.info));
    device::check("potrf", device::cuda::first_not_positive<T>(stream, A.n, A.data, A.ld, &report.on_diagonal));
    device::when_complete([&report, n = A.n, first = args.first, value = args.value] {
      const int factorized = std::min(report.info > 0 ? report.info - 1 : n, report.not_finite);
      const int bad = std::min(report.on_diagonal, factorized);
      if (bad < n) value->report(first + bad + 1);
    });
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
