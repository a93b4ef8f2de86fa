#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Python package: results in every type and order, what is copied and what is not, errors, and whether its table of
routines is that of the C header.
usage: package.py SOURCE_FOLDER VERSION [arguments of unittest]"""
import ctypes
import itertools
import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest

import numpy as np

import tessera
from tessera import _arrays, _dlpack, _library, _matrix

source, version = pathlib.Path(sys.argv[1]), sys.argv[2]
KINDS = [np.dtype(letter) for letter in "fdFD"]
STORAGE = ["C", "F", "part of C", "part of F", "steps", "backwards"]
random = np.random.default_rng(1)


def make(rows, columns, kind, storage="C"):
    """A random matrix, stored in one of the ways in STORAGE."""
    x = random.standard_normal((2 * rows, 2 * columns)) + 1j * random.standard_normal((2 * rows, 2 * columns))
    x = np.array(x if kind.kind == "c" else x.real, dtype=kind, order="F" if storage.endswith("F") else "C")
    if storage in ("C", "F"):
        return np.array(x[:rows, :columns], order=storage)
    if storage == "steps":
        return x[::2, ::2]
    if storage == "backwards":
        return x[rows:0:-1, 1:columns + 1]
    return x[1:rows + 1, 1:columns + 1]


def op(x, trans):
    return {"N": x, "T": x.T, "C": x.conj().T}[trans]


class Case(unittest.TestCase):
    def near(self, computed, expected, message=None):
        bound = 200 * np.finfo(computed.dtype).eps * max(1, np.max(np.abs(expected), initial=0))
        self.assertEqual(computed.dtype, expected.dtype, message)
        self.assertLessEqual(np.max(np.abs(computed - expected), initial=0), bound, message)

    def triangle_near(self, computed, expected, uplo, before, message=None):
        """One triangle has the expected values, and the other is unchanged."""
        mine = np.tri(len(expected), dtype=bool) if uplo == "L" else np.tri(len(expected), dtype=bool).T
        self.near(np.where(mine, computed, 0), np.where(mine, expected, 0), message)
        self.assertTrue(np.array_equal(computed[~mine], before[~mine]), message)


class Elsewhere:
    """An array of another library: NumPy sees it only by where it is."""

    def __init__(self, array):
        self.array, described = array, dict(array.__array_interface__)
        self.__cuda_array_interface__ = {**described, "version": 3, "stream": None}
        self.ndim = array.ndim


class OnGpu(Case):
    def test_results_are_where_their_memory_is(self):
        for kind, storage in itertools.product(KINDS, STORAGE[:4]):
            a, b, c = make(4, 3, kind, storage), make(3, 5, kind), make(4, 5, kind, storage)
            expected, out = a @ b + 2 * c, Elsewhere(c)
            self.assertIs(tessera.gemm(Elsewhere(a), b, out, beta=2), out)
            self.near(c, expected)

    def test_systems_are_solved_in_place(self):
        a, b = make(6, 6, np.dtype("d"), "F") + 8 * np.eye(6), make(6, 2, np.dtype("d"), "F")
        a, before = np.asfortranarray(a), a.copy()
        expected, x = np.linalg.solve(a, b), Elsewhere(b)
        lu, pivots = tessera.lu_factor(Elsewhere(a), overwrite_a=True)
        self.assertIs(lu.array, a)
        self.assertIs(tessera.lu_solve((lu, pivots), x, overwrite_b=True), x)
        self.near(b, expected)
        self.assertFalse(np.array_equal(a, before))

    def test_nothing_is_copied(self):
        a, b = Elsewhere(make(4, 4, np.dtype("d"))), Elsewhere(make(4, 4, np.dtype("d"), "steps"))
        for wrong in (lambda: tessera.gemm(a, a), lambda: tessera.gemm(a, b, Elsewhere(make(4, 4, np.dtype("d")))),
                      lambda: tessera.trsm(a, a), lambda: tessera.inv(a), lambda: tessera.lu_solve((a, [0] * 4), a)):
            with self.assertRaisesRegex(tessera.ArgumentError, "is in memory of a GPU"):
                wrong()


class OtherArray:
    """An array of another library, which offers only DLPack, through that of NumPy."""

    def __init__(self, array):
        self.array, self.shape, self.ndim = array, array.shape, array.ndim

    def __dlpack__(self, *, stream=None):
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array_namespace__(self):
        return OtherLibrary


class OtherLibrary:
    @staticmethod
    def from_dlpack(x):
        return OtherArray(np.from_dlpack(x))


class OnAnotherDevice(OtherArray):
    def __dlpack_device__(self):
        return (10, 0)


class ThroughDlpack(Case):
    def test_new_results_are_of_the_same_library(self):
        for kind, storage in itertools.product(KINDS, STORAGE[:4]):
            a, b = make(4, 3, kind, storage), make(3, 5, kind)
            c = tessera.gemm(OtherArray(a), b)
            self.assertIsInstance(c, OtherArray)
            self.near(c.array, a @ b)
        x = tessera.solve(np.eye(4) * 2, b=OtherArray(np.ones(4)))
        self.near(x.array, np.full(4, 0.5))
        lu, pivots = tessera.lu_factor(OtherArray(np.eye(3)))
        self.near(tessera.lu_solve((lu.array, pivots.array), np.ones(3)), np.ones(3))

    def test_outputs_are_changed_in_place(self):
        for kind, storage in itertools.product(KINDS, STORAGE):
            a, b, c = make(4, 3, kind), make(3, 5, kind), make(4, 5, kind, storage)
            expected, out = a @ b + 2 * c, OtherArray(c)
            self.assertIs(tessera.gemm(a, OtherArray(b), c=out, beta=2), out)
            self.near(c, expected)
        a, b = make(6, 6, np.dtype("d")) + 8 * np.eye(6), make(6, 2, np.dtype("d"), "F")
        x = tessera.solve(a, OtherArray(b), overwrite_b=True)
        self.near(a @ x.array, a @ b)  # in the memory of b
        self.assertEqual(x.array.ctypes.data, b.ctypes.data)

    def test_what_is_refused(self):
        a = make(4, 4, np.dtype("d"))
        with self.assertRaisesRegex(tessera.ArgumentError, r"gemm: a is on device \(10, 0\) of DLPack, must be"):
            tessera.gemm(OnAnotherDevice(a), a)

    def test_memory_lives_as_long_as_it_is_seen(self):
        array = np.ones((3, 3))
        before = sys.getrefcount(array)
        seen = _dlpack.viewed(OtherArray(array))
        self.assertEqual(seen.ctypes.data, array.ctypes.data)
        self.assertGreater(sys.getrefcount(array), before)
        del seen
        self.assertEqual(sys.getrefcount(array), before)


class Chains(Case):
    def test_products_without_memory(self):
        for kind, storage in itertools.product(KINDS, STORAGE[:4]):
            a, b, c = make(7, 5, kind, storage), make(5, 7, kind), make(7, 7, kind, storage)
            expected = (a @ b) @ (a @ b) + 2 * c
            x = tessera.Matrix.without_memory((7, 7), kind, 3)
            x.gemm(tessera.Matrix(a, 3), tessera.Matrix(b, 3))
            out = tessera.Matrix(c, 3)
            out.gemm(x, x, beta=2)
            out.wait()
            self.near(c, expected)
            self.near(x.to_numpy(), a @ b)
            self.near((x.H @ x).to_numpy(), (a @ b).conj().T @ (a @ b))
            self.near(x.T.to_numpy(), (a @ b).T)
            self.assertEqual((x.H.shape, x.T.T.shape, x.dtype), ((7, 7), (7, 7), kind))

    def test_triangles(self):
        for kind, uplo in itertools.product(KINDS, "LU"):
            a, b, c = make(7, 4, kind, "F"), make(7, 4, kind, "F"), make(7, 7, kind, "F")
            A, B, zero = tessera.Matrix(a, 3), tessera.Matrix(b, 3), np.zeros((7, 7), kind)
            mine = np.tri(7, dtype=bool) if uplo == "L" else np.tri(7, dtype=bool).T
            for name, factors, expected in (("syrk", (A,), a @ a.T), ("herk", (A,), a @ a.conj().T),
                                            ("syr2k", (A, B), a @ b.T + b @ a.T),
                                            ("her2k", (A, B), a @ b.conj().T + b @ a.conj().T),
                                            ("gemmt", (A, B.T), a @ b.T)):
                x = tessera.Matrix.without_memory((7, 7), kind, 3)
                x.copy(tessera.Matrix(c, 3))
                getattr(x, name)(*factors, beta=2, uplo=uplo)
                if name.startswith("her") and kind.kind == "c":
                    expected = expected + np.diag(-2j * c.diagonal().imag)  # a Hermitian diagonal is real
                self.near(np.where(mine, x.to_numpy(), zero), np.where(mine, expected + 2 * c, zero), name)
            full = np.where(mine, c, c.T)
            x = tessera.Matrix.without_memory((7, 4), kind, 3)
            x.symm(tessera.Matrix(c, 3), B, uplo=uplo)
            self.near(x.to_numpy(), full @ b)
            full = np.where(mine, c, c.conj().T)
            np.fill_diagonal(full, full.diagonal().real)
            x.hemm(tessera.Matrix(c, 3), B, uplo=uplo)
            self.near(x.to_numpy(), full @ b)
            triangle = np.where(mine, c, zero) + 8 * np.eye(7, dtype=kind)
            x.copy(B)
            x.trmm(tessera.Matrix(triangle, 3), uplo=uplo)
            x.trsm(tessera.Matrix(triangle, 3), uplo=uplo, alpha=2)
            self.near(x.to_numpy(), 2 * b)

    def test_solves(self):
        for kind, uplo in itertools.product(KINDS, "LU"):
            a, b = make(7, 7, kind), make(7, 2, kind, "F")
            a = a @ a.conj().T + 7 * np.eye(7, dtype=kind)
            factor = tessera.Matrix(a.copy(order="F"), 3)
            info, x = factor.potrf(uplo=uplo), tessera.Matrix(b.copy(order="F"), 3)
            x.potrs(factor, uplo=uplo)
            self.assertEqual(info.wait(), 0)
            self.near(a @ x.to_numpy(), b)
        self.assertEqual(tessera.Matrix(-np.eye(3)).potrf().wait(), 1)

    def test_other_libraries(self):
        c = np.zeros((4, 4))
        out = tessera.Matrix(OtherArray(c), 2)
        out.gemm(tessera.Matrix(OtherArray(np.eye(4)), 2), tessera.Matrix(np.ones((4, 4)), 2))
        out.wait()
        self.near(c, np.ones((4, 4)))

    def test_what_is_refused(self):
        a, x = tessera.Matrix(np.ones((4, 4)), 2), tessera.Matrix.without_memory((4, 4), tile=2)
        refusals = {
            "gemm: a is a matrix without memory, and its tile \\(0, 0\\) is read": lambda: a.gemm(x, x),
            "gemm: a is of type ndarray, must be a Matrix": lambda: a.gemm(np.ones((4, 4)), x),
            "gemm: trans_a is 'X'": lambda: a.gemm(a, a, trans_a="X"),
            "Matrix: array must be an array with two dimensions": lambda: tessera.Matrix(np.ones(4)),
            "Matrix: array is a masked array": lambda: tessera.Matrix(np.ma.array(np.ones((2, 2)), mask=np.eye(2))),
            "Matrix: array must be writable": lambda: tessera.Matrix(np.ones((8, 8))[::2, ::2]),
            "Matrix: m is -1": lambda: tessera.Matrix.without_memory((-1, 1)),
            "copy: b has 4 rows": lambda: x.copy(tessera.Matrix(np.ones((2, 4)), 2)),
        }
        for text, call in refusals.items():
            with self.assertRaisesRegex(tessera.ArgumentError, text):
                call()
        foreign = np.dtype(float).newbyteorder()
        for elements in (int, foreign):
            with self.assertRaisesRegex(TypeError, "Matrix: elements of " + re.escape(str(np.dtype(elements)))):
                tessera.Matrix(np.ones((2, 2), elements))
        with self.assertRaisesRegex(TypeError, "Matrix: elements of "):
            tessera.Matrix.without_memory((2, 2), foreign)


class Products(Case):
    def test_gemm(self):
        for kind, a, b, c, trans_a, trans_b in itertools.product(KINDS, STORAGE, STORAGE[:2], STORAGE, "NTC", "NTC"):
            if kind.char in "fF" and a != c:
                continue  # the precision decides nothing but the function
            A = make(*((20, 17) if trans_a == "N" else (17, 20)), kind, a)
            B = make(*((17, 33) if trans_b == "N" else (33, 17)), kind, b)
            C = make(20, 33, kind, c)
            expected = 2 * op(A, trans_a) @ op(B, trans_b) + 3 * C
            result = tessera.gemm(A, B, C, alpha=2, beta=3, trans_a=trans_a, trans_b=trans_b.lower())
            self.assertIs(result, C)
            self.near(C, expected.astype(kind), (kind, a, b, c, trans_a, trans_b))

    def test_new_result(self):
        for kind, a, b in itertools.product(KINDS, STORAGE, STORAGE):
            A, B = make(5, 7, kind, a), make(7, 4, kind, b)
            self.near(tessera.gemm(A, B), A @ B)

    def test_what_is_around_a_part_is_left_alone(self):
        for order in "CF":
            whole = np.full((30, 30), 7.0, order=order)
            A, B = make(10, 5, KINDS[1]), make(5, 12, KINDS[1])
            tessera.gemm(A, B, whole[3:13, 8:20])
            expected = np.full((30, 30), 7.0)
            expected[3:13, 8:20] = A @ B
            self.near(whole, expected)

    def test_types(self):
        integers = np.arange(12).reshape(3, 4)
        result = tessera.gemm(integers, integers.T)
        self.near(result, (integers @ integers.T).astype(float))
        single, double = make(3, 4, KINDS[0]), make(4, 3, KINDS[1])
        self.near(tessera.gemm(single, double), single @ double)
        self.near(tessera.gemm(single.astype(complex), double), single.astype(complex) @ double)
        self.near(tessera.gemm(double.astype(">f8"), single.astype(">f4").astype("f8")), double @ single.astype("f8"))
        self.near(tessera.gemm([[1, 2], [3, 4]], [[1.5], [2]]), np.array([[5.5], [12.5]]))
        with self.assertRaisesRegex(TypeError, "gemm: arrays of .*float32, float64, complex64 and complex128"):
            tessera.gemm(np.zeros((2, 2), "O"), np.zeros((2, 2)))

    def test_unusual_memory(self):
        row = make(1, 6, KINDS[1])
        same_rows = np.broadcast_to(row, (4, 6))
        self.near(tessera.gemm(same_rows, same_rows.T), same_rows @ same_rows.T)
        unaligned = np.frombuffer(b"x" + make(4, 4, KINDS[1]).tobytes(), "u1")[1:].view("f8").reshape(4, 4)
        self.near(tessera.gemm(unaligned, unaligned), unaligned @ unaligned)
        column = make(9, 8, KINDS[1])[:, 3:4]
        self.near(tessera.gemm(column, column, trans_a="T"), column.T @ column)
        constant = make(4, 4, KINDS[1])
        constant.flags.writeable = False
        self.near(tessera.gemm(constant, constant), constant @ constant)

    def test_empty(self):
        for m, n, k in itertools.product((0, 2), repeat=3):
            C = np.ones((m, n))
            tessera.gemm(np.ones((m, k)), np.ones((k, n)), C, beta=2)
            self.near(C, np.full((m, n), 2.0 + k))

    def test_gemmt(self):
        for kind, a, b, c, uplo in itertools.product(KINDS[1:4:2], STORAGE[:2], STORAGE[:2], STORAGE, "LU"):
            A, B, C = make(9, 5, kind, a), make(9, 5, kind, b), make(9, 9, kind, c)
            before = C.copy()
            tessera.gemmt(A, B, C, beta=2, trans_b="C", uplo=uplo)
            self.triangle_near(C, A @ B.conj().T + 2 * before, uplo, before)

    def test_symmetric(self):
        routines = [(tessera.symm, lambda x: x.T), (tessera.hemm, lambda x: x.conj().T)]
        for kind, a, b, c, side, uplo, (routine, mirror) in itertools.product(
                KINDS, STORAGE, STORAGE[:2], STORAGE[:2], "LR", "LU", routines):
            full = make(11, 11, kind)
            full = full + mirror(full)
            triangle = make(11, 11, kind, a)
            triangle[...] = np.where(np.tri(11, dtype=bool) if uplo == "L" else np.tri(11, dtype=bool).T, full, np.nan)
            B = make(*((11, 6) if side == "L" else (6, 11)), kind, b)
            C = make(*B.shape, kind, c)
            expected = (full @ B if side == "L" else B @ full) + 2 * C
            self.near(routine(triangle, B, C, beta=2, side=side, uplo=uplo), expected, (kind, a, b, c, side, uplo))

    def test_updates(self):
        for kind, a, b, c, trans, uplo in itertools.product(KINDS, STORAGE, STORAGE[:2], STORAGE, "NTC", "LU"):
            A, B, C = make(8, 5, kind, a), make(8, 5, kind, b), make(*((8, 8) if trans == "N" else (5, 5)), kind, c)
            hermitian = [] if trans == "T" and kind.kind == "c" else [(tessera.herk, tessera.her2k, "C")]
            symmetric = [] if trans == "C" and kind.kind == "c" else [(tessera.syrk, tessera.syr2k, "T")]
            for rank_k, rank_2k, mirror in hermitian + symmetric:
                before, message = C.copy(), (kind, a, b, c, trans, uplo, mirror)
                rank_k(A, C, alpha=2, beta=3, trans=trans, uplo=uplo)
                expected = 2 * op(A, trans) @ op(op(A, trans), mirror) + 3 * before
                if mirror == "C" and kind.kind == "c":
                    np.fill_diagonal(expected, expected.diagonal().real + 0 * 1j)
                self.triangle_near(C, expected.astype(kind), uplo, before, message)
                before = C.copy()
                rank_2k(A, B, C, alpha=2, trans=trans, uplo=uplo)
                expected = 2 * op(A, trans) @ op(op(B, trans), mirror)
                self.triangle_near(C, (expected + op(expected, mirror)).astype(kind), uplo, before, message)
        self.near(tessera.syrk(A), np.tril(A @ A.T))

    def test_triangles(self):
        for kind, a, b, side, uplo, trans, diag in itertools.product(KINDS, STORAGE, STORAGE, "LR", "LU", "NTC", "NU"):
            if a != b and (kind.char in "fF" or b not in ("C", "part of F")):
                continue
            A = make(9, 9, kind, a)
            A[...] = A / 9 + 3 * np.eye(9)
            T = np.tril(A) if uplo == "L" else np.triu(A)
            if diag == "U":
                np.fill_diagonal(T, 1)
            B = make(*((9, 4) if side == "L" else (4, 9)), kind, b)
            options = dict(side=side, uplo=uplo, trans=trans, diag=diag)
            before = B.copy()
            product = tessera.trmm(A, B, alpha=2, **options)
            expected = 2 * (op(T, trans) @ B if side == "L" else B @ op(T, trans))
            self.near(product, expected.astype(kind), (kind, a, b, options))
            self.assertTrue(np.array_equal(B, before))
            X = tessera.trsm(A, product, alpha=0.5, **options)
            self.near(X, B.copy(), (kind, a, b, options))
            Y = tessera.trsm(A, B, overwrite_b=True, **options)
            if b in STORAGE[:4]:
                self.assertIs(Y, B)
            self.near(op(T, trans) @ Y if side == "L" else Y @ op(T, trans), before, (kind, a, b, options))


class Solvers(Case):
    def system(self, kind, a, b, positive=False):
        A = make(20, 20, kind, a)
        A[...] = A @ A.conj().T / 20 + np.eye(20) if positive else A + 20 * np.eye(20)
        return A, make(20, 3, kind, b)

    def test_cholesky(self):
        for kind, a, b, uplo, overwrite in itertools.product(KINDS, STORAGE, STORAGE, "LU", (False, True)):
            A, B = self.system(kind, a, b, positive=True)
            before, right = A.copy(), B.copy()
            factor = tessera.cholesky(A, uplo=uplo, overwrite_a=overwrite)
            self.near(factor @ factor.conj().T if uplo == "L" else factor.conj().T @ factor, before)
            self.assertTrue(np.array_equal(factor, np.tril(factor) if uplo == "L" else np.triu(factor)))
            self.assertTrue(overwrite or np.array_equal(A, before))
            X = tessera.cho_solve(factor, B, uplo=uplo, overwrite_b=overwrite)
            self.near(before @ X, right)
            self.assertTrue(overwrite or np.array_equal(B, right))
            X = tessera.solve(before, right.copy(), assume_a="pos", uplo=uplo, overwrite_b=overwrite)
            self.near(before @ X, right)

    def test_triangles(self):
        for kind, a, b, overwrite in itertools.product(KINDS, STORAGE, STORAGE, (False, True)):
            A, right = self.system(kind, a, b)
            for uplo, trans, diag in itertools.product("LU", "NTC", "NU"):
                triangle = np.tril(A) if uplo == "L" else np.triu(A)
                if diag == "U":
                    triangle = triangle / 100  # so that the solution does not grow
                    np.fill_diagonal(triangle, 1)
                B = right.copy()
                X = tessera.solve_triangular(triangle, B, uplo=uplo, trans=trans, diag=diag, overwrite_b=overwrite)
                self.near(op(triangle, trans) @ X, right)
                self.assertTrue(overwrite or np.array_equal(B, right))
        A[4, 4] = 0
        with self.assertRaisesRegex(np.linalg.LinAlgError, "element 4 of its diagonal is zero"):
            tessera.solve_triangular(A, right)

    def test_lu(self):
        for kind, a, b, overwrite in itertools.product(KINDS, STORAGE, STORAGE, (False, True)):
            A, B = self.system(kind, a, b)
            A[:] = A[::-1].copy()  # so that rows are exchanged
            before, right = A.copy(), B.copy()
            lu, pivots = tessera.lu_factor(A, overwrite_a=overwrite)
            rows = np.arange(20)
            for i, j in enumerate(pivots):
                rows[[i, j]] = rows[[j, i]]
            self.near((np.tril(lu, -1) + np.eye(20, dtype=kind)) @ np.triu(lu), before[rows])
            for trans in "NTC":
                X = tessera.lu_solve((lu, pivots), right, trans=trans)
                self.near(op(before, trans) @ X, right)
            self.near(before @ tessera.solve(before, right), right)
            self.near(before @ tessera.solve(before.copy(), B, overwrite_a=True, overwrite_b=overwrite), right)
            self.assertTrue(overwrite or np.array_equal(A, before))

    def test_exchanges(self):
        for kind, a, overwrite in itertools.product(KINDS, STORAGE, (False, True)):
            A = make(9, 5, kind, a)
            before, pivots, rows = A.copy(), np.array([4, 1, 8, 3, 7]), np.arange(9)
            for i, j in enumerate(pivots):
                rows[[i, j]] = rows[[j, i]]
            exchanged = tessera.laswp(A, pivots, overwrite_a=overwrite)
            self.assertTrue(np.array_equal(exchanged, before[rows]), (kind, a, overwrite))
            self.assertTrue(overwrite or np.array_equal(A, before))
            self.assertTrue(np.array_equal(tessera.laswp(exchanged, pivots, inverse=True), before))

    def test_lu_without_pivots(self):
        for kind, a, b, overwrite in itertools.product(KINDS, STORAGE, STORAGE, (False, True)):
            A, B = self.system(kind, a, b)
            before, right = A.copy(), B.copy()
            lu, growth = tessera.lu_factor_nopiv(A, overwrite_a=overwrite)
            self.near((np.tril(lu, -1) + np.eye(20, dtype=kind)) @ np.triu(lu), before)
            magnitude = lambda x: np.max(np.abs(x.real) + np.abs(x.imag))
            self.assertAlmostEqual(growth, magnitude(np.triu(lu)) / magnitude(before), places=5)
            self.assertTrue(overwrite or np.array_equal(A, before))
            for trans in "NTC":
                self.near(op(before, trans) @ tessera.lu_solve_nopiv(lu, right, trans=trans), right)
            X, again = tessera.solve_nopiv(before, B, overwrite_b=overwrite)
            self.near(before @ X, right)
            self.assertAlmostEqual(again, growth, places=5)  # rows and columns may be exchanged

    def test_triangular_inverses(self):
        for kind, a, uplo, diag, overwrite in itertools.product(KINDS, STORAGE, "LU", "NU", (False, True)):
            A, _ = self.system(kind, a, "C")
            before, triangle = A.copy(), np.tril(A) if uplo == "L" else np.triu(A)
            if diag == "U":
                np.fill_diagonal(triangle, 1)
                A *= 0.1
                triangle = np.where(np.eye(20) == 0, triangle * kind.type(0.1), triangle)
                before = A.copy()
            inverse = tessera.trtri(A, uplo=uplo, diag=diag.lower(), overwrite_a=overwrite)
            self.near(triangle @ inverse, np.eye(20, dtype=kind), (kind, a, uplo, diag))
            self.assertTrue(np.array_equal(inverse, np.tril(inverse) if uplo == "L" else np.triu(inverse)))
            self.assertTrue(overwrite or np.array_equal(A, before))

    def test_inverses_from_a_factor(self):
        for kind, a, uplo, overwrite in itertools.product(KINDS, STORAGE, "LU", (False, True)):
            A, _ = self.system(kind, a, "C", positive=True)
            factor = tessera.cholesky(A, uplo=uplo)
            product = factor.conj().T @ factor if uplo == "L" else factor @ factor.conj().T
            part = np.tril if uplo == "L" else np.triu
            self.near(tessera.lauum(factor, uplo=uplo), part(product))
            A[...] = factor
            half = tessera.potri(A, uplo=uplo, overwrite_factor=overwrite)
            self.assertTrue(np.array_equal(half, part(half)))
            self.assertTrue(overwrite or np.array_equal(A, factor))
            inverse = half + half.conj().T - np.diag(np.diag(half))
            self.near(inverse @ (factor @ factor.conj().T if uplo == "L" else factor.conj().T @ factor),
                      np.eye(20, dtype=kind))

    def test_vectors(self):
        A, B = self.system(KINDS[1], "C", "C")
        self.near(A @ tessera.solve(A, B[:, 0]), B[:, 0])
        self.assertEqual(tessera.solve(A, B[:, 0]).shape, (20,))
        self.near(A @ tessera.lu_solve(tessera.lu_factor(A), B[:, 1]), B[:, 1])
        self.near(A @ tessera.inv(A), np.eye(20))

    def test_rectangle(self):
        A = make(9, 5, KINDS[1])
        lu, pivots = tessera.lu_factor(A)
        self.assertEqual((lu.shape, pivots.shape), ((9, 5), (5,)))

    def test_qr_and_least_squares(self):
        for kind, a, b, shape, overwrite in itertools.product(KINDS, STORAGE, STORAGE[:4], ((9, 5), (5, 9)), (False, True)):
            A, B = make(*shape, kind, a), make(shape[0], 2, kind, b)
            before, right = A.copy(), B.copy()
            q, r = tessera.qr(A, overwrite_a=overwrite)
            self.near(q @ r, before, (kind, a, shape))
            self.near(q.conj().T @ q, np.eye(5, dtype=kind))
            self.assertTrue(np.array_equal(r, np.triu(r)))
            self.assertTrue(overwrite or np.array_equal(A, before))
            x = tessera.lstsq(before, B, overwrite_b=overwrite)
            self.near(before.conj().T @ (before @ x), before.conj().T @ right, (kind, a, b, shape))
            self.near(x, (np.linalg.pinv(before) @ right).astype(kind))
            self.assertTrue(overwrite or np.array_equal(B, right))
            self.assertEqual(tessera.lstsq(before, right[:, 0]).shape, shape[1:])
        with self.assertRaisesRegex(np.linalg.LinAlgError, "not full rank: element 1"):
            tessera.lstsq(np.eye(3, 2) @ np.diag([1, 0]), np.ones(3))

    def test_no_factor(self):
        A = np.eye(5)
        A[3, 3] = -1
        with self.assertRaisesRegex(np.linalg.LinAlgError, "order 4 is not positive"):
            tessera.cholesky(A)
        with self.assertRaisesRegex(np.linalg.LinAlgError, "order 4 is not positive"):
            tessera.solve(A, np.ones(5), assume_a="pos")
        A[3, 3] = 0
        with self.assertRaisesRegex(np.linalg.LinAlgError, "singular: element 3"):
            tessera.solve(A, np.ones(5))
        with self.assertRaises(np.linalg.LinAlgError):
            tessera.inv(A)
        self.assertEqual(tessera.lu_factor(A)[0][3, 3], 0)
        for function in (tessera.lu_factor_nopiv, lambda a: tessera.solve_nopiv(a, np.ones(5)), tessera.trtri,
                         lambda a: tessera.potri(a, uplo="U")):
            with self.assertRaisesRegex(np.linalg.LinAlgError, "singular: element 3"):
                function(A)
        self.assertEqual(tessera.trtri(A, diag="U")[3, 3], 1)


class Copies(Case):
    def test_none_of_either_order(self):
        for storage, order in itertools.product(STORAGE[:4], "CF"):
            x = make(8, 5, KINDS[3], storage)
            (used,), trans = _arrays.factors([x], "N", x.dtype, order)
            self.assertTrue(np.shares_memory(used[0], x))
            self.assertEqual((used[1], trans), ((16 if storage == "part of F" else 8 if storage == "F" else
                                                 10 if storage == "part of C" else 5),
                                                "N" if storage.endswith(order) else "T"))
        A = make(8, 8, KINDS[1], "F")
        used, uplo, trans = _arrays.triangle(A, "L", A.dtype, "C", "N")
        self.assertTrue(np.shares_memory(used[0], A))
        self.assertEqual((uplo, trans), ("U", "T"))

    def test_results_have_the_order_of_the_inputs(self):
        for order in "CF":
            A = make(8, 5, KINDS[1], order)
            self.assertEqual(_arrays.order_of(tessera.gemm(A, A.T)), order)
            self.assertEqual(_arrays.order_of(tessera.trmm(make(8, 8, KINDS[1]), A)), order)


class Errors(Case):
    def refused(self, text, function, *arguments, **options):
        with self.assertRaises(tessera.ArgumentError) as caught:
            function(*arguments, **options)
        self.assertEqual(str(caught.exception), text)
        self.assertIsInstance(caught.exception, ValueError)
        return caught.exception

    def test_arguments(self):
        A, B, C = np.ones((4, 3)), np.ones((3, 5)), np.ones((4, 5))
        error = self.refused("gemm: b has 4 rows with trans_b='N', must have 3, the columns of a with trans_a='N'",
                             tessera.gemm, A, A)
        self.assertEqual((error.routine, error.argument), ("gemm", "b"))
        self.refused("gemm: c is 5 x 4, must be 4 x 5", tessera.gemm, A, B, C.T)
        self.refused("gemm: a has 1 dimensions, must have 2", tessera.gemm, A[0], B)
        self.refused("gemm: trans_a is 'X', must be one of N, T, C", tessera.gemm, A, B, trans_a="X")
        self.refused("gemm: c has elements of type float32, must have float64", tessera.gemm, A, B, C.astype("f"))
        self.refused("gemm: c is of type list, must be an array of NumPy or another library", tessera.gemm, A, B, C.tolist())
        self.refused("gemm: alpha is 1j, must be real here", tessera.gemm, A, B, alpha=1j)
        self.refused("herk: beta is 1j, must be real here", tessera.herk, A + 0j, np.eye(4) + 0j, beta=1j)
        with self.assertRaisesRegex(tessera.ArgumentError, "^gemm: beta is .*1j.*, must be real here"):
            tessera.gemm(A, B, C, beta=np.complex64(1j))
        self.refused("gemm: alpha is None, must be a number", tessera.gemm, A, B, alpha=None)
        self.refused("trmm: b is 4 x 3, must be 3 x any", tessera.trmm, np.eye(3), A)
        self.refused("trsm: diag is 1, must be one of N, U", tessera.trsm, np.eye(4), A, diag=1)
        self.refused("cholesky: a is 4 x 3, must be 4 x 4", tessera.cholesky, A)
        self.refused("solve: b has shape (3,), must be a vector of 4 elements or a matrix of 4 rows",
                     tessera.solve, np.eye(4), np.ones(3))
        masked, lost = np.ma.array(A, mask=A > 0), "is a masked array, which has no values where it is masked: use x.filled(value)"
        self.refused(f"gemm: a {lost}", tessera.gemm, masked, B)
        self.refused(f"gemm: c {lost}", tessera.gemm, A, B, np.ma.array(C, mask=C > 0))
        self.refused(f"solve: b {lost}", tessera.solve, np.eye(4), masked)
        self.refused("gemm: beta is 2, must be 0 without c", tessera.gemm, A, B, beta=2)
        self.refused("lu_solve: lu_and_pivots must be the pair (lu, pivots) that lu_factor returns",
                     tessera.lu_solve, np.eye(4), np.ones(4))
        self.refused("lu_solve: pivots must be 4 rows of the matrix, counted from 0",
                     tessera.lu_solve, (np.eye(4), [0, 1, 2, 4]), np.ones(4))
        self.refused("laswp: pivots must be at most 4 indices of rows, from 0 to 3", tessera.laswp, A, [0, -1])
        self.refused("trtri: a is 4 x 3, must be 4 x 4", tessera.trtri, A)
        self.refused("potri: factor is 4 x 3, must be 4 x 4", tessera.potri, A)
        self.refused("lauum: uplo is 'X', must be one of U, L", tessera.lauum, np.eye(4), uplo="X")
        self.refused("lu_solve_nopiv: b has shape (3,), must be a vector of 4 elements or a matrix of 4 rows",
                     tessera.lu_solve_nopiv, np.eye(4), np.ones(3))
        C.flags.writeable = False
        self.refused("gemm: c cannot be written", tessera.gemm, A, B, C)

    def test_what_the_library_refuses(self):
        A = np.ones((4, 4))
        with self.assertRaisesRegex(tessera.ArgumentError, "^gemm: c shares memory with the input"):
            tessera.gemm(A, A, A)
        with self.assertRaisesRegex(tessera.ArgumentError, "^syrk: trans is 'C', must be one of N, T"):
            tessera.syrk(A.astype(complex), trans="C")
        with self.assertRaisesRegex(tessera.ArgumentError, "^init: cpus is -2"):
            tessera.init(cpus=-2)

    def test_library_that_is_not_there(self):
        environment = dict(os.environ, TESSERA_LIBRARY="/nonexistent/libtessera.so")
        child = subprocess.run([sys.executable, "-B", "-s", "-c", "import tessera"], env=environment,
                               capture_output=True, text=True)
        self.assertIn("TESSERA_LIBRARY may name the file libtessera.so.0; it is '/nonexistent/libtessera.so' now",
                      child.stderr)


class Kept(Case):
    def test_products_of_kept_arrays(self):
        for order in "CF":
            A, B, C = make(40, 30, KINDS[1], order), make(30, 20, KINDS[1], "C"), np.empty((40, 20), order=order)
            for x in (A, B, C):
                tessera.keep(x)
            tessera.keep(A)
            for changes in (A, A[3], A[:, 2], A[1:7, 3:5], A[::2, ::3], A[::-1], A[5:2:-1, 1], A[:0]):
                changes[...] += 1
                tessera.changed(changes)
                self.near(tessera.gemm(A, B, C), A @ B)
            for x in (A, B, C):
                tessera.forget(x)
            with self.assertRaisesRegex(tessera.ArgumentError, "^forget: a is not the start of a kept matrix"):
                tessera.forget(A)

    def test_outputs_that_are_copied_back(self):
        A = make(20, 20, KINDS[1], "C")
        tessera.keep(A)
        self.near(tessera.gemm(A, A), A @ A)
        tessera.gemm(np.eye(10), 2 * np.eye(10), A[::2, ::2])
        self.near(A[::2, ::2], 2 * np.eye(10))
        self.near(tessera.gemm(A, A), A @ A)
        fields = np.zeros((20, 20), dtype=[("tag", "i4"), ("value", "f8")])["value"]
        self.near(tessera.gemm(A, A, fields), A @ A)
        tessera.forget(A)

    def test_what_cannot_be_kept(self):
        for x, problem in ((np.zeros(3, int), "has elements of type int64"), (np.zeros((2, 2, 2)), "has 3 dimensions"),
                           (np.zeros((6, 6))[::2, ::2], "has neither contiguous rows nor contiguous columns"),
                           ([1.0], "is of type list, must be a NumPy array")):
            with self.assertRaisesRegex(tessera.ArgumentError, "^keep: a " + problem):
                tessera.keep(x)


class Pinned(Case):
    def test_products_of_pinned_arrays(self):
        A, B = make(40, 30, KINDS[1], "F"), make(30, 20, KINDS[1], "backwards")
        with tessera.pinned(A, B, np.empty((0, 3))):
            self.near(tessera.gemm(A, B), A @ B)
            with self.assertRaisesRegex(tessera.ArgumentError, "^host_register: data begins a range that overlaps"):
                with tessera.pinned(A[3:]):
                    self.fail("memory was registered twice")
        with tessera.pinned(A[3:]):  # it is registered no longer
            pass
        with self.assertRaisesRegex(tessera.ArgumentError, "^pinned: arrays has an element of type list"):
            with tessera.pinned([1.0]):
                pass

    def test_extent(self):
        x = np.zeros((6, 8))
        for part in (x, x.T, x[1:4, 2:5], x[::-2, ::3], x[4:1:-1, ::-1]):
            first, size = _arrays.extent(part)
            addresses = [part[i:, j:].ctypes.data for i in range(part.shape[0]) for j in range(part.shape[1])]
            self.assertEqual((first, first + size), (min(addresses), max(addresses) + 8))


SIGNALS = """
import os, signal
import numpy as np
before = os.listdir("/proc/self/task")
import tessera
tessera.gemm(np.ones((50, 50)), np.ones((50, 50)))
waited_for = 1 << (signal.SIGTERM - 1) | 1 << (signal.SIGINT - 1)
new = [task for task in os.listdir("/proc/self/task") if task not in before]
assert new, "no workers"
for task in new:
    with open(f"/proc/self/task/{task}/status") as status:
        mask = next(line.split()[1] for line in status if line.startswith("SigBlk:"))
    assert int(mask, 16) & waited_for == waited_for, (task, mask)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
os.kill(os.getpid(), signal.SIGTERM)
print("got", signal.Signals(signal.sigwait({signal.SIGTERM})).name)
"""


class Library(Case):
    def test_runtime(self):
        tessera.init()
        tessera.finalize()

    def test_finalize_after_a_start_that_nobody_asked_for(self):
        A = make(40, 40, KINDS[1])
        for _ in range(2):
            self.near(tessera.gemm(A, A), A @ A)
            tessera.finalize()
            with self.assertRaisesRegex(tessera.RuntimeFailure, "neither tessera_init nor a routine has started it"):
                tessera.finalize()

    def test_threads_take_no_signals(self):
        """Runs in a separate process without threads of NumPy's BLAS, since these would belong to the program."""
        child = subprocess.run([sys.executable, "-B", "-s", "-c", SIGNALS], capture_output=True, text=True,
                               env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
        self.assertEqual((child.stdout, child.stderr), ("got SIGTERM\n", ""))

    def test_threads(self):
        A, B = make(40, 40, KINDS[1]), make(40, 40, KINDS[1])
        results = [None] * 4

        def work(i):
            results[i] = tessera.gemm(A, B)
        threads = [threading.Thread(target=work, args=[i]) for i in range(len(results))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            self.near(result, A @ B)

    def test_version(self):
        project = (source / "src/python/pyproject.toml").read_text()
        self.assertEqual([tessera.__version__, re.search(r'^version = "(.*)"', project, re.MULTILINE)[1]],
                         [version, version])
        self.assertEqual(_library.SONAME, "libtessera.so." + version.split(".")[0])

    def test_header(self):
        """Each function on pointers of tessera.h is in the table, with its arguments."""
        sys.path.insert(0, str(source / "src/fortran"))
        import prototypes
        header = (source / "include/tessera/tessera.h").read_text()
        simple = {"float": ctypes.c_float, "double": ctypes.c_double, "int64_t": ctypes.c_int64,
                  "int64_t*": ctypes.POINTER(ctypes.c_int64)}
        wanted = {}
        for routine in prototypes.routines(header):
            wanted[routine.base, routine.letter] = [
                (p.name, ctypes.c_int if p.type.startswith("tessera_") else
                 ctypes.c_void_p if p.name == "ipiv" else simple.get(p.type, ctypes.c_void_p))
                for p in routine.parameters]
        table = {(routine, letter): list(zip((name.split(":")[-1] for name in arguments.split()),
                                             _library.argument_types(routine, letter)))
                 for routine, (letters, arguments) in _library.ROUTINES.items() for letter in letters}
        missing = sorted({base for base, letter in wanted.keys() - table.keys()})
        self.assertFalse(missing, "ROUTINES in src/python/tessera/_library.py lacks these of tessera.h")
        self.assertEqual(table, wanted)
        self.assertEqual(_library.functions_by_type.keys(), wanted.keys())
        for routine, arguments in _matrix.ROUTINES.items():
            parameters = re.search(rf"tessera_{routine}_submit\(([^)]*)\)", header)[1].split(",")
            names = [re.search(r"\w+$", p)[0].replace("result", "info") for p in parameters]
            self.assertEqual([name.split(":")[-1] for name in arguments.split()], names)
        names = {"C": "TESSERA_CONJ_TRANS", "N": "TESSERA_NO_TRANS", "T": "TESSERA_TRANS"}
        values = prototypes.enumerators(header)
        self.assertEqual(_library.OPTIONS["op"], {letter: values[name] for letter, name in names.items()})
        self.assertEqual(sorted(value for name in ("layout", "op", "uplo", "diag", "side")
                                for value in _library.OPTIONS[name].values()), sorted(values.values()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
