# SPDX-License-Identifier: BSD-3-Clause
"""Python: products of arrays of CuPy, PyTorch, JAX and NumPy, in the memory where the arrays are. For each of these libraries
that is installed, or for those that are named, compares Tessera's results with those of the library's own matmul, and for SIZE
also the times:
  PYTHONPATH=PREFIX/lib/tessera/python python3 17_gpu_arrays.py [SIZE [numpy|cupy|torch|jax ...]]"""
import importlib.util
import itertools
import statistics
import sys
import time

import numpy as np

import tessera


class Library:
    """A library of arrays, on its first GPU if it has one."""
    def __init__(self, name):
        self.name, self.module, self.results = name, importlib.import_module("jax.numpy" if name == "jax" else name), np
        if name == "jax":
            jax = importlib.import_module("jax")
            jax.config.update("jax_enable_x64", True)
            if jax.default_backend() == "gpu" and importlib.util.find_spec("cupy"):
                self.results = importlib.import_module("cupy")
        self.options = {"precision": "highest"} if name == "jax" else {}  # no TF32
        self.device = "cuda" if name == "torch" and self.module.cuda.is_available() else "cpu"

    def array(self, x):
        return self.module.from_numpy(x.copy()).to(self.device) if self.name == "torch" else self.module.asarray(x)

    def to_numpy(self, x):
        return x.get() if self.name == "cupy" else x.cpu().numpy() if self.name == "torch" else np.asarray(x)

    def wait(self, x):
        if self.name == "cupy":
            self.module.cuda.Device().synchronize()
        elif self.name == "torch" and self.device == "cuda":
            self.module.cuda.synchronize()
        elif self.name == "jax":
            x.block_until_ready()
        return x

    def matmul(self, a, b):
        return self.wait(self.module.matmul(a, b, **self.options))

    def our_matmul(self, a, b):
        shape = a.shape[0], b.shape[1]
        if self.name == "torch":
            return tessera.gemm(a, b, self.module.empty(shape, dtype=a.dtype, device=a.device))
        if self.name == "jax":  # its arrays are immutable, so Tessera writes to one of CuPy or NumPy
            return self.module.from_dlpack(tessera.gemm(a, b, self.results.empty(shape, a.dtype)))
        return tessera.gemm(a, b, self.module.empty(shape, a.dtype))


def operands(random, kind, m, n, k):
    """Two matrices, and a function that makes the factors of them: themselves, their transposes, or parts of them."""
    def values(rows, columns):
        x = random.standard_normal((rows, columns))
        return (x + 1j * random.standard_normal((rows, columns)) if kind in "FD" else x).astype(kind)
    yield values(m, k), values(k, n), lambda a, b: (a, b)
    yield values(k, m), values(n, k), lambda a, b: (a.T, b.T)
    yield values(m + 3, k + 2), values(k, n + 5), lambda a, b: (a[3:, 2:], b[:, 5:])


def seconds(library, multiply, *arguments):
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        multiply(*arguments)
        times.append(time.perf_counter() - begin)
    return statistics.median(times[2:])


def compare(library):
    """Returns the largest error of both products, divided by a bound for rounding, over types, sizes and layouts."""
    random, worst = np.random.default_rng(1), 0
    for kind, (m, n, k) in itertools.product("fdFD", [(1, 1, 1), (5, 3, 4), (200, 100, 300), (513, 257, 129)]):
        for a, b, view in operands(random, kind, m, n, k):
            expected = np.matmul(*view(a.astype("D"), b.astype("D")))
            x, y = view(library.array(a), library.array(b))
            for product in library.our_matmul(x, y), library.matmul(x, y):
                error = np.max(np.abs(library.to_numpy(product) - expected))
                allowed = 8 * (k + 2) * np.finfo(kind).eps * np.max(np.abs(a)) * np.max(np.abs(b))
                worst = max(worst, error / allowed) if error == error else np.inf
    return worst


right, size = True, int(sys.argv[1]) if len(sys.argv) > 1 else 0
for name in sys.argv[2:] or ("numpy", "cupy", "torch", "jax"):
    try:
        library = Library(name)
    except ImportError:
        print(f"{name:8} is not installed")
        continue
    worst = compare(library)
    right = right and worst <= 1
    print(f"{name:8} {worst:9.2e} of the allowed error  {'right' if worst <= 1 else 'WRONG'}")
    if size > 0:
        a, b = (library.array(np.random.default_rng(seed).standard_normal((size, size))) for seed in (1, 2))
        theirs, ours = (seconds(library, multiply, a, b) for multiply in (library.matmul, library.our_matmul))
        print(f"         doubles of order {size}: {name} {1e3 * theirs:.2f} ms, Tessera {1e3 * ours:.2f} ms")
sys.exit(0 if right else 1)
