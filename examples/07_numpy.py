# SPDX-License-Identifier: BSD-3-Clause
"""Operations of an unchanged NumPy and SciPy that call the BLAS and LAPACK, with checks of their results. With the
drop-in loaded, large products and solves run on all devices:
  LD_PRELOAD=/path/to/libtessera_blas.so /usr/bin/python3 07_numpy.py [SIZE [FILE]]
The results are written to FILE, so that two runs can be compared. Debian's NumPy uses the system's BLAS. Packages from
PyPI contain an OpenBLAS with renamed symbols: with them, preload tessera-blas/libtessera_wheels.so. Solves, inverses,
determinants, LU, Cholesky and QR pass through the drop-in. The SVD stays with the program's LAPACK. OpenBLAS's LAPACK
computes most products with its own kernels, which bypasses the drop-in. If the reference LAPACK (package liblapack3) is
loaded before OpenBLAS, these products reach the drop-in, too."""
import sys

import numpy as np
import scipy.linalg

n = int(sys.argv[1]) if len(sys.argv) > 1 else 300
file = open(sys.argv[2], "w") if len(sys.argv) > 2 else None
right = True


def check(name, computed, expected, bound, result=None):
    """Prints a line, and records a failure if the computed values differ from the expected ones by more than `bound`.
    Writes `result` to the file."""
    global right
    error = np.max(np.abs(computed - expected))
    ok = error <= bound  # False for NaN
    right = right and ok
    print(f"{name:22} {error:9.2e} {bound:9.2e}  {'right' if ok else 'WRONG'}")
    if file:
        values = computed if result is None else result
        print(name.replace(" ", "_"), f"{bound:.3e}", *np.real(values), *np.imag(values), file=file)


def bound(F, G, t):
    """The error bound for checking a product F G by F (G t) with a vector t, which needs no level-3 BLAS. The check sums n
    terms three times, the product once. The error is at most 2 n eps times the sum of the moduli of the terms."""
    return 2 * len(t) * np.finfo(F.dtype).eps * np.max(abs(F) @ (abs(G) @ abs(t)))


random = np.random.default_rng(1)
A, B = random.random((n, n)), random.random((n, n))  # positive, so nothing cancels and an error in one element shows
t = random.random(n)
Z, W = A + 1j * B, B + 1j * A
M = A + n * np.eye(n)  # far from singular
print(f"{f'{n} x {n}':22} {'error':>9} {'bound':>9}")

check("product", (A @ B) @ t, A @ (B @ t), bound(A, B, t))
check("transposed product", (A.T @ B) @ t, A.T @ (B @ t), bound(A.T, B, t))
check("crossprod", (A.T @ A) @ t, A.T @ (A @ t), bound(A.T, A, t))
check("complex product", (Z @ W) @ t, Z @ (W @ t), 2 * bound(Z, W, t))
S, T, s = (x.astype(np.float32) for x in (A, B, t))
check("single precision", (S @ T) @ s, S @ (T @ s), bound(S, T, s))

X = np.linalg.solve(M, B)
check("solve", M @ (X @ t), B @ t, bound(M, X, t), X @ t)
X = np.linalg.inv(M)
check("inverse", M @ (X @ t), t, 2 * bound(M, X, t), X @ t)
S = M.T @ M
L = np.linalg.cholesky(S)
check("chol", L @ (L.T @ t), S @ t, bound(L, L.T, t), L @ t)
d = np.linalg.det(M / n)
check("det", d, scipy.linalg.det(M / n), 10 * n * np.finfo(float).eps * abs(d), np.array([d]))
Q, R = np.linalg.qr(M)
check("qr", Q @ (R @ t), M @ t, bound(Q, R, t), R @ t)
m = min(n, 1000)  # an SVD is slow
U, d, V = np.linalg.svd(A[:m, :m])
check("svd", U @ (d * (V @ t[:m])), A[:m, :m] @ t[:m], bound(U, d[:, None] * V, t[:m]), d)

# SciPy calls the BLAS by its Fortran names; NumPy calls CBLAS.
X = scipy.linalg.blas.dtrsm(1.0, R, B)
check("triangular solve", R @ (X @ t), B @ t, bound(R, X, t), X @ t)
X = scipy.linalg.lu_solve(scipy.linalg.lu_factor(M), B)
check("lu_solve", M @ (X @ t), B @ t, bound(M, X, t), X @ t)
X = scipy.linalg.cho_solve(scipy.linalg.cho_factor(S), B)
check("cho_solve", S @ (X @ t), B @ t, bound(S, X, t), X @ t)
X = scipy.linalg.inv(M)
check("SciPy inverse", M @ (X @ t), t, 2 * bound(M, X, t), X @ t)
H = scipy.linalg.blas.zherk(1.0, Z, lower=1)
H = H + np.tril(H, -1).conj().T
check("Hermitian product", H @ t, Z @ (Z.conj().T @ t), 2 * bound(Z, Z.conj().T, t))

if file:
    file.close()
sys.exit(0 if right else 1)
