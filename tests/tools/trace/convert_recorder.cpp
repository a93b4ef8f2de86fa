// SPDX-License-Identifier: BSD-3-Clause
// A StarPU program without Tessera, to be recorded: 40 tasks in chains of four.
//
// Arguments: the names of the codelet, of a datum, of a task and of an event, all optional. "-" leaves the codelet
// without a name.
#include <starpu.h>
#include <starpu_fxt.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace {

void increase(void* buffers[], void*) {
  auto* x = reinterpret_cast<double*>(STARPU_VECTOR_GET_PTR(buffers[1]));
  const auto* y = reinterpret_cast<const double*>(STARPU_VECTOR_GET_PTR(buffers[0]));
  for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[1]); i++) x[i] += y[i];
}

struct Names {
  const char *codelet = "increase", *data = nullptr, *task = nullptr, *event = nullptr;
};

int run(const Names& names) {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = increase;
  codelet.nbuffers = 2;
  codelet.modes[0] = STARPU_R, codelet.modes[1] = STARPU_RW;
  codelet.name = names.codelet;
  codelet.color = 0x4477aa;
  std::array<std::array<double, 64>, 11> vectors{};
  std::array<starpu_data_handle_t, 11> handles{};
  for (std::size_t i = 0; i < handles.size(); i++) {
    starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(vectors[i].data()), 64,
                                sizeof(double));
    starpu_data_set_coordinates(handles[i], 2, static_cast<int>(i), 3);
  }
  if (names.data != nullptr) starpu_data_set_name(handles[0], names.data);
  if (names.event != nullptr) starpu_fxt_trace_user_event_string(names.event);
  for (std::size_t i = 0; i < 40; i++)
    // StarPU records thousands of flops, so fewer would be recorded as 0.
    if (starpu_task_insert(&codelet, STARPU_R, handles[10], STARPU_RW, handles[i % 10], STARPU_FLOPS, 64e3,
                           names.task == nullptr ? 0 : STARPU_NAME, names.task, 0) != 0)
      return EXIT_FAILURE;
  starpu_task_wait_for_all();
  for (auto* handle : handles) starpu_data_unregister(handle);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
#ifndef STARPU_USE_FXT
  return 77;
#endif
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 2, conf.ncuda = 0, conf.nopencl = 0;
  if (starpu_init(&conf) != 0) return 77;
  Names names;
  const char** const all[] = {&names.codelet, &names.data, &names.task, &names.event};
  for (int i = 1; i < argc && i <= 4; i++) *all[i - 1] = argv[i];
  if (std::string_view(names.codelet) == "-") names.codelet = nullptr;
  const int result = run(names);
  starpu_shutdown();
  return result;
}
