// SPDX-License-Identifier: BSD-3-Clause
// The drop-in for NumPy and SciPy from PyPI, whose OpenBLAS has names of its own: scipy_dgemm_ and scipy_cblas_dgemm,
// and scipy_dgemm_64_ and scipy_cblas_dgemm64_ with 64-bit integers. Each of these symbols is a jump to the drop-in's
// function here, since an alias would need a definition in this library. All other routines stay with the package's
// OpenBLAS.
#include "blas/lapack_arguments.hpp"
#include "blas/shapes.hpp"

#if defined(__x86_64__)
#define JUMP(name) "endbr64; jmp " name "@PLT"
#elif defined(__aarch64__)
#define JUMP(name) "hint #34; b " name  // bti c
#else
#error "no jump is known for this processor"
#endif

#define FORWARD(name) \
  __asm__(".text; .globl scipy_" name "; .type scipy_" name ", %function; scipy_" name ": " JUMP(name));

#define FORWARD_FORTRAN(letter, T, name) FORWARD(#letter #name "_") FORWARD(#letter #name "_64_")
#define FORWARD_BLAS(letter, T, name) \
  FORWARD_FORTRAN(letter, T, name) FORWARD("cblas_" #letter #name) FORWARD("cblas_" #letter #name "64_")

#define ROUTINE(name, types, ...) FOR_##types(FORWARD_BLAS, name)
#include "blas/routines.def"
FOR_SDCZ(FORWARD_BLAS, gemmtr)

#define LAPACK(name, list, matrix, pivots, info, types) FOR_##types(FORWARD_FORTRAN, name)
#include "blas/lapack.def"
