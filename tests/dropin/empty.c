/* SPDX-License-Identifier: BSD-3-Clause */
/* A library without the symbols that the drop-in looks for. */
typedef int tessera_test_library_is_empty;
