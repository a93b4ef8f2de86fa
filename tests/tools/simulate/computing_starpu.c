/* SPDX-License-Identifier: BSD-3-Clause */
/* What computing_program.c sees of a StarPU that computes. */

int starpu_init(void* conf) {
  (void)conf;
  return -19; /* -ENODEV */
}
