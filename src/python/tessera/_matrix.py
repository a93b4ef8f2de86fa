# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of tiles, for chains of calls that return at once."""
import ctypes

import numpy as np

from ._arrays import LETTERS, leading_dimension, letters, unmasked
from ._library import OPTIONS, ROUTINES as POINTER_ROUTINES, ArgumentError, RuntimeFailure, checked, library, number
from ._on_gpu import located

# The functions of tessera.h on matrices: the arguments of those on pointers, without what a matrix says itself. The last
# matrix is the output.
SAID_BY_MATRICES = {"layout", "m", "n", "k", "nrhs", "lda", "ldb", "ldc"}
ROUTINES = {name: " ".join(argument for argument in POINTER_ROUTINES[name][1].split() if argument not in SAID_BY_MATRICES)
            for name in "gemm gemmt symm hemm syrk herk syr2k her2k trmm trsm potrf potrs".split()}
ROUTINES["copy"] = "A B"

Handle, Size = ctypes.c_void_p, ctypes.c_int64


def function(name, *types):
    """A function of the library that returns a status. An older library may lack it."""
    found = getattr(library, "tessera_" + name, None)
    if found is None:
        def found(*_):
            raise RuntimeFailure(f"this libtessera.so has no tessera_{name}")
        return found
    found.argtypes, found.restype = types, ctypes.c_int
    return found


create = function("matrix_create", ctypes.c_char, Handle, Size, Size, Size, Size, Size, ctypes.POINTER(Handle))
create_without_memory = function("matrix_create_without_memory", ctypes.c_char, Size, Size, Size, Size,
                                 ctypes.POINTER(Handle))
transposed = function("matrix_transposed", Handle, ctypes.c_int, ctypes.POINTER(Handle))
destroy, wait = function("matrix_destroy", Handle), function("matrix_wait", Handle)
wait_for_info = function("info_wait", Handle, ctypes.POINTER(Size))
library.tessera_info_destroy.argtypes, library.tessera_info_destroy.restype = [Handle], None


def made(make, *arguments):
    """The handle that a function makes."""
    handle = Handle()
    checked("Matrix", make(*arguments, ctypes.byref(handle)))
    return handle


def submit(routine, letter, **values):
    """Calls the function on matrices of this name. `values` are its arguments, named as in the header. Returns the info, or
    None if the function has none."""
    arguments, info, kept = [], None, []
    for argument in ROUTINES[routine].split():
        name = argument.split(":")[-1]
        if name in OPTIONS:
            arguments.append(ctypes.c_int(OPTIONS[name][values[name]]))
        elif name == "info":
            info = Info()
            arguments.append(ctypes.byref(info.handle))
        elif name in ("alpha", "beta"):
            of = {"c": "s", "z": "d"}.get(letter, letter) if argument.startswith("real:") else letter
            real = ctypes.c_float if of in "sc" else ctypes.c_double
            kept.append(number(routine, name, values[name], of, real if of in "sd" else ctypes.c_void_p))
            arguments.append(ctypes.byref(kept[-1]))
        elif isinstance(values[name], Matrix):
            arguments.append(values[name].handle)
        else:
            raise ArgumentError(routine, name.lower(), f"is of type {type(values[name]).__name__}, must be a Matrix")
    checked(routine, getattr(library, f"tessera_{routine}_submit")(*arguments))
    return info


class Info:
    """The info of a factorization that has been submitted."""

    def __init__(self):
        self.handle = Handle()

    def wait(self):
        """Waits for the factorization. Returns LAPACK's info, 0 if there are factors."""
        value = Size()
        checked("Info.wait", wait_for_info(self.handle, ctypes.byref(value)))
        return value.value

    def __del__(self, end=library.tessera_info_destroy):  # while Python ends, the module may have no names any more
        end(self.handle)


class Matrix:
    """A matrix of tiles. The methods that compute submit tasks and return. Their effects take place in the order of the
    calls, and what one leaves on the GPUs is used there by the next.

        A, B = tessera.Matrix(a), tessera.Matrix(b)
        X = tessera.Matrix.without_memory((m, n))      # workspace, and results that only the next call needs
        X.gemm(A, B)                                   # X <- a b
        c = (X.T @ X).to_numpy()                       # waits

    Matrix(array) is over the memory of an array with two dimensions and contiguous rows or columns, of NumPy or of another
    library. Nobody may use the array from the first call until `wait`; the end of such a Matrix waits, too. `tile` is the
    size of a tile, or its rows and columns; 0: the library's choice. The operands of a call must be cut into the same
    tiles."""

    def __init__(self, array, tile=0):
        x = located("Matrix", "array", array)
        if not isinstance(x, np.ndarray) or x.ndim != 2:
            raise ArgumentError("Matrix", "array", "must be an array with two dimensions")
        unmasked("Matrix", "array", x)
        by_rows = not leading_dimension(x, "F")
        stored, tiles = (x.T, _pair(tile)[::-1]) if by_rows else (x, _pair(tile))
        ld = leading_dimension(stored, "F")
        if not ld or not x.flags.writeable:
            raise ArgumentError("Matrix", "array", "must be writable, with contiguous rows or columns")
        letter = _letter(x.dtype)
        self._set(made(create, letter.encode(), stored.ctypes.data, *stored.shape, ld, *tiles), letter, stored.shape,
                  tiles, "N", x)
        if by_rows:
            flipped = self.T
            self.handle, flipped.handle = flipped.handle, self.handle
            self.shape, self.tile, self.op = flipped.shape, flipped.tile, flipped.op

    @classmethod
    def without_memory(cls, shape, dtype=np.float64, tile=0):
        """A matrix whose tiles exist where they are computed. An error says if a tile is read before it was written."""
        self, letter, tiles = cls.__new__(cls), _letter(np.dtype(dtype)), _pair(tile)
        return self._set(made(create_without_memory, letter.encode(), *shape, *tiles), letter, tuple(shape), tiles, "N", None)

    def _set(self, handle, letter, shape, tile, op, array):
        self.handle, self.letter, self.shape, self.tile, self.op, self.array = handle, letter, shape, tile, op, array
        return self

    def _seen_through(self, op):
        handle = made(transposed, self.handle, OPTIONS["op"][op])
        real = "T" if self.letter in "sd" else op
        return Matrix.__new__(Matrix)._set(handle, self.letter, self.shape[::-1], self.tile[::-1],
                                           real if self.op == "N" else "N", self.array)

    def __del__(self, end=destroy):
        if hasattr(self, "handle"):
            end(self.handle)

    @property
    def T(self):
        """The transpose, on the same tiles."""
        return self._seen_through("T")

    @property
    def H(self):
        """The conjugate transpose, on the same tiles."""
        return self._seen_through("C")

    @property
    def dtype(self):
        return np.dtype({letter: char for char, letter in LETTERS.items()}[self.letter])

    def wait(self):
        """Waits for the tasks on the tiles, which are then in the array, if there is one."""
        checked("Matrix.wait", wait(self.handle))

    def to_numpy(self):
        """Waits, and returns a copy as an array of NumPy."""
        if self.op != "N":
            return self.T.to_numpy().T if self.op == "T" else self.H.to_numpy().conj().T
        array = np.empty(self.shape, self.dtype, order="F")
        copied = Matrix(array, self.tile)
        copied.copy(self)
        copied.wait()
        return array

    def __matmul__(self, other):
        if not isinstance(other, Matrix):
            return NotImplemented
        product = Matrix.without_memory((self.shape[0], other.shape[1]), self.dtype, (self.tile[0], other.tile[1]))
        product.gemm(self, other)
        return product

    def copy(self, a):
        """self <- a, of the same size and tiles."""
        submit("copy", self.letter, A=a, B=self)

    def gemm(self, a, b, *, alpha=1, beta=0, trans_a="N", trans_b="N"):
        """self <- alpha op(a) op(b) + beta self."""
        op_a, op_b = letters("gemm", trans_a=trans_a, trans_b=trans_b)
        submit("gemm", self.letter, op_a=op_a, op_b=op_b, alpha=alpha, A=a, B=b, beta=beta, C=self)

    def gemmt(self, a, b, *, alpha=1, beta=0, trans_a="N", trans_b="N", uplo="L"):
        """The triangle `uplo` of self <- alpha op(a) op(b) + beta self."""
        op_a, op_b, uplo = letters("gemmt", trans_a=trans_a, trans_b=trans_b, uplo=uplo)
        submit("gemmt", self.letter, uplo=uplo, op_a=op_a, op_b=op_b, alpha=alpha, A=a, B=b, beta=beta, C=self)

    def symm(self, a, b, *, alpha=1, beta=0, side="L", uplo="L"):
        """self <- alpha a b + beta self (side "L") or alpha b a + beta self ("R") with a symmetric a."""
        self._symmetric("symm", a, b, alpha, beta, side, uplo)

    def hemm(self, a, b, *, alpha=1, beta=0, side="L", uplo="L"):
        """Like `symm`, with a Hermitian a."""
        self._symmetric("symm" if self.letter in "sd" else "hemm", a, b, alpha, beta, side, uplo)

    def _symmetric(self, routine, a, b, alpha, beta, side, uplo):
        side, uplo = letters(routine, side=side, uplo=uplo)
        submit(routine, self.letter, side=side, uplo=uplo, alpha=alpha, A=a, B=b, beta=beta, C=self)

    def syrk(self, a, *, alpha=1, beta=0, trans="N", uplo="L"):
        """The triangle `uplo` of self <- alpha op(a) op(a)^T + beta self."""
        self._update("syrk", {"A": a}, alpha, beta, trans, uplo)

    def herk(self, a, *, alpha=1, beta=0, trans="N", uplo="L"):
        """The triangle `uplo` of self <- alpha op(a) op(a)^H + beta self; alpha and beta are real."""
        self._update("syrk" if self.letter in "sd" else "herk", {"A": a}, alpha, beta, trans, uplo)

    def syr2k(self, a, b, *, alpha=1, beta=0, trans="N", uplo="L"):
        """The triangle `uplo` of self <- alpha op(a) op(b)^T + alpha op(b) op(a)^T + beta self."""
        self._update("syr2k", {"A": a, "B": b}, alpha, beta, trans, uplo)

    def her2k(self, a, b, *, alpha=1, beta=0, trans="N", uplo="L"):
        """The triangle `uplo` of self <- alpha op(a) op(b)^H + conj(alpha) op(b) op(a)^H + beta self; beta is real."""
        self._update("syr2k" if self.letter in "sd" else "her2k", {"A": a, "B": b}, alpha, beta, trans, uplo)

    def _update(self, routine, factors, alpha, beta, trans, uplo):
        op, uplo = letters(routine, trans=trans, uplo=uplo)
        submit(routine, self.letter, uplo=uplo, op=op, alpha=alpha, beta=beta, C=self, **factors)

    def trmm(self, a, *, alpha=1, side="L", uplo="L", trans="N", diag="N"):
        """self <- alpha op(a) self (side "L") or alpha self op(a) ("R") with a triangular a."""
        self._triangular("trmm", a, alpha, side, uplo, trans, diag)

    def trsm(self, a, *, alpha=1, side="L", uplo="L", trans="N", diag="N"):
        """self <- alpha op(a)^-1 self (side "L") or alpha self op(a)^-1 ("R") with a triangular a."""
        self._triangular("trsm", a, alpha, side, uplo, trans, diag)

    def _triangular(self, routine, a, alpha, side, uplo, trans, diag):
        side, uplo, op, diag = letters(routine, side=side, uplo=uplo, trans=trans, diag=diag)
        submit(routine, self.letter, side=side, uplo=uplo, op=op, diag=diag, alpha=alpha, A=a, B=self)

    def potrf(self, *, uplo="L"):
        """The triangle `uplo` of self <- its Cholesky factor. Returns the Info."""
        uplo, = letters("potrf", uplo=uplo)
        return submit("potrf", self.letter, uplo=uplo, A=self)

    def potrs(self, factor, *, uplo="L"):
        """self <- x with a x = self, where `potrf` has left the factor of a in `factor`."""
        uplo, = letters("potrs", uplo=uplo)
        submit("potrs", self.letter, uplo=uplo, A=factor, B=self)


def _letter(kind):
    if kind.char not in LETTERS or not kind.isnative:
        raise TypeError(f"Matrix: elements of {kind}; there are float32, float64, complex64 and complex128")
    return LETTERS[kind.char]


def _pair(tile):
    return (tile, tile) if np.ndim(tile) == 0 else tuple(tile)
