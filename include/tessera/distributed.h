/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESSERA_DISTRIBUTED_H
#define TESSERA_DISTRIBUTED_H

/** @file
 * Routines on the arrays of ScaLAPACK, for C and Fortran. The argument lists, and the names without `tessera_`, are
 * those of ScaLAPACK. Link `tessera_mpi` in addition to a ScaLAPACK.
 *
 * | name, with s, d, c or z for the letter T | |
 * |---|---|
 * | tessera_pTgemm_ | C <- alpha op(A) op(B) + beta C |
 * | tessera_pTsymm_, tessera_pThemm_ | C <- alpha A B + beta C, or alpha B A + beta C, A symmetric or Hermitian |
 * | tessera_pTsyrk_, tessera_pTherk_ | a triangle of C <- alpha op(A) op(A)^T + beta C, or with ^H |
 * | tessera_pTtrmm_ | B <- alpha op(A) B, or alpha B op(A), A triangular |
 * | tessera_pTtrsm_ | B <- alpha op(A)^-1 B, or alpha B op(A)^-1, A triangular |
 * | tessera_pTpotrf_ | a triangle of A <- its Cholesky factor |
 * | tessera_pTgetrf_ | A <- L U by partial pivoting; `ipiv` is distributed like the rows of A |
 * | tessera_pTgetrs_ | B <- op(A)^-1 B with the factors and pivots of A |
 * | tessera_pTgesv_ | both, as one call; B is unchanged if `info` is not 0 |
 *
 * `info` counts within the submatrix of A, as in LAPACK. Complex numbers are passed by address, as pairs of floats or
 * doubles.
 *
 * All processes of the BLACS grid must make the call, which returns when the results of the calling process are in its
 * memory. All operands are on the same grid. If they have the same square blocks, and the submatrices begin and end at
 * the edges of blocks, each block is used in place as a tile. Otherwise, or if there are many small blocks, the
 * operands are copied to tiles that suit the devices, and the result is copied back. LU copies A to panels unless the
 * grid has one row. As in ScaLAPACK, a call that breaks a rule ends all processes with a message. A later context may
 * have the same processes in another grid, or these and additional ones. MPI must have been initialized with
 * MPI_THREAD_MULTIPLE, before the BLACS. StarPU runs from the first call until MPI_Finalize. */

#ifdef __cplusplus
extern "C" {
#endif

/** The routines that exist in all types. @param p  the letter of the type in names; T: its C type, void if complex */
#define TESSERA_SCALAPACK(p, T)                                                                                      \
  void tessera_p##p##gemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,         \
                           const T* alpha, const T* a, const int* ia, const int* ja, const int* desca, const T* b,   \
                           const int* ib, const int* jb, const int* descb, const T* beta, T* c, const int* ic,       \
                           const int* jc, const int* descc);                                                         \
  TESSERA_SCALAPACK_SYMM(p, symm, T)                                                                                 \
  TESSERA_SCALAPACK_SYRK(p, syrk, T, T)                                                                              \
  void tessera_p##p##trmm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,   \
                           const int* n, const T* alpha, const T* a, const int* ia, const int* ja, const int* desca, \
                           T* b, const int* ib, const int* jb, const int* descb);                                    \
  void tessera_p##p##trsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,   \
                           const int* n, const T* alpha, const T* a, const int* ia, const int* ja, const int* desca, \
                           T* b, const int* ib, const int* jb, const int* descb);                                    \
  void tessera_p##p##potrf_(const char* uplo, const int* n, T* a, const int* ia, const int* ja, const int* desca,    \
                            int* info);                                                                              \
  void tessera_p##p##getrf_(const int* m, const int* n, T* a, const int* ia, const int* ja, const int* desca,        \
                            int* ipiv, int* info);                                                                   \
  void tessera_p##p##getrs_(const char* trans, const int* n, const int* nrhs, const T* a, const int* ia,             \
                            const int* ja, const int* desca, const int* ipiv, T* b, const int* ib, const int* jb,    \
                            const int* descb, int* info);                                                            \
  void tessera_p##p##gesv_(const int* n, const int* nrhs, T* a, const int* ia, const int* ja, const int* desca,      \
                           int* ipiv, T* b, const int* ib, const int* jb, const int* descb, int* info);
/** The routines with a symmetric or Hermitian matrix. @param name  symm or hemm */
#define TESSERA_SCALAPACK_SYMM(p, name, T)                                                                          \
  void tessera_p##p##name##_(const char* side, const char* uplo, const int* m, const int* n, const T* alpha,        \
                             const T* a, const int* ia, const int* ja, const int* desca, const T* b, const int* ib, \
                             const int* jb, const int* descb, const T* beta, T* c, const int* ic, const int* jc,    \
                             const int* descc);
/** The rank-k updates. @param name  syrk or herk; Factor: the type of alpha and beta */
#define TESSERA_SCALAPACK_SYRK(p, name, T, Factor)                                                                 \
  void tessera_p##p##name##_(const char* uplo, const char* trans, const int* n, const int* k, const Factor* alpha, \
                             const T* a, const int* ia, const int* ja, const int* desca, const Factor* beta, T* c, \
                             const int* ic, const int* jc, const int* descc);

TESSERA_SCALAPACK(s, float)
TESSERA_SCALAPACK(d, double)
TESSERA_SCALAPACK(c, void)
TESSERA_SCALAPACK(z, void)
TESSERA_SCALAPACK_SYMM(c, hemm, void)
TESSERA_SCALAPACK_SYMM(z, hemm, void)
TESSERA_SCALAPACK_SYRK(c, herk, void, float)
TESSERA_SCALAPACK_SYRK(z, herk, void, double)

#undef TESSERA_SCALAPACK
#undef TESSERA_SCALAPACK_SYMM
#undef TESSERA_SCALAPACK_SYRK

#ifdef __cplusplus
}
#endif

#endif
