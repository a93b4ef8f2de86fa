# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries: in GPU memory, from CuPy, PyTorch, Numba and others that have `__cuda_array_interface__`; in
any memory, from libraries that have `__dlpack__`."""
import ctypes
import functools
import types

import numpy as np

from . import _dlpack
from ._library import ArgumentError

# The functions that accept arrays in GPU memory. They change them in place, and access no element in Python.
IN_PLACE = ("gemm", "gemmt", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm", "cholesky", "cho_solve",
            "lu_factor", "lu_solve", "solve_triangular", "laswp", "Matrix")


class Foreign(np.ndarray):
    """An array of another library, as NumPy sees it."""
    owner, place = None, ()  # the caller's array; the routine and the argument

    def __array_finalize__(self, other):
        self.owner, self.place = getattr(other, "owner", None), getattr(other, "place", ())


class OnGpu(Foreign):
    """The shape, strides and address of an array. NumPy must not touch its elements."""

    def refuse_copy(self):
        raise ArgumentError(*self.place, "is in memory of a GPU, where no copies are made: it must have the type of the "
                            "result and contiguous rows or columns, and be c, or overwritten by overwrite_a or overwrite_b")


def wait_for(stream):
    """Waits for the work queued on a stream. The library itself waits for the legacy default stream, 1."""
    if stream not in (None, 1) and ctypes.CDLL("libcuda.so.1").cuStreamSynchronize(ctypes.c_void_p(stream)) != 0:
        raise RuntimeError(f"tessera: what was queued on stream {stream} has failed, or no context of CUDA is current")


def located(routine, name, x):
    """x itself, or if it belongs to another library, an array on its memory."""
    if isinstance(x, Foreign):
        return x
    described = getattr(x, "__cuda_array_interface__", None)
    if described is None and not _dlpack.offers(x):
        return x
    on_host = described is None and _dlpack.is_on_host(x)
    if not on_host and (routine not in IN_PLACE or (described or {}).get("mask") is not None):
        raise ArgumentError(routine, name, "is in memory of a GPU, where this function takes no array, or no masked one")
    if described is None and not on_host and not _dlpack.is_on_gpu(x):
        raise ArgumentError(routine, name, f"is on device {x.__dlpack_device__()} of DLPack, must be on the host or on a GPU "
                            "that CUDA drives")
    if described is None:
        place = _dlpack.viewed(x)
    else:
        wait_for(described.get("stream"))
        known = {key: described[key] for key in ("shape", "typestr", "data", "strides") if described.get(key) is not None}
        place = np.asarray(types.SimpleNamespace(__array_interface__={**known, "version": 3}))
    place = place.view(Foreign if on_host else OnGpu)
    place.owner, place.place = x, (routine, name)
    return place


def returning_arrays_like_given(function):
    """A wrapper of the function that returns the caller's arrays instead of views of their memory. If an argument is an array
    in host memory that offers DLPack, new arrays belong to the same library."""
    def given_back(x, example):
        if isinstance(x, Foreign):
            return x.owner
        return x if example is None or not isinstance(x, np.ndarray) else _dlpack.as_in(example, x)

    @functools.wraps(function)
    def wrapped(*arguments, **options):
        results = function(*arguments, **options)
        given = (x for x in (*arguments, *options.values()) if _dlpack.offers(x) and _dlpack.is_on_host(x))
        example = next(given, None)
        if isinstance(results, tuple):
            return tuple(given_back(x, example) for x in results)
        return given_back(results, example)
    return wrapped
