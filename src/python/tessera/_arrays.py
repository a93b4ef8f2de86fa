# SPDX-License-Identifier: BSD-3-Clause
"""NumPy arrays as BLAS matrices with an order and a leading dimension. Arrays that have neither are copied."""
import contextlib

import numpy as np

from ._library import OPTIONS, ArgumentError, checked, host_register, host_unregister, library
from ._on_gpu import OnGpu, located

LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}  # by NumPy's characters
FLIPPED_OP = {"N": "T", "T": "N"}
FLIPPED_UPLO = {"U": "L", "L": "U"}


def letters(routine, **options):
    """The options' letters in upper case. Each option is named as in Python."""
    for name, value in options.items():
        allowed = OPTIONS["op" if name.startswith("trans") else name]
        if not isinstance(value, str) or value.upper() not in allowed:
            raise ArgumentError(routine, name, f"is {value!r}, must be one of {', '.join(allowed)}")
        yield value.upper()


def common_type(routine, *arrays):
    """The type in which a routine computes with these arrays."""
    kind = np.result_type(*arrays)
    if kind.kind in "biu":
        kind = np.dtype(np.float64)
    elif kind.char == "e":
        kind = np.dtype(np.float32)
    if kind.char not in LETTERS:
        raise TypeError(f"{routine}: arrays of {kind}; there are float32, float64, complex64 and complex128")
    return np.dtype(kind.char)  # in this machine's byte order


def unmasked(routine, name, x):
    """x as an array. Masked arrays are refused, because their mask would be lost."""
    if isinstance(x, np.ma.MaskedArray):
        raise ArgumentError(routine, name, "is a masked array, which has no values where it is masked: use x.filled(value)")
    x = located(routine, name, x)
    return x if isinstance(x, OnGpu) else np.asarray(x)


def matrix(routine, name, x, shape=(None, None)):
    """x as a two-dimensional array of this shape. None in `shape` allows any size."""
    x = unmasked(routine, name, x)
    if x.ndim != 2:
        raise ArgumentError(routine, name, f"has {x.ndim} dimensions, must have 2")
    if any(wanted not in (None, size) for wanted, size in zip(shape, x.shape)):
        wanted = " x ".join("any" if size is None else str(size) for size in shape)
        raise ArgumentError(routine, name, f"is {x.shape[0]} x {x.shape[1]}, must be {wanted}")
    return x


def square(routine, name, x):
    x = matrix(routine, name, x)
    return matrix(routine, name, x, (x.shape[0], x.shape[0]))


def extent(x):
    """The address of the array's first byte in memory, and the number of bytes from there to the array's end."""
    reaches = [(size - 1) * step for size, step in zip(x.shape, x.strides)]
    first = sum(reach for reach in reaches if reach < 0)
    return x.ctypes.data + first, sum(map(abs, reaches)) + x.itemsize


@contextlib.contextmanager
def pinned(*arrays):
    """Within `with tessera.pinned(A, B, C):`, GPUs copy from and to these arrays directly, which is faster. Pinning takes
    about as long as touching all of their memory, so it pays off only over several calls. Without a GPU it does nothing.
    The arrays must not share memory."""
    with contextlib.ExitStack() as stack:
        for x in arrays:
            if not isinstance(x, np.ndarray):
                raise ArgumentError("pinned", "arrays", f"has an element of type {type(x).__name__}, must be NumPy arrays")
            if x.size > 0:
                address, size = extent(x)
                host_register(address, size)
                stack.callback(host_unregister, address)
        yield


kept = {}  # the arrays that are kept, by address: they stay alive until they are forgotten


def keep(x):
    """Keeps an array on the GPUs between calls: what a level-3 function copies of it, or computes in it, stays there for
    later calls. Call `changed` after anything else has written the memory. The array stays alive until `forget`."""
    address, arguments = memory_of("keep", x)
    if x.size > 0 and address not in kept:
        checked("keep", library.tessera_keep(*arguments))
        kept[address] = x


def changed(x):
    """Says that a kept array, or a part of one, has been written by anything but this package."""
    if isinstance(x, np.ndarray) and x.ndim == 2 and x.size > 0 and not any(leading_dimension(x, order) for order in "CF"):
        for row in x:  # neither its rows nor its columns are contiguous
            changed(row)
        return
    _, arguments = memory_of("changed", x)
    if x.size > 0:
        checked("changed", library.tessera_changed_part(*arguments))


def written(x):
    """Says that an array of any strides has been written, with what lies between its elements."""
    if x.size > 0:
        address, size = extent(x)
        words = -(-size // 4)  # of single precision
        checked("changed", library.tessera_changed_part(b"s", address, words, 1, words))


def forget(x):
    """Undoes `keep`, for the same array."""
    address, _ = memory_of("forget", x)
    if x.size > 0:
        checked("forget", library.tessera_forget(address))
        kept.pop(address, None)


def memory_of(routine, x):
    """The address of an array's first element, and the array as a column-major matrix: arguments of a C function."""
    if not isinstance(x, np.ndarray):
        raise ArgumentError(routine, "a", f"is of type {type(x).__name__}, must be a NumPy array")
    if x.dtype.char not in LETTERS or not x.dtype.isnative:
        raise ArgumentError(routine, "a", f"has elements of type {x.dtype}; there are float32, float64, complex64 and complex128")
    if x.ndim not in (1, 2):
        raise ArgumentError(routine, "a", f"has {x.ndim} dimensions, must have 1 or 2")
    for axis, step in enumerate(x.strides):
        if step < 0:
            x = np.flip(x, axis)
    matrix = x if x.ndim == 2 else x[:, None]
    order = next((order for order in "FC" if leading_dimension(matrix, order)), None)
    if order is None:
        raise ArgumentError(routine, "a", "has neither contiguous rows nor contiguous columns")
    rows, columns = matrix.shape if order == "F" else matrix.shape[::-1]
    address = matrix.ctypes.data
    return address, (LETTERS[x.dtype.char].encode(), address, rows, columns, leading_dimension(matrix, order))


def leading_dimension(x, order):
    """The leading dimension of x in order "C" or "F", or 0 if x is not stored in this order."""
    (outer, inner), (step, inner_step) = (x.shape, x.strides) if order == "C" else (x.shape[::-1], x.strides[::-1])
    least = max(1, inner)
    if x.size == 0:
        return least
    if not x.flags.aligned or (inner > 1 and inner_step != x.itemsize):
        return 0
    if outer == 1:
        return least
    return step // x.itemsize if step % x.itemsize == 0 and step >= least * x.itemsize else 0


def order_of(x, otherwise="C"):
    """The order in which x is stored; `otherwise` if it fits both orders or neither."""
    orders = [order for order in "CF" if leading_dimension(x, order)]
    return orders[0] if len(orders) == 1 else otherwise


def stored(x, kind, order):
    """x in this type and order, without a copy if possible, and its leading dimension."""
    if x.dtype != kind or not leading_dimension(x, order):
        if isinstance(x, OnGpu):
            x.refuse_copy()
        x = np.array(x, dtype=kind, order=order)
    return x, leading_dimension(x, order)


def fits(x, kind, order):
    return x.dtype == kind and leading_dimension(x, order) > 0


def factors(xs, trans, kind, order, allowed="NTC"):
    """The factors op(x) of a product: matrices in `order`, and their common op. Matrices in the other order are transposes
    of matrices in `order`, so the opposite op avoids a copy, if it is `allowed`."""
    trans = real_op(trans, kind)
    flipped = FLIPPED_OP.get(trans, "")
    transposed = all(fits(x.T, kind, order) for x in xs) and not all(fits(x, kind, order) for x in xs)
    if transposed and flipped and flipped in allowed:
        return [stored(x.T, kind, order) for x in xs], flipped
    return [stored(x, kind, order) for x in xs], trans


def triangle(x, uplo, kind, order, trans="N", conjugated=False):
    """A matrix of which one triangle is used, the triangle, and the op. Transposing swaps the triangles. `conjugated`: the
    matrix is Hermitian, so its transpose is a different matrix."""
    trans = real_op(trans, kind)
    transposed = fits(x.T, kind, order) and not fits(x, kind, order)
    if transposed and trans in FLIPPED_OP and not conjugated:
        return stored(x.T, kind, order), FLIPPED_UPLO[uplo], FLIPPED_OP[trans]
    return stored(x, kind, order), uplo, trans


def real_op(trans, kind):
    """The op, without the conjugation for real matrices."""
    return "T" if trans == "C" and kind.kind == "f" else trans


def dimensions(x, trans):
    """Rows and columns of op(x)."""
    return x.shape if trans == "N" else x.shape[::-1]


class Output:
    """An array that a routine changes in place, or in a copy that `result` copies back."""

    def __init__(self, routine, name, array, shape, kind):
        array = located(routine, name, array)
        if not isinstance(array, np.ndarray):
            raise ArgumentError(routine, name, f"is of type {type(array).__name__}, must be an array of NumPy or another "
                                "library")
        matrix(routine, name, array, shape)
        if array.dtype != kind:
            raise ArgumentError(routine, name, f"has elements of type {array.dtype}, must have {kind}")
        if not array.flags.writeable:
            raise ArgumentError(routine, name, "cannot be written")
        self.array = array
        self.order = order_of(array)
        self.work, self.ld = stored(array, kind, self.order)

    def result(self):
        if self.work is not self.array:
            self.array[...] = self.work
            if kept:
                written(self.array)
        return self.array


def working_copy(x, kind, overwrite, order=None, copied="F"):
    """A matrix that a routine changes, and its order: x itself if it may be overwritten and is stored in `order` (None: in
    either order). Otherwise a copy, in `order` or, if this is None, in the order `copied`."""
    own = order or order_of(x, copied)
    if overwrite and x.flags.writeable and fits(x, kind, own):
        return x, own
    if isinstance(x, OnGpu):
        x.refuse_copy()
    return np.array(x, dtype=kind, order=order or copied), order or copied
