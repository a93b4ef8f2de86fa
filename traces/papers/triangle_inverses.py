# SPDX-License-Identifier: BSD-3-Clause
"""Solves with a lower triangular tile by inverses of the blocks on its diagonal, of any order up to the whole tile, as
Bogdanov and Efremov, on one core of the processor.

The smallest blocks are inverted by substitution. Two neighbours V11 and V22, and the square A21 below the first, make the
inverse of twice the order: V21 = -V22 A21 V11. A solve multiplies a block of B by its inverse, and subtracts the product of
this block and the columns of A below it.
"""

import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy loads it

import numpy as np
import scipy.linalg

SMALLEST = 32  # order of the blocks that are inverted by substitution, as in the paper
REPEATS = 3


def substitute(A, B):
    return scipy.linalg.solve_triangular(A, B, lower=True, check_finite=False)


def inverses(A, block):
    """The inverses of the blocks of this order on the diagonal of A; elsewhere zeros."""
    V = np.zeros_like(A, order="F")
    for i in range(0, len(A), SMALLEST):
        part = slice(i, i + SMALLEST)
        V[part, part] = substitute(A[part, part], np.eye(SMALLEST, dtype=A.dtype))
    half = SMALLEST
    while half < block:
        for i in range(0, len(A), 2 * half):
            upper, lower = slice(i, i + half), slice(i + half, i + 2 * half)
            V[lower, upper] = -V[lower, lower] @ (A[lower, upper] @ V[upper, upper])
        half *= 2
    return V


def solve(A, V, B, block):
    """The solution of A X = B, by inverses."""
    B, X = B.copy(order="F"), np.empty_like(B, order="F")
    for i in range(0, len(A), block):
        part, below = slice(i, i + block), slice(i + block, None)
        X[part] = V[part, part] @ B[part]
        B[below] -= A[below, part] @ X[part]
    return X


def blocks_of(order):
    return [b for b in (128, 256, 512, 1024, 2048, 4096, 8192) if b <= order and order % b == 0]


def random_lower(order, random):
    return np.tril(random.uniform(-1, 1, (order, order)) / order, -1) + np.eye(order)


def accuracy(order, columns):
    """Head and rows: the largest residual |B - A X| / (u (‖A‖ max|X| + max|B|)) of a column, in single precision.

    One half of the right-hand sides is random, the other half has random solutions. The latter are small, so that products
    with an inverse cancel.
    """
    random = np.random.default_rng(1)
    _, L, U = scipy.linalg.lu(random.uniform(-1, 1, (order, order)))
    triangles = {"well conditioned": random_lower(order, random), "L of LU": L, "U of LU, transposed": U.T}
    blocks, rows = blocks_of(order), []
    for name, exact in triangles.items():
        A = np.asfortranarray(exact, dtype=np.float32)
        known = A.astype(np.float64)  # what single precision sees
        some = random.uniform(-1, 1, (order, columns))
        some[:, :columns // 2] = known @ some[:, :columns // 2]
        B = np.asfortranarray(some, dtype=np.float32)

        def residual(X):
            if not np.all(np.isfinite(X)):
                return "not finite"
            worst = np.max(np.abs(B - known @ X.astype(np.float64)), axis=0)
            scale = np.max(np.sum(np.abs(known), axis=1)) * np.max(np.abs(X), axis=0) + np.max(np.abs(B), axis=0)
            return f"{np.max(worst / scale) * 2 ** 24:.2f}"

        rows.append([name, residual(substitute(A, B))] +
                    [residual(solve(A, inverses(A, block), B, block)) for block in blocks])
    return ["triangle", "substitution"] + [f"inverses of {b}" for b in blocks], rows


def times(order, columns):
    """Head and rows: milliseconds of the inverses, of a solve with them, and of both for 1 and 8 tiles of B."""
    random = np.random.default_rng(1)
    A = np.asfortranarray(random_lower(order, random))
    B = np.asfortranarray(random.uniform(-1, 1, (order, columns)))

    def fastest(run):
        seconds = []
        for _ in range(REPEATS + 1):  # the first is a warm-up
            begin = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - begin)
        return 1e3 * min(seconds[1:])

    def row(name, inverse, one):
        return [name] + [f"{x:.0f}" for x in (inverse, one, inverse + one, inverse + 8 * one)]

    rows = [row("substitution", 0, fastest(lambda: substitute(A, B)))]
    for block in blocks_of(order):
        V = inverses(A, block)
        rows.append(row(f"inverses of {block}", fastest(lambda: inverses(A, block)),
                        fastest(lambda: solve(A, V, B, block))))
    return ["", "inverses", "solve of a tile", "together", "together, 8 tiles"], rows
