/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESSERA_DISTRIBUTED_H
#define TESSERA_DISTRIBUTED_H

/** @file
 * Routines on the arrays of ScaLAPACK, for C and Fortran. Argument lists are those of ScaLAPACK, and so are the names
 * without `tessera_`. Link `tessera_mpi` in addition to a ScaLAPACK.
 *
 * All processes of the BLACS grid call the routines. A call returns when the results of this process are in its memory.
 * One block is one tile. Parts of matrices must therefore begin and end at block boundaries, and blocks of the operands
 * must fit together like the tiles in tessera::gemm and the other routines. All operands are on the same grid. As in
 * ScaLAPACK, a call that breaks a rule ends all processes with a message. A later context may have the same processes
 * in another grid, or these and more processes. MPI must have been initialized with MPI_THREAD_MULTIPLE before the
 * BLACS. StarPU runs from the first call until MPI_Finalize. */

#ifdef __cplusplus
extern "C" {
#endif

/** C ← alpha op(A) op(B) + beta C */
void tessera_pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                     const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
                     const double* b, const int* ib, const int* jb, const int* descb, const double* beta, double* c,
                     const int* ic, const int* jc, const int* descc);

/** B ← alpha op(A)⁻¹ B, or with side 'R' alpha B op(A)⁻¹ */
void tessera_pdtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
                     const int* n, const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
                     double* b, const int* ib, const int* jb, const int* descb);

/** A triangle of the given part of A ← its Cholesky factor. `info` is set to 0, or to the order of the first leading
 * minor of this part that is not positive. */
void tessera_pdpotrf_(const char* uplo, const int* n, double* a, const int* ia, const int* ja, const int* desca,
                      int* info);

#ifdef __cplusplus
}
#endif

#endif
