# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries that offer DLPack: PyTorch, JAX, CuPy and others."""
import ctypes
import sys
import types

import numpy as np

HOST, CUDA = {1, 3, 13}, {2}  # kinds of devices: memory that NumPy can read, and memory of GPUs
LETTERS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # NumPy's letter for each type code of DLPack


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h, the first member of the structure to which a capsule points."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def offers(x):
    return hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__") and not isinstance(x, np.ndarray)


def is_on_host(x):
    return x.__dlpack_device__()[0] in HOST


def is_on_gpu(x):
    return x.__dlpack_device__()[0] in CUDA


def viewed(x):
    """An array on the memory of x, which NumPy must not access if it is on a GPU. Work queued for x precedes later work on the
    legacy default stream, for which the library waits. Raises TypeError for element types that NumPy lacks."""
    capsule = x.__dlpack__(stream=1) if is_on_gpu(x) else x.__dlpack__()
    # The capsule is not consumed. It is deleted with the last array on this memory, and then frees the tensor.
    tensor = Tensor.from_address(ctypes.pythonapi.PyCapsule_GetPointer(capsule, b"dltensor"))
    if tensor.code not in LETTERS or tensor.lanes != 1 or tensor.bits % 8 != 0:
        raise TypeError(f"tessera: an array of elements that NumPy lacks: DLPack's type {tensor.code}, {tensor.bits} bits")
    size = tensor.bits // 8
    kind = f"{LETTERS[tensor.code]}{size}"
    described = {"version": 3, "shape": tuple(tensor.shape[:tensor.ndim]), "typestr": np.dtype(kind).str,
                 "data": ((tensor.data or 0) + tensor.byte_offset, False)}
    if tensor.strides:
        described["strides"] = tuple(step * size for step in tensor.strides[:tensor.ndim])
    return np.asarray(types.SimpleNamespace(__array_interface__=described, capsule=capsule))


def as_in(x, result):
    """Converts a NumPy array to the library of x without a copy. Returns it as is if that library has no `from_dlpack`."""
    library = x.__array_namespace__() if hasattr(x, "__array_namespace__") else sys.modules[type(x).__module__.partition(".")[0]]
    return library.from_dlpack(result) if hasattr(library, "from_dlpack") else result
