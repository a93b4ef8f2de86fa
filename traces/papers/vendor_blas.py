# SPDX-License-Identifier: BSD-3-Clause
"""The few operations of OpenBLAS and of cuBLAS that triangle_inverses.py needs, without NumPy. Matrices lie column by column
without gaps; an operand is an address."""

import array
import ctypes
import os


def library(names):
    folders = ["", os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "lib64", "")]
    for path in [folder + name for name in names for folder in folders]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise SystemExit(f"vendor_blas: found no {names[0]}")


class Host:
    """OpenBLAS on one core. Matrices are arrays, column by column; an operand is an address."""

    def __init__(self, letter="d"):
        self.blas = library([os.environ.get("TESSERA_HOST_BLAS") or "libopenblas.so.0"])
        self.blas.openblas_set_num_threads(1)
        self.letter, (self.code, self.scalar) = letter, {"s": ("f", ctypes.c_float), "d": ("d", ctypes.c_double)}[letter]
        self.size = ctypes.sizeof(self.scalar)

    def matrix(self, values):
        return array.array(self.code, values)

    def zeros(self, count):
        return array.array(self.code, bytes(count * self.size))

    def at(self, matrix, ld, i=0, j=0):
        return matrix.buffer_info()[0] + (i + j * ld) * self.size

    def gemm(self, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
        getattr(self.blas, f"cblas_{self.letter}gemm")(  # 102: column-major, 111: not transposed
            102, 111, 111, m, n, k, self.scalar(alpha), ctypes.c_void_p(a), lda, ctypes.c_void_p(b), ldb, self.scalar(beta),
            ctypes.c_void_p(c), ldc)

    def trsm(self, m, n, a, lda, b, ldb):
        getattr(self.blas, f"cblas_{self.letter}trsm")(  # 141: left, 122: lower, 131: not unit
            102, 141, 122, 111, 131, m, n, self.scalar(1), ctypes.c_void_p(a), lda, ctypes.c_void_p(b), ldb)

    def gemms(self, count, order, alpha, a, lda, step_a, b, ldb, step_b, c, ldc, step_c):
        """C ← α A B for `count` squares, each a step of elements after the one before."""
        for i in range(count):
            at = [first + i * step * self.size for first, step in ((a, step_a), (b, step_b), (c, step_c))]
            self.gemm(order, order, order, alpha, at[0], lda, at[1], ldb, 0, at[2], ldc)

    def trsms(self, count, order, a, b, ld):
        """Solves with `count` squares on the diagonal of A, for those of B."""
        for i in range(count):
            step = i * order * (ld + 1) * self.size
            self.trsm(order, order, a + step, ld, b + step, ld)

    def assign(self, to, source):
        to[:] = source
        return to

    def wait(self):
        pass


class Gpu:
    """cuBLAS in double precision. Matrices are addresses in the memory of the GPU."""

    def __init__(self):
        versions = ["", ".13", ".12", ".11"]
        self.cuda = library(["libcudart.so" + v for v in versions])
        self.blas = library(["libcublas.so" + v for v in versions])
        self.size, self.counts = 8, {}
        self.handle = ctypes.c_void_p()
        self.check(self.blas.cublasCreate_v2(ctypes.byref(self.handle)))
        self.pointers = {}

    @staticmethod
    def check(status):
        if status != 0:
            raise SystemExit(f"vendor_blas: CUDA or cuBLAS failed with status {status}")

    def allocate(self, count):
        address = ctypes.c_void_p()
        self.check(self.cuda.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(count * self.size)))
        self.counts[address.value] = count
        return address.value

    def move(self, to, source, count, kind):
        self.check(self.cuda.cudaMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(count * self.size), kind))

    def matrix(self, values):
        values = array.array("d", values)
        address = self.allocate(len(values))
        self.move(address, values.buffer_info()[0], len(values), 1)
        return address

    def zeros(self, count):
        address = self.allocate(count)
        self.check(self.cuda.cudaMemset(ctypes.c_void_p(address), 0, ctypes.c_size_t(count * self.size)))
        return address

    def at(self, matrix, ld, i=0, j=0):
        return matrix + (i + j * ld) * self.size

    @staticmethod
    def number(value):
        return ctypes.byref(ctypes.c_double(value))

    def gemm(self, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
        self.check(self.blas.cublasDgemm_v2(
            self.handle, 0, 0, m, n, k, self.number(alpha), ctypes.c_void_p(a), lda, ctypes.c_void_p(b), ldb,
            self.number(beta), ctypes.c_void_p(c), ldc))

    def trsm(self, m, n, a, lda, b, ldb):  # 0: left, lower, not transposed, not unit
        self.check(self.blas.cublasDtrsm_v2(self.handle, 0, 0, 0, 0, m, n, self.number(1), ctypes.c_void_p(a), lda,
                                            ctypes.c_void_p(b), ldb))

    def gemms(self, count, order, alpha, a, lda, step_a, b, ldb, step_b, c, ldc, step_c):
        step = ctypes.c_longlong
        self.check(self.blas.cublasDgemmStridedBatched(
            self.handle, 0, 0, order, order, order, self.number(alpha), ctypes.c_void_p(a), lda, step(step_a),
            ctypes.c_void_p(b), ldb, step(step_b), self.number(0), ctypes.c_void_p(c), ldc, step(step_c), count))

    def trsms(self, count, order, a, b, ld):
        if (a, b) not in self.pointers:  # kept, so that only the first call waits for the copy
            step = order * (ld + 1) * self.size
            values = array.array("q", [first + i * step for first in (a, b) for i in range(count)])
            self.pointers[a, b] = self.allocate(2 * count)
            self.move(self.pointers[a, b], values.buffer_info()[0], 2 * count, 1)
        of_a, of_b = self.pointers[a, b], self.pointers[a, b] + count * 8
        self.check(self.blas.cublasDtrsmBatched(self.handle, 0, 0, 0, 0, order, order, self.number(1), ctypes.c_void_p(of_a),
                                                ld, ctypes.c_void_p(of_b), ld, count))

    def assign(self, to, source):
        self.move(to, source, self.counts[source], 3)
        return to

    def wait(self):
        self.check(self.cuda.cudaDeviceSynchronize())
