# SPDX-License-Identifier: BSD-3-Clause
"""Python: products on NumPy arrays, and a system of linear equations. The calls use all cores or all GPUs, and return when
the results are in place. This works with every NumPy, even if its own BLAS cannot be replaced:
  PYTHONPATH=PREFIX/lib/tessera/python python3 11_python.py"""
import sys

import numpy as np

import tessera

random = np.random.default_rng(1)
m, n, k = 500, 400, 300
A, B = random.random((m, k)), random.random((k, n))
right = True


def check(what, computed, expected):
    global right
    error = np.max(np.abs(computed - expected))
    ok = error <= 1e-12 * k  # False for NaN
    right = right and ok
    print(f"{what:24} {error:9.2e}  {'right' if ok else 'WRONG'}")


check("product", tessera.gemm(A, B), A @ B)

# C <- 0.5 A B + 2 C, in a part of a larger array
whole = np.ones((m + 1, n + 1))
C = whole[1:, 1:]
tessera.gemm(A, B, C, alpha=0.5, beta=2)
check("product in place", C, 0.5 * (A @ B) + 2)

# Neither C order nor Fortran order needs copies. Only the lower triangle of the result is computed.
Z = np.asfortranarray(B + 1j * B[::-1])
check("Hermitian product", tessera.herk(Z), np.tril(Z @ Z.conj().T))

M = random.random((n, n)) + n * np.eye(n)  # far from singular
X = tessera.solve(M, B.T)
check("solution", M @ X, B.T)

try:
    tessera.gemm(A, A)
    right = False
except tessera.ArgumentError as error:
    print(error)

sys.exit(0 if right else 1)
