/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESSERA_H
#define TESSERA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @file
 *  The C interface. Sizes and leading dimensions are 64-bit and count elements. Matrices may be in host memory, in
 * CUDA's managed memory, or in the memory of any GPU that Tessera uses; vectors, scalars and results like `info` are in
 * host memory. A call on memory of a GPU first waits for all work queued on the legacy default stream of that GPU. */

/** What a function returns:
 *  - 0: success;
 *  - -i: argument i, counted from 1, is illegal, and no operand has been touched;
 *  - above 0: the machine or StarPU failed (TESSERA_RUNTIME_FAILURE).
 *
 *  `tessera_last_error` explains the last failure in the calling thread. */
typedef int tessera_status;

/** Names for values of `tessera_status`. */
enum { TESSERA_SUCCESS = 0, TESSERA_RUNTIME_FAILURE = 1 };

/**@{*/
/** Options, with the values of CBLAS. */
typedef enum tessera_layout { TESSERA_ROW_MAJOR = 101, TESSERA_COL_MAJOR = 102 } tessera_layout;
typedef enum tessera_op { TESSERA_NO_TRANS = 111, TESSERA_TRANS = 112, TESSERA_CONJ_TRANS = 113 } tessera_op;
typedef enum tessera_uplo { TESSERA_UPPER = 121, TESSERA_LOWER = 122 } tessera_uplo;
typedef enum tessera_diag { TESSERA_NON_UNIT = 131, TESSERA_UNIT = 132 } tessera_diag;
typedef enum tessera_side { TESSERA_LEFT = 141, TESSERA_RIGHT = 142 } tessera_side;
/**@}*/

/** The version, e.g. "1.2.3". */
const char* tessera_version(void);

/** Starts StarPU, or joins it if it runs. Optional: otherwise the first routine does this. Calls nest, and each needs
 * its own `tessera_finalize`. If Tessera already runs, the arguments are checked, and have no other effect.
 *  @param cpus  CPU workers; -1: TESSERA_CPUS, else the default
 *  @param gpus  GPUs; -1: TESSERA_DEVICES, else the default */
tessera_status tessera_init(int cpus, int gpus);

/** Ends what `tessera_init` began. The last of nested calls waits for everything submitted, and stops StarPU if
 *  `tessera_init` or a routine has started it; the others return at once. */
tessera_status tessera_finalize(void);

/** Waits until all tasks submitted so far have run. Tasks that other threads submit later do not prolong the
 *  wait, unless the program submits StarPU tasks of its own: see `wait` in <tessera/runtime.hpp>. */
tessera_status tessera_wait(void);

/** Waits for the work queued so far on a CUDA stream. Calls on memory of GPUs wait only for the legacy default stream.
 *  @param stream  a cudaStream_t or CUstream */
tessera_status tessera_after(void* stream);

/** Returns why the last failed call of this thread failed; "" if none has. Valid until the thread's next failure. */
const char* tessera_last_error(void);

/** Pins memory of the caller, so that GPUs copy from it and to it directly. Call this before making matrices over the
 *  memory. Pins nothing if there is no CUDA GPU. Pinning takes about as long as touching all of the memory, so it pays
 * off for memory that several calls use. Memory that CUDA has pinned need not be pinned again.
 *  @param data   the start of the memory, which must not overlap registered memory
 *  @param bytes  the size of the memory, above 0 */
tessera_status tessera_host_register(void* data, int64_t bytes);

/** Unpins memory. Call this after all matrices that use the memory are destroyed, and before the memory is freed.
 *  @param data  the pointer that was passed to `tessera_host_register` */
tessera_status tessera_host_unregister(void* data);

/** Keeps a matrix: from now on, after a call of the level-3 BLAS on pointers, its tiles stay on the GPUs for later
 *  calls. The caller must call `tessera_changed` or `tessera_changed_part` after the program, another library or
 *  a routine of <tessera/distributed.h> has written the memory, and `tessera_forget` before the memory is freed.
 *  <tessera/keep.hpp> has the details.
 *  @param type  's', 'd', 'c' or 'z'
 *  @param A     column-major, in host memory; a row-major matrix is the transpose of a column-major one
 *  @param m, n  rows and columns
 *  @param ld    leading dimension, at least max(1, m) */
tessera_status tessera_keep(char type, const void* A, int64_t m, int64_t n, int64_t ld);

/** Tells Tessera that a kept matrix has been written.
 *  @param A  the pointer that was passed to `tessera_keep` */
tessera_status tessera_changed(const void* A);

/** Tells Tessera that the m×n elements at A have been written. The arguments are those of `tessera_keep`. */
tessera_status tessera_changed_part(char type, const void* A, int64_t m, int64_t n, int64_t ld);

/** Ends the effect of `tessera_keep`.
 *  @param A  the pointer that was passed to `tessera_keep` */
tessera_status tessera_forget(const void* A);

/* The synchronous routines on pointers, with CBLAS's argument lists. <tessera/blas3.hpp> defines what each computes,
 * and when an operand is not read; <tessera/blas.hpp> has the shapes. Row-major matrices cost nothing extra.
 *
 * As in CBLAS, complex scalars are passed by address: for c and z, matrices hold pairs of floats or doubles, and alpha
 * and beta point to one such pair. Only alpha and beta of herk and beta of her2k are real. */

/**@{*/
/** C <- alpha op(A) op(B) + beta C */
tessera_status tessera_sgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                             float alpha, const float* A, int64_t lda, const float* B, int64_t ldb, float beta,
                             float* C, int64_t ldc);
tessera_status tessera_dgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                             double alpha, const double* A, int64_t lda, const double* B, int64_t ldb, double beta,
                             double* C, int64_t ldc);
tessera_status tessera_cgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                             const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                             const void* beta, void* C, int64_t ldc);
tessera_status tessera_zgemm(tessera_layout layout, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                             const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                             const void* beta, void* C, int64_t ldc);
/**@}*/

/**@{*/
/** A triangle of C <- alpha op(A) op(B) + beta C */
tessera_status tessera_sgemmt(tessera_layout layout, tessera_uplo uplo, tessera_op op_a, tessera_op op_b, int64_t n,
                              int64_t k, float alpha, const float* A, int64_t lda, const float* B, int64_t ldb,
                              float beta, float* C, int64_t ldc);
tessera_status tessera_dgemmt(tessera_layout layout, tessera_uplo uplo, tessera_op op_a, tessera_op op_b, int64_t n,
                              int64_t k, double alpha, const double* A, int64_t lda, const double* B, int64_t ldb,
                              double beta, double* C, int64_t ldc);
tessera_status tessera_cgemmt(tessera_layout layout, tessera_uplo uplo, tessera_op op_a, tessera_op op_b, int64_t n,
                              int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                              const void* beta, void* C, int64_t ldc);
tessera_status tessera_zgemmt(tessera_layout layout, tessera_uplo uplo, tessera_op op_a, tessera_op op_b, int64_t n,
                              int64_t k, const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                              const void* beta, void* C, int64_t ldc);
/**@}*/

/**@{*/
/** C <- alpha A B + beta C (left) or alpha B A + beta C (right), A symmetric */
tessera_status tessera_ssymm(tessera_layout layout, tessera_side side, tessera_uplo uplo, int64_t m, int64_t n,
                             float alpha, const float* A, int64_t lda, const float* B, int64_t ldb, float beta,
                             float* C, int64_t ldc);
tessera_status tessera_dsymm(tessera_layout layout, tessera_side side, tessera_uplo uplo, int64_t m, int64_t n,
                             double alpha, const double* A, int64_t lda, const double* B, int64_t ldb, double beta,
                             double* C, int64_t ldc);
tessera_status tessera_csymm(tessera_layout layout, tessera_side side, tessera_uplo uplo, int64_t m, int64_t n,
                             const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                             const void* beta, void* C, int64_t ldc);
tessera_status tessera_zsymm(tessera_layout layout, tessera_side side, tessera_uplo uplo, int64_t m, int64_t n,
                             const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                             const void* beta, void* C, int64_t ldc);
/**@}*/

/**@{*/
/** C <- alpha A B + beta C (left) or alpha B A + beta C (right), A Hermitian */
tessera_status tessera_chemm(tessera_layout layout, tessera_side side, tessera_uplo uplo, int64_t m, int64_t n,
                             const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                             const void* beta, void* C, int64_t ldc);
tessera_status tessera_zhemm(tessera_layout layout, tessera_side side, tessera_uplo uplo, int64_t m, int64_t n,
                             const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                             const void* beta, void* C, int64_t ldc);
/**@}*/

/**@{*/
/** A triangle of C <- alpha op(A) op(A)^T + beta C */
tessera_status tessera_ssyrk(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k, float alpha,
                             const float* A, int64_t lda, float beta, float* C, int64_t ldc);
tessera_status tessera_dsyrk(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                             double alpha, const double* A, int64_t lda, double beta, double* C, int64_t ldc);
tessera_status tessera_csyrk(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                             const void* alpha, const void* A, int64_t lda, const void* beta, void* C, int64_t ldc);
tessera_status tessera_zsyrk(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                             const void* alpha, const void* A, int64_t lda, const void* beta, void* C, int64_t ldc);
/**@}*/

/**@{*/
/** A triangle of C <- alpha op(A) op(A)^H + beta C; alpha and beta are real */
tessera_status tessera_cherk(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k, float alpha,
                             const void* A, int64_t lda, float beta, void* C, int64_t ldc);
tessera_status tessera_zherk(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                             double alpha, const void* A, int64_t lda, double beta, void* C, int64_t ldc);
/**@}*/

/**@{*/
/** A triangle of C <- alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C */
tessera_status tessera_ssyr2k(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                              float alpha, const float* A, int64_t lda, const float* B, int64_t ldb, float beta,
                              float* C, int64_t ldc);
tessera_status tessera_dsyr2k(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                              double alpha, const double* A, int64_t lda, const double* B, int64_t ldb, double beta,
                              double* C, int64_t ldc);
tessera_status tessera_csyr2k(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                              const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                              const void* beta, void* C, int64_t ldc);
tessera_status tessera_zsyr2k(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                              const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb,
                              const void* beta, void* C, int64_t ldc);
/**@}*/

/**@{*/
/** A triangle of C <- alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C; beta is real */
tessera_status tessera_cher2k(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                              const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb, float beta,
                              void* C, int64_t ldc);
tessera_status tessera_zher2k(tessera_layout layout, tessera_uplo uplo, tessera_op op, int64_t n, int64_t k,
                              const void* alpha, const void* A, int64_t lda, const void* B, int64_t ldb, double beta,
                              void* C, int64_t ldc);
/**@}*/

/**@{*/
/** B <- alpha op(A) B (left) or alpha B op(A) (right), A triangular */
tessera_status tessera_strmm(tessera_layout layout, tessera_side side, tessera_uplo uplo, tessera_op op,
                             tessera_diag diag, int64_t m, int64_t n, float alpha, const float* A, int64_t lda,
                             float* B, int64_t ldb);
tessera_status tessera_dtrmm(tessera_layout layout, tessera_side side, tessera_uplo uplo, tessera_op op,
                             tessera_diag diag, int64_t m, int64_t n, double alpha, const double* A, int64_t lda,
                             double* B, int64_t ldb);
tessera_status tessera_ctrmm(tessera_layout layout, tessera_side side, tessera_uplo uplo, tessera_op op,
                             tessera_diag diag, int64_t m, int64_t n, const void* alpha, const void* A, int64_t lda,
                             void* B, int64_t ldb);
tessera_status tessera_ztrmm(tessera_layout layout, tessera_side side, tessera_uplo uplo, tessera_op op,
                             tessera_diag diag, int64_t m, int64_t n, const void* alpha, const void* A, int64_t lda,
                             void* B, int64_t ldb);
/**@}*/

/**@{*/
/** B <- alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular */
tessera_status tessera_strsm(tessera_layout layout, tessera_side side, tessera_uplo uplo, tessera_op op,
                             tessera_diag diag, int64_t m, int64_t n, float alpha, const float* A, int64_t lda,
                             float* B, int64_t ldb);
tessera_status tessera_dtrsm(tessera_layout layout, tessera_side side, tessera_uplo uplo, tessera_op op,
                             tessera_diag diag, int64_t m, int64_t n, double alpha, const double* A, int64_t lda,
                             double* B, int64_t ldb);
tessera_status tessera_ctrsm(tessera_layout layout, tessera_side side, tessera_uplo uplo, tessera_op op,
                             tessera_diag diag, int64_t m, int64_t n, const void* alpha, const void* A, int64_t lda,
                             void* B, int64_t ldb);
tessera_status tessera_ztrsm(tessera_layout layout, tessera_side side, tessera_uplo uplo, tessera_op op,
                             tessera_diag diag, int64_t m, int64_t n, const void* alpha, const void* A, int64_t lda,
                             void* B, int64_t ldb);
/**@}*/

/**@{*/
/** Replaces the triangle `uplo` of A by its Cholesky factor: L with A = L L^H (lower), U with A = U^H U (upper). A is
 *  n x n, symmetric or Hermitian.
 *  @param info  set to 0, or to the order of the first leading minor that is not positive; A then has no factor */
tessera_status tessera_spotrf(tessera_layout layout, tessera_uplo uplo, int64_t n, float* A, int64_t lda,
                              int64_t* info);
tessera_status tessera_dpotrf(tessera_layout layout, tessera_uplo uplo, int64_t n, double* A, int64_t lda,
                              int64_t* info);
tessera_status tessera_cpotrf(tessera_layout layout, tessera_uplo uplo, int64_t n, void* A, int64_t lda, int64_t* info);
tessera_status tessera_zpotrf(tessera_layout layout, tessera_uplo uplo, int64_t n, void* A, int64_t lda, int64_t* info);
/**@}*/

/**@{*/
/** B <- A^-1 B, with the factor of A that potrf has computed. A is n x n, B is n x nrhs. */
tessera_status tessera_spotrs(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, const float* A,
                              int64_t lda, float* B, int64_t ldb);
tessera_status tessera_dpotrs(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, const double* A,
                              int64_t lda, double* B, int64_t ldb);
tessera_status tessera_cpotrs(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, const void* A,
                              int64_t lda, void* B, int64_t ldb);
tessera_status tessera_zpotrs(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, const void* A,
                              int64_t lda, void* B, int64_t ldb);
/**@}*/

/**@{*/
/** Replaces the triangle `uplo` of A by its Cholesky factor, and B by A^-1 B.
 *  @param info  set as by potrf. If it is not 0, B is unchanged */
tessera_status tessera_sposv(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, float* A, int64_t lda,
                             float* B, int64_t ldb, int64_t* info);
tessera_status tessera_dposv(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, double* A, int64_t lda,
                             double* B, int64_t ldb, int64_t* info);
tessera_status tessera_cposv(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, void* A, int64_t lda,
                             void* B, int64_t ldb, int64_t* info);
tessera_status tessera_zposv(tessera_layout layout, tessera_uplo uplo, int64_t n, int64_t nrhs, void* A, int64_t lda,
                             void* B, int64_t ldb, int64_t* info);
/**@}*/

/**@{*/
/** Replaces A by L and U with P A = L U, by partial pivoting. A is m x n.
 *  @param ipiv  min(m, n) pivots: row i, counted from 1, was exchanged with row ipiv[i - 1], in this order
 *  @param info  set to 0, or to the first i for which U(i, i) is exactly zero. The factors are complete */
tessera_status tessera_sgetrf(tessera_layout layout, int64_t m, int64_t n, float* A, int64_t lda, int64_t* ipiv,
                              int64_t* info);
tessera_status tessera_dgetrf(tessera_layout layout, int64_t m, int64_t n, double* A, int64_t lda, int64_t* ipiv,
                              int64_t* info);
tessera_status tessera_cgetrf(tessera_layout layout, int64_t m, int64_t n, void* A, int64_t lda, int64_t* ipiv,
                              int64_t* info);
tessera_status tessera_zgetrf(tessera_layout layout, int64_t m, int64_t n, void* A, int64_t lda, int64_t* ipiv,
                              int64_t* info);
/**@}*/

/**@{*/
/** B <- op(A)^-1 B, with the factors of A and the pivots that getrf has computed. A is n x n, B is n x nrhs. */
tessera_status tessera_sgetrs(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs, const float* A,
                              int64_t lda, const int64_t* ipiv, float* B, int64_t ldb);
tessera_status tessera_dgetrs(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs, const double* A,
                              int64_t lda, const int64_t* ipiv, double* B, int64_t ldb);
tessera_status tessera_cgetrs(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs, const void* A, int64_t lda,
                              const int64_t* ipiv, void* B, int64_t ldb);
tessera_status tessera_zgetrs(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs, const void* A, int64_t lda,
                              const int64_t* ipiv, void* B, int64_t ldb);
/**@}*/

/**@{*/
/** Replaces A by its factors, like getrf, and B by A^-1 B.
 *  @param info  set as by getrf. If it is not 0, B is unchanged */
tessera_status tessera_sgesv(tessera_layout layout, int64_t n, int64_t nrhs, float* A, int64_t lda, int64_t* ipiv,
                             float* B, int64_t ldb, int64_t* info);
tessera_status tessera_dgesv(tessera_layout layout, int64_t n, int64_t nrhs, double* A, int64_t lda, int64_t* ipiv,
                             double* B, int64_t ldb, int64_t* info);
tessera_status tessera_cgesv(tessera_layout layout, int64_t n, int64_t nrhs, void* A, int64_t lda, int64_t* ipiv,
                             void* B, int64_t ldb, int64_t* info);
tessera_status tessera_zgesv(tessera_layout layout, int64_t n, int64_t nrhs, void* A, int64_t lda, int64_t* ipiv,
                             void* B, int64_t ldb, int64_t* info);
/**@}*/

/**@{*/
/** Replaces A by L and U with A = L U, without pivoting. A is m x n. This is unsafe unless the matrix is known not to
 *  need pivots, see <tessera/lapack.hpp>.
 *  @param growth  set to max |U(i, j)| / max |A(i, j)|, where |x| is |Re x| + |Im x|, unless it is NULL
 *  @param info    set to 0, or to the first i for which U(i, i) is exactly zero: infinities and NaN may follow */
tessera_status tessera_sgetrf_nopiv(tessera_layout layout, int64_t m, int64_t n, float* A, int64_t lda, double* growth,
                                    int64_t* info);
tessera_status tessera_dgetrf_nopiv(tessera_layout layout, int64_t m, int64_t n, double* A, int64_t lda, double* growth,
                                    int64_t* info);
tessera_status tessera_cgetrf_nopiv(tessera_layout layout, int64_t m, int64_t n, void* A, int64_t lda, double* growth,
                                    int64_t* info);
tessera_status tessera_zgetrf_nopiv(tessera_layout layout, int64_t m, int64_t n, void* A, int64_t lda, double* growth,
                                    int64_t* info);
/**@}*/

/**@{*/
/** B <- op(A)^-1 B, with the factors of A that getrf_nopiv has computed. A is n x n, B is n x nrhs. */
tessera_status tessera_sgetrs_nopiv(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs, const float* A,
                                    int64_t lda, float* B, int64_t ldb);
tessera_status tessera_dgetrs_nopiv(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs, const double* A,
                                    int64_t lda, double* B, int64_t ldb);
tessera_status tessera_cgetrs_nopiv(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs, const void* A,
                                    int64_t lda, void* B, int64_t ldb);
tessera_status tessera_zgetrs_nopiv(tessera_layout layout, tessera_op op, int64_t n, int64_t nrhs, const void* A,
                                    int64_t lda, void* B, int64_t ldb);
/**@}*/

/**@{*/
/** Replaces A by its factors, like getrf_nopiv, and B by A^-1 B.
 *  @param growth, info  set as by getrf_nopiv. If the info is not 0, B is unchanged */
tessera_status tessera_sgesv_nopiv(tessera_layout layout, int64_t n, int64_t nrhs, float* A, int64_t lda, float* B,
                                   int64_t ldb, double* growth, int64_t* info);
tessera_status tessera_dgesv_nopiv(tessera_layout layout, int64_t n, int64_t nrhs, double* A, int64_t lda, double* B,
                                   int64_t ldb, double* growth, int64_t* info);
tessera_status tessera_cgesv_nopiv(tessera_layout layout, int64_t n, int64_t nrhs, void* A, int64_t lda, void* B,
                                   int64_t ldb, double* growth, int64_t* info);
tessera_status tessera_zgesv_nopiv(tessera_layout layout, int64_t n, int64_t nrhs, void* A, int64_t lda, void* B,
                                   int64_t ldb, double* growth, int64_t* info);
/**@}*/

/**@{*/
/** Replaces the triangle `uplo` of A by its inverse. A is n x n. If `diag` is TESSERA_UNIT, the diagonal is not read,
 * and counts as ones.
 *  @param info  set to 0, or to the first i for which A(i, i) is exactly zero; A is then unchanged */
tessera_status tessera_strtri(tessera_layout layout, tessera_uplo uplo, tessera_diag diag, int64_t n, float* A,
                              int64_t lda, int64_t* info);
tessera_status tessera_dtrtri(tessera_layout layout, tessera_uplo uplo, tessera_diag diag, int64_t n, double* A,
                              int64_t lda, int64_t* info);
tessera_status tessera_ctrtri(tessera_layout layout, tessera_uplo uplo, tessera_diag diag, int64_t n, void* A,
                              int64_t lda, int64_t* info);
tessera_status tessera_ztrtri(tessera_layout layout, tessera_uplo uplo, tessera_diag diag, int64_t n, void* A,
                              int64_t lda, int64_t* info);
/**@}*/

/**@{*/
/** B <- op(A)^-1 B, with the triangle `uplo` of A. A is n x n, B is n x nrhs. A unit diagonal is not read.
 *  @param info  set to 0, or to the first i for which A(i, i) is exactly zero; B is then unchanged */
tessera_status tessera_strtrs(tessera_layout layout, tessera_uplo uplo, tessera_op op, tessera_diag diag, int64_t n,
                              int64_t nrhs, const float* A, int64_t lda, float* B, int64_t ldb, int64_t* info);
tessera_status tessera_dtrtrs(tessera_layout layout, tessera_uplo uplo, tessera_op op, tessera_diag diag, int64_t n,
                              int64_t nrhs, const double* A, int64_t lda, double* B, int64_t ldb, int64_t* info);
tessera_status tessera_ctrtrs(tessera_layout layout, tessera_uplo uplo, tessera_op op, tessera_diag diag, int64_t n,
                              int64_t nrhs, const void* A, int64_t lda, void* B, int64_t ldb, int64_t* info);
tessera_status tessera_ztrtrs(tessera_layout layout, tessera_uplo uplo, tessera_op op, tessera_diag diag, int64_t n,
                              int64_t nrhs, const void* A, int64_t lda, void* B, int64_t ldb, int64_t* info);
/**@}*/

/**@{*/
/** Replaces the triangle `uplo` of A by the same triangle of L^H L (lower) or U U^H (upper), where L or U is the old
 *  triangle. A is n x n, with a real diagonal. */
tessera_status tessera_slauum(tessera_layout layout, tessera_uplo uplo, int64_t n, float* A, int64_t lda);
tessera_status tessera_dlauum(tessera_layout layout, tessera_uplo uplo, int64_t n, double* A, int64_t lda);
tessera_status tessera_clauum(tessera_layout layout, tessera_uplo uplo, int64_t n, void* A, int64_t lda);
tessera_status tessera_zlauum(tessera_layout layout, tessera_uplo uplo, int64_t n, void* A, int64_t lda);
/**@}*/

/**@{*/
/** Replaces the factor that potrf has computed, in the triangle `uplo` of A, by the same triangle of the inverse of the
 *  factorized n x n matrix.
 *  @param info  set as by trtri */
tessera_status tessera_spotri(tessera_layout layout, tessera_uplo uplo, int64_t n, float* A, int64_t lda,
                              int64_t* info);
tessera_status tessera_dpotri(tessera_layout layout, tessera_uplo uplo, int64_t n, double* A, int64_t lda,
                              int64_t* info);
tessera_status tessera_cpotri(tessera_layout layout, tessera_uplo uplo, int64_t n, void* A, int64_t lda, int64_t* info);
tessera_status tessera_zpotri(tessera_layout layout, tessera_uplo uplo, int64_t n, void* A, int64_t lda, int64_t* info);
/**@}*/

/**@{*/
/** Replaces the factors that getrf has computed by the inverse of the n x n matrix.
 *  @param info  set to 0, or to the first i for which U(i, i) is exactly zero; A is then unchanged */
tessera_status tessera_sgetri(tessera_layout layout, int64_t n, float* A, int64_t lda, const int64_t* ipiv,
                              int64_t* info);
tessera_status tessera_dgetri(tessera_layout layout, int64_t n, double* A, int64_t lda, const int64_t* ipiv,
                              int64_t* info);
tessera_status tessera_cgetri(tessera_layout layout, int64_t n, void* A, int64_t lda, const int64_t* ipiv,
                              int64_t* info);
tessera_status tessera_zgetri(tessera_layout layout, int64_t n, void* A, int64_t lda, const int64_t* ipiv,
                              int64_t* info);
/**@}*/

/**@{*/
/** Replaces A by its factors with A = Q R, as LAPACK stores them: R on and above the diagonal, and Householder vectors
 * of Q below it. A is m x n.
 *  @param tau  set to the min(m, n) scalar factors of the Householder vectors */
tessera_status tessera_sgeqrf(tessera_layout layout, int64_t m, int64_t n, float* A, int64_t lda, float* tau);
tessera_status tessera_dgeqrf(tessera_layout layout, int64_t m, int64_t n, double* A, int64_t lda, double* tau);
tessera_status tessera_cgeqrf(tessera_layout layout, int64_t m, int64_t n, void* A, int64_t lda, void* tau);
tessera_status tessera_zgeqrf(tessera_layout layout, int64_t m, int64_t n, void* A, int64_t lda, void* tau);
/**@}*/

/**@{*/
/** C <- op(Q) C (left) or C op(Q) (right), with the first k Householder vectors that geqrf has left in A. C is m x n. A
 *  has m rows (left) or n rows (right).
 *  @param op  not TESSERA_TRANS for complex matrices */
tessera_status tessera_sormqr(tessera_layout layout, tessera_side side, tessera_op op, int64_t m, int64_t n, int64_t k,
                              const float* A, int64_t lda, const float* tau, float* C, int64_t ldc);
tessera_status tessera_dormqr(tessera_layout layout, tessera_side side, tessera_op op, int64_t m, int64_t n, int64_t k,
                              const double* A, int64_t lda, const double* tau, double* C, int64_t ldc);
tessera_status tessera_cunmqr(tessera_layout layout, tessera_side side, tessera_op op, int64_t m, int64_t n, int64_t k,
                              const void* A, int64_t lda, const void* tau, void* C, int64_t ldc);
tessera_status tessera_zunmqr(tessera_layout layout, tessera_side side, tessera_op op, int64_t m, int64_t n, int64_t k,
                              const void* A, int64_t lda, const void* tau, void* C, int64_t ldc);
/**@}*/

/**@{*/
/** Replaces A by the first n columns of Q, whose Householder vectors geqrf has left in the first k columns of A. A is
 *  m x n, and m >= n >= k. */
tessera_status tessera_sorgqr(tessera_layout layout, int64_t m, int64_t n, int64_t k, float* A, int64_t lda,
                              const float* tau);
tessera_status tessera_dorgqr(tessera_layout layout, int64_t m, int64_t n, int64_t k, double* A, int64_t lda,
                              const double* tau);
tessera_status tessera_cungqr(tessera_layout layout, int64_t m, int64_t n, int64_t k, void* A, int64_t lda,
                              const void* tau);
tessera_status tessera_zungqr(tessera_layout layout, int64_t m, int64_t n, int64_t k, void* A, int64_t lda,
                              const void* tau);
/**@}*/

/**@{*/
/** Replaces B by X, which minimizes the norm of each column of op(A) X - B, where op(A) has full rank. If several X
 * minimize the norm, X is the smallest of them. Replaces A (m x n) by its QR factors, or if m < n by its LQ factors. B
 * has max(m, n) rows.
 *  @param op    not TESSERA_TRANS for complex matrices
 *  @param info  set to 0, or to the first i for which the triangular factor has a zero at (i, i); B is then undefined
 */
tessera_status tessera_sgels(tessera_layout layout, tessera_op op, int64_t m, int64_t n, int64_t nrhs, float* A,
                             int64_t lda, float* B, int64_t ldb, int64_t* info);
tessera_status tessera_dgels(tessera_layout layout, tessera_op op, int64_t m, int64_t n, int64_t nrhs, double* A,
                             int64_t lda, double* B, int64_t ldb, int64_t* info);
tessera_status tessera_cgels(tessera_layout layout, tessera_op op, int64_t m, int64_t n, int64_t nrhs, void* A,
                             int64_t lda, void* B, int64_t ldb, int64_t* info);
tessera_status tessera_zgels(tessera_layout layout, tessera_op op, int64_t m, int64_t n, int64_t nrhs, void* A,
                             int64_t lda, void* B, int64_t ldb, int64_t* info);
/**@}*/

/**@{*/
/** Exchanges rows of A, which has n columns: row i (k1 <= i <= k2) with row ipiv(k1 + (i - k1) |incx|), all counted
 * from 1, one pair after another. If incx is negative, the last pair comes first; if it is 0, nothing is exchanged. The
 *  calling thread exchanges the rows. */
tessera_status tessera_slaswp(tessera_layout layout, int64_t n, float* A, int64_t lda, int64_t k1, int64_t k2,
                              const int64_t* ipiv, int64_t incx);
tessera_status tessera_dlaswp(tessera_layout layout, int64_t n, double* A, int64_t lda, int64_t k1, int64_t k2,
                              const int64_t* ipiv, int64_t incx);
tessera_status tessera_claswp(tessera_layout layout, int64_t n, void* A, int64_t lda, int64_t k1, int64_t k2,
                              const int64_t* ipiv, int64_t incx);
tessera_status tessera_zlaswp(tessera_layout layout, int64_t n, void* A, int64_t lda, int64_t k1, int64_t k2,
                              const int64_t* ipiv, int64_t incx);
/**@}*/

/** A column-major matrix of tiles, over the caller's memory or without memory, on which programs submit routines and
 *  their own StarPU tasks. A row-major matrix is the transpose of a column-major one. */
typedef struct tessera_matrix tessera_matrix;

/** Makes a matrix over the caller's memory.
 *  @param type    's', 'd', 'c' or 'z'
 *  @param data    element (i, j) is at data[i + j * ld]
 *  @param m, n    rows and columns
 *  @param ld      leading dimension, at least max(1, m)
 *  @param mb, nb  rows and columns of a tile; 0: the library's choice
 *  @param result  the new matrix, which the caller must destroy; NULL on failure */
tessera_status tessera_matrix_create(char type, void* data, int64_t m, int64_t n, int64_t ld, int64_t mb, int64_t nb,
                                     tessera_matrix** result);

/** Makes a matrix without memory, whose tiles exist only where they are computed. A routine fails if it would read a
 * tile that has not been written. `tessera_copy_submit` copies values in and out. See <tessera/matrix.hpp>.
 *  @param type    's', 'd', 'c' or 'z'
 *  @param m, n    rows and columns
 *  @param mb, nb  rows and columns of a tile; 0: the library's choice
 *  @param result  the new matrix, which the caller must destroy; NULL on failure */
tessera_status tessera_matrix_create_without_memory(char type, int64_t m, int64_t n, int64_t mb, int64_t nb,
                                                    tessera_matrix** result);

/** Makes a new matrix that shares the tiles [i0, i1) x [j0, j1) of a matrix, and may outlive it.
 *  @param result  the new matrix, which the caller must destroy, too; NULL on failure */
tessera_status tessera_matrix_view(const tessera_matrix* matrix, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                                   tessera_matrix** result);

/** Makes a new matrix op(matrix) that shares the tiles. A complex matrix that would be conjugated without being
 *  transposed is refused, because the BLAS has no such operation.
 *  @param result  the new matrix, which the caller must destroy, too; NULL on failure */
tessera_status tessera_matrix_transposed(const tessera_matrix* matrix, tessera_op op, tessera_matrix** result);

/** Destroys a matrix; NULL is ignored. Destroying the last matrix on some tiles waits for their tasks, and copies the
 *  tiles to the caller's memory. If the matrix has no memory, this does not wait, and each tile is freed after its last
 *  task. Within a StarPU task, the last matrix on some tiles cannot be destroyed: the call fails, and the matrix stays
 *  valid. */
tessera_status tessera_matrix_destroy(tessera_matrix* matrix);

/** Waits for the tasks submitted so far on the tiles of a matrix, and copies the tiles to the caller's memory, if any.
 */
tessera_status tessera_matrix_wait(const tessera_matrix* matrix);

int64_t tessera_matrix_mt(const tessera_matrix* matrix); /**< tiles in a column */
int64_t tessera_matrix_nt(const tessera_matrix* matrix); /**< tiles in a row */

/* StarPU's name for what a handle points to. NOLINTNEXTLINE(bugprone-reserved-identifier) */
struct _starpu_data_state;

/** Returns the StarPU handle of tile (i, j), counted from 0, for the program's own tasks; NULL if there is no such
 * tile. The tiles of a transposed matrix have the layout of the memory. */
struct _starpu_data_state* tessera_matrix_handle(const tessera_matrix* matrix, int64_t i, int64_t j);

/** A scope: the calls of one thread to routines on matrices, from `tessera_submissions_begin` to
 *  `tessera_submissions_end`. The program can wait for these calls alone and see their failures. See
 *  <tessera/submissions.hpp>. */
typedef struct tessera_submissions tessera_submissions;

/** Begins a scope, which the same thread must end.
 *  @param result  the new scope, which the caller must end; NULL on failure */
tessera_status tessera_submissions_begin(tessera_submissions** result);

/** Waits until the tasks of all calls made so far in the scope have run. Returns TESSERA_RUNTIME_FAILURE if one of them
 *  has failed. */
tessera_status tessera_submissions_wait(tessera_submissions* submissions);

/** Ends a scope. Does not wait: its tasks continue. NULL is ignored. */
void tessera_submissions_end(tessera_submissions* submissions);

/**@{*/
/** The asynchronous routines on matrices of one type, which submit tasks and return. <tessera/blas3.hpp> has the
 *  contracts. alpha and beta point to one element of the matrices' type, except that alpha and beta of herk and beta of
 *  her2k point to a real number: a float for c, a double for z. hemm, herk and her2k take only complex matrices. */
tessera_status tessera_gemm_submit(tessera_op op_a, tessera_op op_b, const void* alpha, const tessera_matrix* A,
                                   const tessera_matrix* B, const void* beta, const tessera_matrix* C);
tessera_status tessera_gemmt_submit(tessera_uplo uplo, tessera_op op_a, tessera_op op_b, const void* alpha,
                                    const tessera_matrix* A, const tessera_matrix* B, const void* beta,
                                    const tessera_matrix* C);
tessera_status tessera_symm_submit(tessera_side side, tessera_uplo uplo, const void* alpha, const tessera_matrix* A,
                                   const tessera_matrix* B, const void* beta, const tessera_matrix* C);
tessera_status tessera_hemm_submit(tessera_side side, tessera_uplo uplo, const void* alpha, const tessera_matrix* A,
                                   const tessera_matrix* B, const void* beta, const tessera_matrix* C);
tessera_status tessera_syrk_submit(tessera_uplo uplo, tessera_op op, const void* alpha, const tessera_matrix* A,
                                   const void* beta, const tessera_matrix* C);
tessera_status tessera_herk_submit(tessera_uplo uplo, tessera_op op, const void* alpha, const tessera_matrix* A,
                                   const void* beta, const tessera_matrix* C);
tessera_status tessera_syr2k_submit(tessera_uplo uplo, tessera_op op, const void* alpha, const tessera_matrix* A,
                                    const tessera_matrix* B, const void* beta, const tessera_matrix* C);
tessera_status tessera_her2k_submit(tessera_uplo uplo, tessera_op op, const void* alpha, const tessera_matrix* A,
                                    const tessera_matrix* B, const void* beta, const tessera_matrix* C);
tessera_status tessera_trmm_submit(tessera_side side, tessera_uplo uplo, tessera_op op, tessera_diag diag,
                                   const void* alpha, const tessera_matrix* A, const tessera_matrix* B);
tessera_status tessera_trsm_submit(tessera_side side, tessera_uplo uplo, tessera_op op, tessera_diag diag,
                                   const void* alpha, const tessera_matrix* A, const tessera_matrix* B);
/**@}*/

/** B <- A, where both have the same size, type and tiles. Use it to fill a matrix without memory, or to copy it to the
 * caller's memory. Submits tasks and returns. */
tessera_status tessera_copy_submit(const tessera_matrix* A, const tessera_matrix* B);

/** The `info` of a factorization on matrices. Its value is known when the factorization has run. */
typedef struct tessera_info tessera_info;

/** Factorizes a matrix: submits tasks and returns. <tessera/lapack.hpp> has the contract.
 *  @param result  the info of the factorization, which the caller must destroy; NULL on failure */
tessera_status tessera_potrf_submit(tessera_uplo uplo, const tessera_matrix* A, tessera_info** result);

/** Solves with the factor of `tessera_potrf_submit`: submits tasks and returns. <tessera/lapack.hpp> has the contract.
 */
tessera_status tessera_potrs_submit(tessera_uplo uplo, const tessera_matrix* A, const tessera_matrix* B);

/** Factorizes A and solves A X = B: submits tasks and returns. <tessera/lapack.hpp> has the contract.
 *  @param result  the info of the factorization, which the caller must destroy; NULL on failure */
tessera_status tessera_posv_submit(tessera_uplo uplo, const tessera_matrix* A, const tessera_matrix* B,
                                   tessera_info** result);

/** The pivots of a factorization on matrices. */
typedef struct tessera_pivots tessera_pivots;

/** LU factorization with pivoting: submits tasks and returns. <tessera/lapack.hpp> has the contract.
 *  @param pivots, info  the pivots and the info, which the caller must destroy; NULL on failure */
tessera_status tessera_getrf_submit(const tessera_matrix* A, tessera_pivots** pivots, tessera_info** info);

/** Solves with the factors and pivots of `tessera_getrf_submit`: submits tasks and returns. <tessera/lapack.hpp> has
 * the contract. */
tessera_status tessera_getrs_submit(tessera_op op, const tessera_matrix* A, const tessera_pivots* pivots,
                                    const tessera_matrix* B);

/** LU factorization with pivoting of A, and solution of A X = B: submits tasks and returns. <tessera/lapack.hpp> has
 * the contract.
 *  @param pivots, info  the pivots and the info, which the caller must destroy; NULL on failure */
tessera_status tessera_gesv_submit(const tessera_matrix* A, const tessera_matrix* B, tessera_pivots** pivots,
                                   tessera_info** info);

/** The growth of a factorization without pivoting on matrices. */
typedef struct tessera_growth tessera_growth;

/** LU factorization without pivoting of a matrix in square tiles: submits tasks and returns. <tessera/lapack.hpp> has
 * the contract.
 *  @param growth  the growth, which the caller must destroy; NULL on failure. Pass NULL to measure no growth
 *  @param info    the info of the factorization, which the caller must destroy; NULL on failure */
tessera_status tessera_getrf_nopiv_submit(const tessera_matrix* A, tessera_growth** growth, tessera_info** info);

/** Solves with the factors of `tessera_getrf_nopiv_submit`: submits tasks and returns. <tessera/lapack.hpp> has the
 *  contract. */
tessera_status tessera_getrs_nopiv_submit(tessera_op op, const tessera_matrix* A, const tessera_matrix* B);

/** LU factorization without pivoting of A, and solution of A X = B: submits tasks and returns. <tessera/lapack.hpp> has
 *  the contract.
 *  @param growth, info  as for `tessera_getrf_nopiv_submit` */
tessera_status tessera_gesv_nopiv_submit(const tessera_matrix* A, const tessera_matrix* B, tessera_growth** growth,
                                         tessera_info** info);

/** Waits for a factorization.
 *  @param value  set to the growth, as by `tessera_dgetrf_nopiv` */
tessera_status tessera_growth_wait(const tessera_growth* growth, double* value);

/** Destroys a growth. Does not wait, even if the factorization has not run. NULL is ignored. */
void tessera_growth_destroy(tessera_growth* growth);

/** Inverts a triangular matrix: submits tasks and returns. <tessera/lapack.hpp> has the contract.
 *  @param result  the info of the inverse, which the caller must destroy; NULL on failure */
tessera_status tessera_trtri_submit(tessera_uplo uplo, tessera_diag diag, const tessera_matrix* A,
                                    tessera_info** result);

/** Multiplies a triangular matrix by its adjoint: submits tasks and returns. <tessera/lapack.hpp> has the contract. */
tessera_status tessera_lauum_submit(tessera_uplo uplo, const tessera_matrix* A);

/** Inverts a matrix that `tessera_potrf_submit` has factorized: submits tasks and returns. <tessera/lapack.hpp> has the
 *  contract.
 *  @param result  the info of the inverse, which the caller must destroy; NULL on failure */
tessera_status tessera_potri_submit(tessera_uplo uplo, const tessera_matrix* A, tessera_info** result);

/** Inverts a matrix that `tessera_getrf_submit` has factorized: submits tasks and returns. <tessera/lapack.hpp> has the
 *  contract.
 *  @param result  the info of the inverse, which the caller must destroy; NULL on failure */
tessera_status tessera_getri_submit(const tessera_matrix* A, const tessera_pivots* pivots, tessera_info** result);

/** Exchanges rows of a matrix by the pivots of a factorization: submits tasks and returns. <tessera/lapack.hpp> has the
 *  contract.
 *  @param incx  1, or -1 to undo the exchanges */
tessera_status tessera_laswp_submit(const tessera_matrix* A, const tessera_pivots* pivots, int64_t incx);

/** The reflectors of a QR factorization on matrices. */
typedef struct tessera_reflectors tessera_reflectors;

/** QR factorization of a matrix whose tiles have all rows: submits tasks and returns. <tessera/lapack.hpp> has the
 *  contract, and those of the next three functions.
 *  @param reflectors  the reflectors, which the caller must destroy; NULL on failure */
tessera_status tessera_geqrf_submit(const tessera_matrix* A, tessera_reflectors** reflectors);

/** C <- op(Q) C or C op(Q), with Q from the factorized A and its reflectors: submits tasks and returns. */
tessera_status tessera_unmqr_submit(tessera_side side, tessera_op op, const tessera_matrix* A,
                                    const tessera_reflectors* reflectors, const tessera_matrix* C);

/** Replaces the factorized A by the first columns of Q, with its reflectors: submits tasks and returns. */
tessera_status tessera_ungqr_submit(const tessera_matrix* A, const tessera_reflectors* reflectors);

/** Solves least squares problems, with X in place of B: submits tasks and returns.
 *  @param info  the info of the factorization, which the caller must destroy; NULL on failure */
tessera_status tessera_gels_submit(tessera_op op, const tessera_matrix* A, const tessera_matrix* B,
                                   tessera_info** info);

/** Waits for a factorization.
 *  @param type  type of the matrix: 's', 'd', 'c' or 'z'
 *  @param tau   set to the min(m, n) scalar factors of the reflectors, as by `tessera_dgeqrf` */
tessera_status tessera_reflectors_wait(const tessera_reflectors* reflectors, char type, void* tau);

/** Destroys reflectors. Does not wait, even if the factorization has not run. NULL is ignored. */
void tessera_reflectors_destroy(tessera_reflectors* reflectors);

/** Waits for a factorization.
 *  @param ipiv  set to the min(m, n) pivots, as by `tessera_dgetrf` */
tessera_status tessera_pivots_wait(const tessera_pivots* pivots, int64_t* ipiv);

/** Returns the StarPU handle of the pivots of panel k, counted from 0, for the program's own tasks; NULL if there is no
 *  such panel. <tessera/lapack.hpp> says what it holds. */
struct _starpu_data_state* tessera_pivots_handle(const tessera_pivots* pivots, int64_t k);

/** Destroys pivots. Does not wait, even if the factorization has not run. NULL is ignored. */
void tessera_pivots_destroy(tessera_pivots* pivots);

/** Waits for a factorization.
 *  @param value  set to the info of the factorization, as by `tessera_dpotrf` */
tessera_status tessera_info_wait(const tessera_info* info, int64_t* value);

/** Returns the StarPU handle of an info, a variable of type int64_t, for the program's own tasks. */
struct _starpu_data_state* tessera_info_handle(const tessera_info* info);

/** Destroys an info. Does not wait, even if the factorization has not run. NULL is ignored. */
void tessera_info_destroy(tessera_info* info);

#ifdef __cplusplus
}
#endif

#endif
