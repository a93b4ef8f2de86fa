# SPDX-License-Identifier: BSD-3-Clause
"""Factorizations and linear equations. A right-hand side b is a vector or a matrix; the result has its shape. With
overwrite_a or overwrite_b, an array of suitable type and order is used as working memory: its content is lost, and the
result may share its memory."""
import numpy as np

from ._arrays import (LETTERS, common_type, letters, matrix, order_of, square, stored, unmasked,
                      working_copy)
from ._library import ArgumentError, call
from ._on_gpu import OnGpu


def right_hand_side(routine, b, n):
    """b as a matrix with n rows."""
    b = unmasked(routine, "b", b)
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ArgumentError(routine, "b", f"has shape {b.shape}, must be a vector of {n} elements or a matrix of {n} rows")
    return b.reshape(n, 1) if b.ndim == 1 else b


def result(x, b):
    return x.reshape(-1) if np.ndim(b) == 1 else x


def solution(function, routine, name, a, b, overwrite_b, order=None, **options):
    """Calls a routine that replaces b by the solution of a system with the matrix a. Returns the solution, and the info.
    `function` and `name` are the names of the function and of a in error messages."""
    a = square(function, name, a)
    B = right_hand_side(function, b, len(a))
    kind = common_type(function, a, B)
    x, order = working_copy(B, kind, overwrite_b, order or order_of(a))
    info = call(routine, LETTERS[kind.char], layout=order, n=len(a), nrhs=x.shape[1], A=stored(a, kind, order),
                B=stored(x, kind, order), **options)
    return result(x, b), info


def not_positive(info):
    raise np.linalg.LinAlgError(f"the leading minor of order {info} is not positive: there is no Cholesky factor")


def singular(info):
    raise np.linalg.LinAlgError(f"the matrix is singular: element {info - 1} on the diagonal of U is zero")


def singular_triangle(info):
    raise np.linalg.LinAlgError(f"the triangle is singular: element {info - 1} of its diagonal is zero")


def changed_triangle(routine, a, uplo, overwrite_a, name=None, argument="a", **options):
    """Calls a routine that changes one triangle of a. Returns this triangle, with zeros in the other one, and the info.
    `name` and `argument` are the names of the routine and of a in error messages."""
    name = name or routine
    uplo, = letters(name, uplo=uplo)
    a = square(name, argument, a)
    kind = common_type(name, a)
    x, order = working_copy(a, kind, overwrite_a, copied=order_of(a))
    info = call(routine, LETTERS[kind.char], layout=order, uplo=uplo, n=len(a), A=stored(x, kind, order), **options)
    for i in range(0 if isinstance(x, OnGpu) else len(a)):
        x[i, slice(i + 1, None) if uplo == "L" else slice(i)] = 0
    return x, info


def cholesky(a, *, uplo="L", overwrite_a=False):
    """Returns the Cholesky factor: L with a = L L^H (uplo "L") or U with a = U^H U ("U"). Only this triangle of a is read;
    the other one is zero in the result. Raises LinAlgError if a is not positive definite."""
    factor, info = changed_triangle("potrf", a, uplo, overwrite_a, name="cholesky")
    if info:
        not_positive(info)
    return factor


def cho_solve(factor, b, *, uplo="L", overwrite_b=False):
    """Returns x with a x = b, from the factor that `cholesky` returned for the same `uplo`."""
    uplo, = letters("cho_solve", uplo=uplo)
    return solution("cho_solve", "potrs", "factor", factor, b, overwrite_b, uplo=uplo)[0]


def lu_factor(a, *, overwrite_a=False):
    """Returns (lu, pivots) with P a = L U. The array lu contains L without its unit diagonal, and U. Row i was exchanged with
    row pivots[i], for i = 0, 1, ... in this order. A singular a is not an error: U then has a zero on its diagonal."""
    a = matrix("lu_factor", "a", a)
    kind = common_type("lu_factor", a)
    lu, order = working_copy(a, kind, overwrite_a)
    pivots = np.zeros(min(a.shape), dtype=np.int64)
    call("getrf", LETTERS[kind.char], layout=order, m=a.shape[0], n=a.shape[1], A=stored(lu, kind, order),
         ipiv=pivots)
    return lu, pivots - 1


def lu_solve(lu_and_pivots, b, *, trans="N", overwrite_b=False):
    """Returns x with op(a) x = b, from the result of `lu_factor`."""
    trans, = letters("lu_solve", trans=trans)
    if not isinstance(lu_and_pivots, (tuple, list)) or len(lu_and_pivots) != 2:
        raise ArgumentError("lu_solve", "lu_and_pivots", "must be the pair (lu, pivots) that lu_factor returns")
    lu, pivots = lu_and_pivots
    lu = square("lu_solve", "lu", lu)
    pivots = np.asarray(pivots, dtype=np.int64) + 1
    if pivots.shape != (len(lu),) or np.any((pivots < 1) | (pivots > len(lu))):
        raise ArgumentError("lu_solve", "pivots", f"must be {len(lu)} rows of the matrix, counted from 0")
    return solution("lu_solve", "getrs", "lu", lu, b, overwrite_b, order_of(lu, "F"), op=trans, ipiv=pivots)[0]


def laswp(a, pivots, *, inverse=False, overwrite_a=False):
    """Returns a with row i exchanged with row pivots[i], for i = 0, 1, ... in this order, as in `lu_factor`. `inverse`
    reverses the order, which undoes the exchanges."""
    a = matrix("laswp", "a", a)
    kind = common_type("laswp", a)
    pivots = np.asarray(pivots, dtype=np.int64) + 1
    if pivots.ndim != 1 or len(pivots) > len(a) or np.any((pivots < 1) | (pivots > len(a))):
        raise ArgumentError("laswp", "pivots", f"must be at most {len(a)} indices of rows, from 0 to {len(a) - 1}")
    x, order = working_copy(a, kind, overwrite_a, copied=order_of(a))
    call("laswp", LETTERS[kind.char], layout=order, n=x.shape[1], A=stored(x, kind, order), k1=1, k2=len(pivots),
         ipiv=pivots, incx=-1 if inverse else 1)
    return x


def lu_factor_nopiv(a, *, overwrite_a=False):
    """Returns (lu, growth) with a = L U. The array lu contains L without its unit diagonal, and U; growth is the largest
    element of U relative to that of a. Only for matrices that need no pivoting, such as diagonally dominant ones. A large
    growth means that the factors have few correct digits. Raises LinAlgError if a pivot is zero."""
    a = matrix("lu_factor_nopiv", "a", a)
    kind = common_type("lu_factor_nopiv", a)
    lu, order = working_copy(a, kind, overwrite_a, copied=order_of(a))
    growth = np.ones(1)
    info = call("getrf_nopiv", LETTERS[kind.char], layout=order, m=a.shape[0], n=a.shape[1], A=stored(lu, kind, order),
                growth=growth.ctypes.data)
    if info:
        singular(info)
    return lu, growth[0]


def lu_solve_nopiv(lu, b, *, trans="N", overwrite_b=False):
    """Returns x with op(a) x = b, from the factors of `lu_factor_nopiv`."""
    trans, = letters("lu_solve_nopiv", trans=trans)
    return solution("lu_solve_nopiv", "getrs_nopiv", "lu", lu, b, overwrite_b, op=trans)[0]


def solve_nopiv(a, b, *, overwrite_a=False, overwrite_b=False):
    """Returns (x, growth) with a x = b; `lu_factor_nopiv` and `lu_solve_nopiv` in one call."""
    a = square("solve_nopiv", "a", a)
    B = right_hand_side("solve_nopiv", b, len(a))
    kind = common_type("solve_nopiv", a, B)
    lu, order = working_copy(a, kind, overwrite_a, copied=order_of(a))
    x, _ = working_copy(B, kind, overwrite_b, order)
    growth = np.ones(1)
    info = call("gesv_nopiv", LETTERS[kind.char], layout=order, n=len(a), nrhs=x.shape[1], A=stored(lu, kind, order),
                B=stored(x, kind, order), growth=growth.ctypes.data)
    if info:
        singular(info)
    return result(x, b), growth[0]


def trtri(a, *, uplo="L", diag="N", overwrite_a=False):
    """Returns the inverse of the triangle `uplo` of a; the other triangle of the result is zero. With diag "U", the diagonal
    is taken as 1, and is 1 in the result. Raises LinAlgError if an element of the diagonal is zero."""
    diag, = letters("trtri", diag=diag)
    x, info = changed_triangle("trtri", a, uplo, overwrite_a, diag=diag)
    if info:
        singular_triangle(info)
    if diag == "U":
        np.fill_diagonal(x, 1)
    return x


def solve_triangular(a, b, *, uplo="L", trans="N", diag="N", overwrite_b=False):
    """Returns x with op(a) x = b. Only the triangle `uplo` of a is read. With diag "U", its diagonal is not read either, and
    is taken as 1. Raises LinAlgError if an element of the diagonal is zero."""
    uplo, trans, diag = letters("solve_triangular", uplo=uplo, trans=trans, diag=diag)
    x, info = solution("solve_triangular", "trtrs", "a", a, b, overwrite_b, uplo=uplo, op=trans, diag=diag)
    if info:
        singular_triangle(info)
    return x


def qr(a, *, overwrite_a=False):
    """Returns (q, r) with a = q r: q has min(m, n) orthonormal columns, and r is upper triangular, or trapezoidal."""
    a = matrix("qr", "a", a)
    kind = common_type("qr", a)
    q, order = working_copy(a, kind, overwrite_a)
    (m, n), count, letter = a.shape, min(a.shape), LETTERS[kind.char]
    tau = np.zeros(count, dtype=kind)
    call("geqrf", letter, layout=order, m=m, n=n, A=stored(q, kind, order), tau=tau)
    r = np.triu(q[:count])
    q = q[:, :count]
    call("orgqr" if letter in "sd" else "ungqr", letter, layout=order, m=m, n=count, k=count, A=stored(q, kind, order),
         tau=tau)
    return q, r


def lstsq(a, b, *, overwrite_a=False, overwrite_b=False):
    """Returns, for each column of b, the x that minimizes the norm of a x - b; if there are many, the x of the smallest norm.
    Raises LinAlgError if the triangular factor of a has a zero on its diagonal, so that the rank of a is below min(m, n)."""
    a = matrix("lstsq", "a", a)
    m, n = a.shape
    B = right_hand_side("lstsq", b, m)
    kind = common_type("lstsq", a, B)
    factors, order = working_copy(a, kind, overwrite_a)
    if m >= n:
        x, _ = working_copy(B, kind, overwrite_b, order)
    else:
        x = np.zeros((n, B.shape[1]), dtype=kind, order=order)
        x[:m] = B
    info = call("gels", LETTERS[kind.char], layout=order, op="N", m=m, n=n, nrhs=B.shape[1],
                A=stored(factors, kind, order), B=stored(x, kind, order))
    if info:
        raise np.linalg.LinAlgError(f"a has not full rank: element {info - 1} on the diagonal of its factor is zero")
    return result(x[:n], b)


def lauum(a, *, uplo="L", overwrite_a=False):
    """Returns the triangle `uplo` of L^H L ("L") or U U^H ("U"), where L or U is this triangle of a. The other triangle of the
    result is zero. The diagonal of a must be real."""
    return changed_triangle("lauum", a, uplo, overwrite_a)[0]


def potri(factor, *, uplo="L", overwrite_factor=False):
    """Returns the triangle `uplo` of the inverse of a positive definite matrix, from the factor that `cholesky` returned for
    the same `uplo`. The other triangle of the result is zero."""
    x, info = changed_triangle("potri", factor, uplo, overwrite_factor, argument="factor")
    if info:
        raise np.linalg.LinAlgError(f"the factor is singular: element {info - 1} of its diagonal is zero")
    return x


def inv(a, *, overwrite_a=False):
    """Returns the inverse of a, by LU with partial pivoting. Raises LinAlgError if a is singular."""
    a = square("inv", "a", a)
    kind = common_type("inv", a)
    x, order = working_copy(a, kind, overwrite_a, copied="F")
    pivots = np.zeros(len(a), dtype=np.int64)
    info = call("getrf", LETTERS[kind.char], layout=order, m=len(a), n=len(a), A=stored(x, kind, order), ipiv=pivots)
    if info:
        singular(info)
    call("getri", LETTERS[kind.char], layout=order, n=len(a), A=stored(x, kind, order), ipiv=pivots)
    return x


def solve(a, b, *, assume_a="gen", uplo="L", overwrite_a=False, overwrite_b=False):
    """Returns x with a x = b, by LU with partial pivoting or, with assume_a="pos", by Cholesky, which reads only the triangle
    `uplo` of a. Raises LinAlgError if a is singular, or not positive definite."""
    uplo, = letters("solve", uplo=uplo)
    if assume_a not in ("gen", "pos"):
        raise ArgumentError("solve", "assume_a", f"is {assume_a!r}, must be one of gen, pos")
    a = square("solve", "a", a)
    B = right_hand_side("solve", b, len(a))
    kind = common_type("solve", a, B)
    positive = assume_a == "pos"
    factor, order = working_copy(a, kind, overwrite_a, copied=order_of(a) if positive else "F")
    x, _ = working_copy(B, kind, overwrite_b, order)
    arguments = dict(layout=order, n=len(a), nrhs=x.shape[1], A=stored(factor, kind, order), B=stored(x, kind, order))
    if positive:
        info = call("posv", LETTERS[kind.char], uplo=uplo, **arguments)
    else:
        info = call("gesv", LETTERS[kind.char], ipiv=np.zeros(len(a), dtype=np.int64), **arguments)
    if info:
        (not_positive if positive else singular)(info)
    return result(x, b)
