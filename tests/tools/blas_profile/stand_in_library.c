/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is preloaded instead of libtessera_blas.so. Programs can look up its symbol. */
int tessera_blas_stand_in = 1;
