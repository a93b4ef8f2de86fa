# SPDX-License-Identifier: BSD-3-Clause
"""Level 3 of the BLAS. If an output `c` is given, a function changes it in place and returns it. Otherwise it returns a
new array. Updates of one triangle leave the other triangle of c as it was, or zero in a new array."""
import numpy as np

from ._arrays import (LETTERS, Output, common_type, dimensions, factors, letters, matrix, order_of, square, stored,
                      triangle, working_copy)
from ._library import ArgumentError, call
from ._on_gpu import OnGpu


def new_or_given(routine, c, beta, shape, kind, like):
    """The output, and beta for it. A new array has the order of `like`, to avoid a copy of the inputs."""
    if c is not None:
        return Output(routine, "c", c, shape, kind), beta
    if beta != 0:
        raise ArgumentError(routine, "beta", f"is {beta}, must be 0 without c")
    if isinstance(like, OnGpu):
        like.refuse_copy()
    return Output(routine, "c", np.zeros(shape, dtype=kind, order=order_of(like)), shape, kind), 0


def _product(routine, a, b, c, alpha, beta, trans_a, trans_b, **uplo):
    trans_a, trans_b, *triangle_of_c = letters(routine, trans_a=trans_a, trans_b=trans_b, **uplo)
    a, b = matrix(routine, "a", a), matrix(routine, "b", b)
    kind = common_type(routine, a, b)
    (m, k), (rows, n) = dimensions(a, trans_a), dimensions(b, trans_b)
    if triangle_of_c and (rows, n) != (k, m):
        raise ArgumentError(routine, "b", f"must be {k} x {m} with trans_b={trans_b!r}")
    if rows != k:
        raise ArgumentError(routine, "b", f"has {rows} rows with trans_b={trans_b!r}, must have {k}, the columns of a with "
                                          f"trans_a={trans_a!r}")
    c, beta = new_or_given(routine, c, beta, (m, n), kind, a)
    (A,), op_a = factors([a], trans_a, kind, c.order)
    (B,), op_b = factors([b], trans_b, kind, c.order)
    own = {"uplo": triangle_of_c[0]} if triangle_of_c else {"m": m}
    call(routine, LETTERS[kind.char], layout=c.order, op_a=op_a, op_b=op_b, n=n, k=k, alpha=alpha, A=A, B=B, beta=beta,
         C=(c.work, c.ld), **own)
    return c.result()


def gemm(a, b, c=None, *, alpha=1, beta=0, trans_a="N", trans_b="N"):
    """c <- alpha op(a) op(b) + beta c. op(x) is x ("N"), its transpose ("T") or its conjugate transpose ("C")."""
    return _product("gemm", a, b, c, alpha, beta, trans_a, trans_b)


def gemmt(a, b, c=None, *, alpha=1, beta=0, trans_a="N", trans_b="N", uplo="L"):
    """The triangle `uplo` of c <- alpha op(a) op(b) + beta c."""
    return _product("gemmt", a, b, c, alpha, beta, trans_a, trans_b, uplo=uplo)


def _beside(routine, a, b, side):
    """Checks a square matrix a, and a matrix b that a multiplies from that side."""
    a = square(routine, "a", a)
    return a, matrix(routine, "b", b, (len(a), None) if side == "L" else (None, len(a)))


def _symmetric(routine, a, b, c, alpha, beta, side, uplo):
    side, uplo = letters(routine, side=side, uplo=uplo)
    a, b = _beside(routine, a, b, side)
    kind = common_type(routine, a, b)
    c, beta = new_or_given(routine, c, beta, b.shape, kind, b)
    hermitian = routine == "hemm" and kind.kind == "c"
    A, uplo, _ = triangle(a, uplo, kind, c.order, conjugated=hermitian)
    call("hemm" if hermitian else "symm", LETTERS[kind.char], layout=c.order, side=side, uplo=uplo, m=b.shape[0],
         n=b.shape[1], alpha=alpha, A=A, B=stored(b, kind, c.order), beta=beta, C=(c.work, c.ld))
    return c.result()


def symm(a, b, c=None, *, alpha=1, beta=0, side="L", uplo="L"):
    """c <- alpha a b + beta c (side "L") or alpha b a + beta c ("R") with a symmetric a, whose triangle `uplo` is read."""
    return _symmetric("symm", a, b, c, alpha, beta, side, uplo)


def hemm(a, b, c=None, *, alpha=1, beta=0, side="L", uplo="L"):
    """Like `symm`, with a Hermitian a."""
    return _symmetric("hemm", a, b, c, alpha, beta, side, uplo)


def _update(routine, xs, c, alpha, beta, trans, uplo):
    """A rank-k update with one matrix, or a rank-2k update with two. For real matrices, Hermitian means symmetric."""
    trans, uplo = letters(routine, trans=trans, uplo=uplo)
    xs = [matrix(routine, name, x) for name, x in zip("ab", xs)]
    kind = common_type(routine, *xs)
    n, k = dimensions(xs[0], trans)
    matrix(routine, "b", xs[-1], xs[0].shape)
    c, beta = new_or_given(routine, c, beta, (n, n), kind, xs[0])
    hermitian = routine.startswith("her") and kind.kind == "c"
    allowed = "NC" if hermitian else "NT"
    if kind.kind == "c" and trans not in allowed:
        raise ArgumentError(routine, "trans", f"is {trans!r}, must be one of {', '.join(allowed)} for complex matrices")
    matrices, op = factors(xs, trans, kind, c.order, allowed)
    name = routine if hermitian else routine.replace("her", "syr")
    call(name, LETTERS[kind.char], layout=c.order, uplo=uplo, op=op, n=n, k=k, alpha=alpha, A=matrices[0],
         B=matrices[-1], beta=beta, C=(c.work, c.ld))
    return c.result()


def syrk(a, c=None, *, alpha=1, beta=0, trans="N", uplo="L"):
    """The triangle `uplo` of c <- alpha op(a) op(a)^T + beta c."""
    return _update("syrk", [a], c, alpha, beta, trans, uplo)


def herk(a, c=None, *, alpha=1, beta=0, trans="N", uplo="L"):
    """The triangle `uplo` of c <- alpha op(a) op(a)^H + beta c; alpha and beta are real."""
    return _update("herk", [a], c, alpha, beta, trans, uplo)


def syr2k(a, b, c=None, *, alpha=1, beta=0, trans="N", uplo="L"):
    """The triangle `uplo` of c <- alpha op(a) op(b)^T + alpha op(b) op(a)^T + beta c."""
    return _update("syr2k", [a, b], c, alpha, beta, trans, uplo)


def her2k(a, b, c=None, *, alpha=1, beta=0, trans="N", uplo="L"):
    """The triangle `uplo` of c <- alpha op(a) op(b)^H + conj(alpha) op(b) op(a)^H + beta c; beta is real."""
    return _update("her2k", [a, b], c, alpha, beta, trans, uplo)


def _triangular(routine, a, b, alpha, side, uplo, trans, diag, overwrite_b):
    side, uplo, trans, diag = letters(routine, side=side, uplo=uplo, trans=trans, diag=diag)
    a, b = _beside(routine, a, b, side)
    kind = common_type(routine, a, b)
    x, order = working_copy(b, kind, overwrite_b, copied=order_of(b))
    A, uplo, op = triangle(a, uplo, kind, order, trans)
    call(routine, LETTERS[kind.char], layout=order, side=side, uplo=uplo, op=op, diag=diag, m=x.shape[0], n=x.shape[1],
         alpha=alpha, A=A, B=stored(x, kind, order))
    return x


def trmm(a, b, *, alpha=1, side="L", uplo="L", trans="N", diag="N", overwrite_b=False):
    """Returns alpha op(a) b (side "L") or alpha b op(a) ("R") with a triangular a. With diag "U", its diagonal is taken as 1.
    With overwrite_b, the result is stored in b if b has the type of the result and contiguous rows or columns."""
    return _triangular("trmm", a, b, alpha, side, uplo, trans, diag, overwrite_b)


def trsm(a, b, *, alpha=1, side="L", uplo="L", trans="N", diag="N", overwrite_b=False):
    """Returns alpha op(a)^-1 b (side "L") or alpha b op(a)^-1 ("R"), with the arguments of `trmm`."""
    return _triangular("trsm", a, b, alpha, side, uplo, trans, diag, overwrite_b)
