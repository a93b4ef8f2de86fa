// SPDX-License-Identifier: BSD-3-Clause
// A StarPU program with kinds of tasks that a policy may handle wrongly. Usage:
//   own_tasks refused      ten tasks whose codelet refuses its first implementation, which would take 1 s; the second
//                          takes 1 ms
//   own_tasks copies SEED  a random program on more tiles than a small memory holds; a fifth of its tasks are StarPU's
//                          own copies
//   own_tasks unregisters  products on operands in host memory, which are unregistered while other products run
#include <starpu.h>
#include <stdlib.h>
#include <string.h>

static void computes_nothing(void* buffers[], void* argument) {
  (void)buffers;
  (void)argument;
}

static int accepts_the_second(unsigned worker, struct starpu_task* task, unsigned number) {
  (void)worker;
  (void)task;
  return number == 1;
}

static double microseconds(struct starpu_task* task, struct starpu_perfmodel_arch* device, unsigned number) {
  (void)task;
  (void)device;
  return number == 0 ? 1e6 : 1e3;
}

static struct starpu_perfmodel model = {
    .type = STARPU_PER_ARCH, .arch_cost_function = microseconds, .symbol = "own_tasks"};

static struct starpu_codelet refusing = {.cuda_funcs = {computes_nothing, computes_nothing},
                                         .can_execute = accepts_the_second,
                                         .nbuffers = 1,
                                         .modes = {STARPU_W},
                                         .model = &model,
                                         .name = "refusing"};

#define CODELET(the_name, count, ...)                                                                             \
  {                                                                                                               \
    .cpu_funcs = {computes_nothing}, .cuda_funcs = {computes_nothing}, .nbuffers = count, .modes = {__VA_ARGS__}, \
    .name = the_name                                                                                              \
  }
static struct starpu_codelet write = CODELET("write", 1, STARPU_W), read = CODELET("read", 1, STARPU_R),
                             update = CODELET("update", 2, STARPU_RW, STARPU_R),
                             combine = CODELET("combine", 3, STARPU_W, STARPU_R, STARPU_R);

static double microseconds_of_product(struct starpu_task* task, struct starpu_perfmodel_arch* device, unsigned number) {
  (void)task;
  (void)device;
  (void)number;
  return 50;
}

static struct starpu_perfmodel product_model = {
    .type = STARPU_PER_ARCH, .arch_cost_function = microseconds_of_product, .symbol = "product"};
static struct starpu_codelet product = {.cuda_funcs = {computes_nothing},
                                        .nbuffers = 3,
                                        .modes = {STARPU_RW, STARPU_R, STARPU_R},
                                        .model = &product_model,
                                        .name = "product"};

enum { tiles = 16, elements = 1 << 20 };  // of 8 bytes

static void submit_refusing(void) {
  starpu_data_handle_t tile;
  starpu_vector_data_register(&tile, -1, 0, 1000, 8);
  for (int i = 0; i < 10; i++) starpu_task_insert(&refusing, STARPU_W, tile, 0);
  starpu_data_unregister_submit(tile);
}

static void submit_with_copies(unsigned seed) {
  static starpu_data_handle_t tile[tiles];
  for (int i = 0; i < tiles; i++) {
    starpu_vector_data_register(&tile[i], -1, 0, elements, 8);
    starpu_task_insert(&write, STARPU_W, tile[i], 0);
  }
  srand(seed);
  for (int i = 0; i < 300; i++) {
    const int to = rand() % tiles, from = (to + 1 + rand() % (tiles - 2)) % tiles, other = (to + tiles - 1) % tiles;
    const int priority = rand() % 7 - 3;
    switch (rand() % 5) {
    case 0: starpu_data_cpy(tile[to], tile[from], 1, NULL, NULL); break;
    case 1: starpu_task_insert(&write, STARPU_W, tile[to], STARPU_PRIORITY, priority, 0); break;
    case 2: starpu_task_insert(&read, STARPU_R, tile[from], STARPU_PRIORITY, priority, 0); break;
    case 3:
      starpu_task_insert(&combine, STARPU_W, tile[to], STARPU_R, tile[from], STARPU_R, tile[other], STARPU_PRIORITY,
                         priority, 0);
      break;
    default: starpu_task_insert(&update, STARPU_RW, tile[to], STARPU_R, tile[from], STARPU_PRIORITY, priority, 0);
    }
  }
  // Waits until the policy's requests for them are completed: StarPU cannot shut down before.
  for (int i = 0; i < tiles; i++) starpu_data_unregister(tile[i]);
}

static void submit_unregistering(void) {
  enum { order = 8, rounds = 6 };
  static starpu_data_handle_t A[2][order], B[2][order], C[order][order];
  static char memory;  // never accessed in simulated time
  for (int i = 0; i < order * order; i++)
    starpu_vector_data_register(&C[i / order][i % order], STARPU_MAIN_RAM, (uintptr_t)&memory, elements, 8);
  for (int round = 0; round <= rounds; round++) {
    const int now = round % 2, before = 1 - now;
    for (int i = 0; round < rounds && i < order; i++) {
      starpu_vector_data_register(&A[now][i], STARPU_MAIN_RAM, (uintptr_t)&memory, elements, 8);
      starpu_vector_data_register(&B[now][i], STARPU_MAIN_RAM, (uintptr_t)&memory, elements, 8);
    }
    for (int i = 0; round < rounds && i < order * order; i++)
      starpu_task_insert(&product, STARPU_RW, C[i / order][i % order], STARPU_R, A[now][i / order], STARPU_R,
                         B[now][i % order], 0);
    for (int i = 0; round > 0 && i < order; i++) {
      starpu_data_unregister(A[before][i]);
      starpu_data_unregister(B[before][i]);
    }
  }
  for (int i = 0; i < order * order; i++) starpu_data_unregister(C[i / order][i % order]);
}

int main(int count, char** arguments) {
  if (count < 2 || starpu_init(NULL) != 0) return 1;
  if (strcmp(arguments[1], "refused") == 0) submit_refusing();
  else if (strcmp(arguments[1], "unregisters") == 0) submit_unregistering();
  else if (count == 3 && strcmp(arguments[1], "copies") == 0) submit_with_copies((unsigned)atoi(arguments[2]));
  starpu_task_wait_for_all();
  starpu_shutdown();
  return 0;
}
