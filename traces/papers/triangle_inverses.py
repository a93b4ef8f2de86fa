# SPDX-License-Identifier: BSD-3-Clause
"""Solves with a lower triangular tile by inverses of the blocks on its diagonal, of any order up to the whole tile, as
Bogdanov and Efremov: on the processor with OpenBLAS, on a GPU with cuBLAS.

The smallest blocks are inverted by substitution. Two neighbours V11 and V22, and the square A21 below the first, make the
inverse of twice the order: V21 = -V22 A21 V11. A solve multiplies a block of B by its inverse, and subtracts the product of
this block and the columns of A below it.
"""

import array
import ctypes
import math
import random
import time

from vendor_blas import Host

SMALLEST = 32  # order of the blocks that are inverted by substitution, as in the paper
REPEATS = 3


def identity(order):
    values = array.array("d", bytes(8 * order * order))
    for i in range(order):
        values[i * (order + 1)] = 1
    return values


def invert(on, A, V, T, order, block):
    """V, at first the identity, ← the inverses of the blocks of this order on the diagonal of A. T is workspace."""
    on.trsms(order // SMALLEST, SMALLEST, on.at(A, order), on.at(V, order), order)
    half = SMALLEST
    while half < block:
        count, step, square = order // (2 * half), 2 * half * (order + 1), half * half
        on.gemms(count, half, 1, on.at(A, order, half, 0), order, step, on.at(V, order), order, step, on.at(T, half), half,
                 square)
        on.gemms(count, half, -1, on.at(V, order, half, half), order, step, on.at(T, half), half, square,
                 on.at(V, order, half, 0), order, step)
        half *= 2


def solve(on, A, V, B, X, order, columns, block):
    """X ← the solution of A X = B, by inverses. Overwrites B."""
    for i in range(0, order, block):
        on.gemm(block, columns, block, 1, on.at(V, order, i, i), order, on.at(B, order, i), order, 0, on.at(X, order, i), order)
        if i + block < order:
            on.gemm(order - i - block, columns, block, -1, on.at(A, order, i + block, i), order, on.at(X, order, i), order, 1,
                    on.at(B, order, i + block), order)


def blocks_of(order):
    return [b for b in (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192) if 128 <= b <= order and order % b == 0]


def lower(order, element):
    return array.array("d", [element(i, j) if i >= j else 0.0 for j in range(order) for i in range(order)])


def factors_of_lu(order):
    """L, and U transposed, of a random matrix with partial pivoting."""
    A = array.array("d", [random.uniform(-1, 1) for _ in range(order * order)])
    n, info, pivots = ctypes.c_int(order), ctypes.c_int(), (ctypes.c_int * order)()
    Host().blas.dgetrf_(ctypes.byref(n), ctypes.byref(n), ctypes.c_void_p(A.buffer_info()[0]), ctypes.byref(n), pivots,
                   ctypes.byref(info))
    if info.value != 0:
        raise SystemExit(f"triangle_inverses: dgetrf failed with info = {info.value}")
    return {"L of LU": lower(order, lambda i, j: 1.0 if i == j else A[i + j * order]),
            "U of LU, transposed": lower(order, lambda i, j: A[j + i * order])}


def accuracy(order, columns):
    """Head and rows: the largest residual |B - A X| / (u (‖A‖ max|X| + max|B|)) of a column, in single precision.

    One half of the right-hand sides is random, the other half has random solutions. The latter are small, so that products
    with an inverse cancel.
    """
    random.seed(1)
    single, double = Host("s"), Host("d")
    triangles = {"well conditioned": lower(order, lambda i, j: 1.0 if i == j else random.uniform(-1, 1) / order),
                 **factors_of_lu(order)}
    blocks, rows, half = blocks_of(order), [], columns // 2
    for name, exact in triangles.items():
        A = single.matrix(exact)
        known = double.matrix(A)  # what single precision sees
        some = double.matrix(random.uniform(-1, 1) for _ in range(order * columns))
        double.gemm(order, half, order, 1, double.at(known, order), order, double.at(some, order, 0, half), order, 0,
                    double.at(some, order), order)
        B = single.matrix(some)
        row_sums = [0.0] * order
        for j in range(order):
            for i in range(j, order):
                row_sums[i] += abs(known[i + j * order])

        def residual(X):
            R, wide = double.matrix(B), double.matrix(X)
            double.gemm(order, columns, order, -1, double.at(known, order), order, double.at(wide, order), order, 1,
                        double.at(R, order), order)
            worst = 0.0
            for j in range(columns):
                part = slice(j * order, (j + 1) * order)
                scale = max(row_sums) * max(map(abs, wide[part])) + max(map(abs, B[part]))
                worst = max(worst, max(map(abs, R[part])) / scale * 2 ** 24)
            return worst

        X = single.matrix(B)
        single.trsm(order, columns, single.at(A, order), order, single.at(X, order), order)
        row = [name, f"{residual(X):.2f}"]
        for block in blocks:
            V, T, X = single.matrix(identity(order)), single.zeros(order * order // 4), single.zeros(order * columns)
            invert(single, A, V, T, order, block)
            solve(single, A, V, single.matrix(B), X, order, columns, block)
            found = residual(X)
            row.append(f"{found:.2f}" if math.isfinite(found) else "not finite")
        rows.append(row)
    return ["triangle", "substitution"] + [f"inverses of {b}" for b in blocks], rows


def times(on, order, columns):
    """Head and rows: milliseconds of the inverses, of a solve with them, and of both for 1 and 8 tiles of B."""
    random.seed(1)
    A = on.matrix(lower(order, lambda i, j: 1.0 if i == j else random.uniform(-1, 1) / order))
    B = on.matrix(random.uniform(-1, 1) for _ in range(order * columns))
    unit, V = on.matrix(identity(order)), on.zeros(order * order)
    T, work, X = on.zeros(order * order // 4), on.zeros(order * columns), on.zeros(order * columns)

    def fastest(prepare, run):
        seconds = []
        for _ in range(REPEATS + 1):  # the first is a warm-up
            prepare()
            on.wait()
            begin = time.perf_counter()
            run()
            on.wait()
            seconds.append(time.perf_counter() - begin)
        return 1e3 * min(seconds[1:])

    def row(name, inverse, one):
        return [name] + [f"{x:.2f}" for x in (inverse, one, inverse + one, inverse + 8 * one)]

    rows = [row("substitution", 0, fastest(lambda: on.assign(X, B), lambda: on.trsm(
        order, columns, on.at(A, order), order, on.at(X, order), order)))]
    for block in blocks_of(order):
        inverse = fastest(lambda: on.assign(V, unit), lambda: invert(on, A, V, T, order, block))
        one = fastest(lambda: on.assign(work, B), lambda: solve(on, A, V, work, X, order, columns, block))
        rows.append(row(f"inverses of {block}", inverse, one))
    return ["", "inverses", "solve of a tile", "together", "together, 8 tiles"], rows
