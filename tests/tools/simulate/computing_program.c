/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that was linked with a StarPU that computes: on a machine without GPUs it finds none, and ends. */
#include <stddef.h>

int starpu_init(void* conf);

int main(void) { return starpu_init(NULL) == 0 ? 0 : 77; }
