/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESSERA_H
#define TESSERA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The C interface. Column-major; sizes and leading dimensions are 64-bit and count elements.
 *
 *  Every function returns a status:
 *    0    done;
 *    -i   argument i, counted from 1, is illegal: nothing has been touched;
 *    > 0  the machine or StarPU could not do it (TESSERA_RUNTIME_FAILURE).
 *  `tessera_last_error` has the sentence that explains the last status of this thread that was not 0. */
typedef int tessera_status;

enum { TESSERA_SUCCESS = 0, TESSERA_RUNTIME_FAILURE = 1 };

/** The values of CBLAS, so that code which calls CBLAS needs no table. */
typedef enum tessera_op { TESSERA_NO_TRANS = 111, TESSERA_TRANS = 112, TESSERA_CONJ_TRANS = 113 } tessera_op;

/** "1.2.3" */
const char* tessera_version(void);

/** Starts StarPU or joins it. -1: the environment variable TESSERA_CPUS or TESSERA_GPUS, else what suits.
 *  Ignored if a runtime is up already.
 *  Optional: the first routine starts what is needed. Calls nest; each needs its `tessera_finalize`. */
tessera_status tessera_init(int cpus, int gpus);

/** Waits for everything submitted; the last call stops what the first `tessera_init` started. */
tessera_status tessera_finalize(void);

/** Waits until every submitted task has run. */
tessera_status tessera_wait(void);

/** Why the last call of this thread failed; "" if none has. Valid until the thread's next failure. */
const char* tessera_last_error(void);

/** @name C <- alpha op(A) op(B) + beta C, done when it returns
 *  The contract is that of tessera::gemm in <tessera/blas.hpp>. For c and z, alpha and beta point to one complex number
 *  (two floats or doubles) and the matrices hold such numbers. */
/**@{*/
tessera_status tessera_sgemm(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, float alpha,
                             const float* A, int64_t lda, const float* B, int64_t ldb, float beta, float* C,
                             int64_t ldc);
tessera_status tessera_dgemm(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, double alpha,
                             const double* A, int64_t lda, const double* B, int64_t ldb, double beta, double* C,
                             int64_t ldc);
tessera_status tessera_cgemm(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                             const void* A, int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                             int64_t ldc);
tessera_status tessera_zgemm(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                             const void* A, int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                             int64_t ldc);
/**@}*/

/** A matrix of tiles over the caller's memory, for programs that put their own StarPU tasks between products. */
typedef struct tessera_matrix tessera_matrix;

/** @param type  's', 'd', 'c' or 'z'
 *  @param mb, nb  rows and columns of a tile; 0: the library's choice
 *  @param result  set to the new matrix, or to NULL */
tessera_status tessera_matrix_create(char type, void* data, int64_t m, int64_t n, int64_t ld, int64_t mb, int64_t nb,
                                     tessera_matrix** result);

/** Waits for the tasks on its tiles, brings them home, unregisters them. NULL is ignored. */
tessera_status tessera_matrix_destroy(tessera_matrix* matrix);

/** Waits for the tasks submitted so far on its tiles and brings the tiles home. */
tessera_status tessera_matrix_wait(const tessera_matrix* matrix);

/** Tiles in a column and in a row. */
int64_t tessera_matrix_mt(const tessera_matrix* matrix);
int64_t tessera_matrix_nt(const tessera_matrix* matrix);

/* StarPU's name for what a handle points to. NOLINTNEXTLINE(bugprone-reserved-identifier) */
struct _starpu_data_state;

/** The StarPU handle of tile (i, j), from 0, for the program's own tasks; NULL if there is no such tile. */
struct _starpu_data_state* tessera_matrix_handle(const tessera_matrix* matrix, int64_t i, int64_t j);

/** C <- alpha op(A) op(B) + beta C on matrices of one type: submits tasks and returns.
 *  alpha and beta point to one element of the matrices' type. */
tessera_status tessera_gemm_submit(tessera_op op_a, tessera_op op_b, const void* alpha, const tessera_matrix* A,
                                   const tessera_matrix* B, const void* beta, const tessera_matrix* C);

#ifdef __cplusplus
}
#endif

#endif
