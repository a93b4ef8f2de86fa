/* SPDX-License-Identifier: BSD-3-Clause */
/* What is preloaded in place of libtessera_blas.so: it only shows that it is there. */
int tessera_blas_stand_in = 1;
