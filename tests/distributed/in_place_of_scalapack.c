/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded by ScaLAPACK's tester of LU: its calls of p?getrf and p?getrs go to Tessera. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/distributed.h>

static int calls = 0;

static void tell(void) { fprintf(stderr, "in_place_of_scalapack: %d calls\n", calls); }

static void count(void) {
  if (calls++ == 0) atexit(tell);
}

/* The BLACS would ask for fewer threads. */
int MPI_Init(int* argc, char*** argv) {
  int level = 0;
  return PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
}

#define DEFINE(t, T)                                                                                             \
  void p##t##getrf_(const int* m, const int* n, T* a, const int* ia, const int* ja, const int* desca, int* ipiv, \
                    int* info) {                                                                                 \
    count();                                                                                                     \
    tessera_p##t##getrf_(m, n, a, ia, ja, desca, ipiv, info);                                                    \
  }                                                                                                              \
  void p##t##getrs_(const char* trans, const int* n, const int* nrhs, const T* a, const int* ia, const int* ja,  \
                    const int* desca, const int* ipiv, T* b, const int* ib, const int* jb, const int* descb,     \
                    int* info) {                                                                                 \
    count();                                                                                                     \
    tessera_p##t##getrs_(trans, n, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb, info);                        \
  }
DEFINE(s, float)
DEFINE(d, double)
DEFINE(c, void)
DEFINE(z, void)
