// SPDX-License-Identifier: BSD-3-Clause
// The tile operations of QR factorization, on panels of full height.

#include "halved_panel.hpp"

namespace tessera::codelets {

namespace {

/// A kernel on a core or a GPU. It is written once, as `Kernel::compute(on, buffers, args)`, where `on` has the
/// operations of a PanelOnHost or a PanelOnDevice.
template <typename Kernel, Scalar T, typename Arguments>
struct OnPanels {
  using Args = Arguments;

  static void run(const device::OnHost& blas, void* buffers[], const Args& args) {
    PanelOnHost<T> on(blas);
    Kernel::compute(on, buffers, args);
  }
#ifdef TESSERA_WITH_CUDA
  static void run(const device::OnDevice& device, void* buffers[], const Args& args) {
    PanelOnDevice<T> on(device);
    Kernel::compute(on, buffers, args);
  }
#endif
  /// The part of a panel that begins with the first row of its diagonal.
  template <typename E = T>
  static Tile<E> panel_in(void* buffer, int first) {
    const auto A = tile<E>(buffer);
    return rows_of(A, first, A.m);
  }
};

template <Scalar T>
struct Geqrf : OnPanels<Geqrf<T>, T, ReflectorArgs> {
  static void compute(auto& on, void* buffers[], const ReflectorArgs& args) {
    const auto A = Geqrf::panel_in(buffers[0], args.first);
    T* const tau = tile<T>(buffers[1]).data;
    factorize_panel(on, A, tau, tile<T>(buffers[2]));
  }
};

template <Scalar T>
struct Larft : OnPanels<Larft<T>, T, ReflectorArgs> {
  static void compute(auto& on, void* buffers[], const ReflectorArgs& args) {
    make_block<T>(on, Larft::panel_in(buffers[0], args.first), tile<T>(buffers[1]).data, tile<T>(buffers[2]));
  }
};

template <Scalar T>
struct Larfb : OnPanels<Larfb<T>, T, LarfbArgs> {
  static void compute(auto& on, void* buffers[], const LarfbArgs& args) {
    const Reflectors<T> V(Larfb::template panel_in<const T>(buffers[0], args.first), tile<const T>(buffers[1]));
    const auto C = tile<T>(buffers[2]);
    apply(on, V, args.side, args.adjoint,
          args.side == Side::Left ? rows_of(C, args.first, C.m) : columns_of(C, args.first, C.n));
  }
};

template <Scalar T>
struct Ungqr : OnPanels<Ungqr<T>, T, ReflectorArgs> {
  static void compute(auto& on, void* buffers[], const ReflectorArgs& args) {
    const auto A = tile<T>(buffers[0]);
    generate(on, rows_of(A, args.first, A.m), tile<const T>(buffers[1]));
    on.clear(rows_of(A, 0, args.first));
  }
};

template <Scalar T>
struct ClearRows : OnPanels<ClearRows<T>, T, ClearRowsArgs> {
  static void compute(auto& on, void* buffers[], const ClearRowsArgs& args) {
    if (args.only_with == nullptr || args.only_with->is_of_zeros())
      on.clear(ClearRows::panel_in(buffers[0], args.first));
  }
};

}  // namespace

starpu_codelet& geqrf(char type) { return codelet_of<Geqrf>(type, "geqrf"); }

starpu_codelet& larft(char type) { return codelet_of<Larft>(type, "larft"); }

starpu_codelet& larfb(char type) { return codelet_of<Larfb>(type, "larfb"); }

starpu_codelet& ungqr(char type) { return codelet_of<Ungqr>(type, "ungqr"); }

starpu_codelet& clear_rows(char type) { return codelet_of<ClearRows>(type, "clear_rows", 1); }

}  // namespace tessera::codelets
