/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is not the one that is looked for. */
typedef int tessera_test_library_is_empty;
