# SPDX-License-Identifier: BSD-3-Clause
"""Level-3 BLAS and solvers over every core and every GPU of a machine, on NumPy arrays.

    import tessera
    C = tessera.gemm(A, B)                               # A B
    tessera.gemm(A, B, C, alpha=0.5, beta=2)             # C <- 0.5 A B + 2 C, in place
    X = tessera.solve(A, B)

The functions call libtessera.so, which works on the arrays in place if their rows or columns are contiguous. C order and
Fortran order may be mixed, and arrays may be parts of larger ones. An array is copied if it has another type, if its
elements are not adjacent in either direction, or if the BLAS has no operation for its order, for example a conjugate
transpose of an array whose order is not that of the result. If an output had to be copied, the result is copied back.

The type of a result is that of NumPy's `a @ b`: float32, float64, complex64 or complex128. Integers become float64.

Arrays of other libraries that offer DLPack (PyTorch, JAX, CuPy) or have `__cuda_array_interface__` (CuPy, PyTorch, Numba) are
used where they are. In memory of a GPU they are changed in place: as `c`, or with overwrite_a or overwrite_b. From arguments in
host memory, results are arrays of the same library.

A `Matrix` is for chains of products and solves that stay on the GPUs.

Other threads run during a call, but must not change its arrays. Errors are `ArgumentError` with the argument's name,
`RuntimeFailure` if the machine or StarPU failed, and NumPy's `LinAlgError` for matrices that cannot be factorized."""
from . import _blas, _solvers
from ._arrays import changed, forget, keep, pinned
from ._blas import gemm, gemmt, hemm, her2k, herk, symm, syr2k, syrk, trmm, trsm
from ._library import ArgumentError, Error, RuntimeFailure, finalize, init, version
from ._matrix import Info, Matrix
from ._on_gpu import returning_arrays_like_given
from ._solvers import (cho_solve, cholesky, inv, laswp, lauum, lstsq, lu_factor, lu_factor_nopiv, lu_solve,
                       lu_solve_nopiv, potri, qr, solve, solve_nopiv, solve_triangular, trtri)

__all__ = [
    "gemm", "gemmt", "hemm", "her2k", "herk", "symm", "syr2k", "syrk", "trmm", "trsm",
    "cho_solve", "cholesky", "inv", "laswp", "lauum", "lstsq", "lu_factor", "lu_factor_nopiv", "lu_solve",
    "lu_solve_nopiv", "potri", "qr", "solve", "solve_nopiv", "solve_triangular", "trtri",
    "changed", "forget", "keep",
    "Info", "Matrix",
    "ArgumentError", "Error", "RuntimeFailure", "finalize", "init", "pinned", "version",
]
__version__ = version()
for _module in (_blas, _solvers):
    for _name in set(__all__) & set(vars(_module)) - {"ArgumentError"}:
        globals()[_name] = returning_arrays_like_given(globals()[_name])
