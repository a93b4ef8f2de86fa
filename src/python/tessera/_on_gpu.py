# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory of a GPU, of CuPy, PyTorch, Numba and others that have `__cuda_array_interface__`."""
import ctypes
import functools
import types

import numpy as np

from ._library import ArgumentError

# The functions that change such arrays in place and touch no element in Python.
IN_PLACE = ("gemm", "gemmt", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm", "cholesky", "cho_solve",
            "lu_factor", "lu_solve", "solve_triangular", "laswp")


class OnGpu(np.ndarray):
    """The shape, strides and address of an array. NumPy must not touch its elements."""
    owner, place = None, ()  # the caller's array; the routine and the argument

    def __array_finalize__(self, other):
        self.owner, self.place = getattr(other, "owner", None), getattr(other, "place", ())

    def refuse_copy(self):
        raise ArgumentError(*self.place, "is in memory of a GPU, where no copies are made: it must have the type of the "
                            "result and contiguous rows or columns, and be c, or overwritten by overwrite_a or overwrite_b")


def wait_for(stream):
    """Waits for what was queued on a stream. The library itself waits for the legacy default stream, 1."""
    if stream not in (None, 1) and ctypes.CDLL("libcuda.so.1").cuStreamSynchronize(ctypes.c_void_p(stream)) != 0:
        raise RuntimeError(f"tessera: what was queued on stream {stream} has failed, or no context of CUDA is current")


def located(routine, name, x):
    """x, or if it is on a GPU, where it is."""
    described = getattr(x, "__cuda_array_interface__", None)
    if described is None or isinstance(x, OnGpu):
        return x
    if routine not in IN_PLACE or described.get("mask") is not None:
        raise ArgumentError(routine, name, "is in memory of a GPU, and masked or nothing that this function takes there")
    wait_for(described.get("stream"))
    known = {key: described[key] for key in ("shape", "typestr", "data", "strides") if described.get(key) is not None}
    place = np.asarray(types.SimpleNamespace(__array_interface__={**known, "version": 3})).view(OnGpu)
    place.owner, place.place = x, (routine, name)
    return place


def returning_owners(function):
    """The function with the caller's arrays in its results, instead of where they are."""
    def owner(x):
        return x.owner if isinstance(x, OnGpu) else x

    @functools.wraps(function)
    def wrapped(*arguments, **options):
        results = function(*arguments, **options)
        return tuple(map(owner, results)) if isinstance(results, tuple) else owner(results)
    return wrapped
