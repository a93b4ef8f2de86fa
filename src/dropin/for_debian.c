/* SPDX-License-Identifier: BSD-3-Clause */
/* libblas.so.3, as Debian's alternatives want it: level 3 of libtessera_blas.so, all else of OpenBLAS. It needs both of
 * them, in this order, and has nothing of its own. */
typedef int tessera_blas_for_debian_is_empty;
