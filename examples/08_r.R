# SPDX-License-Identifier: BSD-3-Clause
# Operations of an unchanged R that call the BLAS and LAPACK, with checks of their results. With the drop-in loaded,
# large products and solves run on all devices:
#   LD_PRELOAD=/path/to/libtessera_blas.so Rscript 08_r.R [SIZE [FILE]]
# The results are written to FILE, so that two runs can be compared. solve, chol, chol2inv, det and qr.Q pass through the
# drop-in. The SVD and the QR factorization, which R computes with pivoting, stay with R's LAPACK. OpenBLAS's LAPACK
# computes most products with its own kernels, which bypasses the drop-in. If the reference LAPACK (package liblapack3) is
# loaded before OpenBLAS, these products reach the drop-in, too.
arguments <- commandArgs(trailingOnly = TRUE)
n <- if (length(arguments) >= 1) as.integer(arguments[1]) else 300L
file <- if (length(arguments) >= 2) file(arguments[2], "w")
right <- TRUE

# Prints a line, and records a failure if the computed values differ from the expected ones by more than `bound`.
# Writes `result` to the file.
check <- function(name, computed, expected, bound, result = computed) {
  error <- max(abs(computed - expected))
  ok <- isTRUE(error <= bound)  # FALSE for NaN
  right <<- right && ok
  cat(sprintf("%-22s %9.2e %9.2e  %s\n", name, error, bound, if (ok) "right" else "WRONG"))
  if (!is.null(file))
    cat(gsub(" ", "_", name), sprintf("%.3e", bound), sprintf("%.17g", c(Re(result), Im(result))), "\n", file = file)
}

# The error bound for checking a product F G by F (G t) with a vector t, which needs no level-3 BLAS. The check sums n
# terms three times, the product once. The error is at most 2 n eps times the sum of the moduli of the terms.
bound <- function(F, G, t) 2 * length(t) * .Machine$double.eps * max(abs(F) %*% (abs(G) %*% abs(t)))

set.seed(1)
random <- function(...) array(runif(prod(...)), c(...))  # positive: nothing cancels, an error in one element shows
A <- random(n, n); B <- random(n, n); t <- random(n, 1)
Z <- A + 1i * B; W <- B + 1i * A
M <- A + n * diag(n)  # far from singular
cat(sprintf("%-22s %9s %9s\n", paste(n, "x", n), "error", "bound"))

C <- A %*% B;            check("product", C %*% t, A %*% (B %*% t), bound(A, B, t))
C <- crossprod(A, B);    check("transposed product", C %*% t, t(A) %*% (B %*% t), bound(t(A), B, t))
C <- crossprod(A);       check("crossprod", C %*% t, t(A) %*% (A %*% t), bound(t(A), A, t))
C <- Z %*% W;            check("complex product", C %*% t, Z %*% (W %*% t), 2 * bound(Z, W, t))

X <- solve(M, B);        check("solve", M %*% (X %*% t), B %*% t, bound(M, X, t), X %*% t)
S <- crossprod(M)
R <- chol(S);            check("chol", t(R) %*% (R %*% t), S %*% t, bound(t(R), R, t), R %*% t)
X <- chol2inv(R);        check("chol2inv", S %*% (X %*% t), t, 2 * bound(S, X, t), X %*% t)
X <- solve(M);           check("inverse", M %*% (X %*% t), t, 2 * bound(M, X, t), X %*% t)
d <- det(M / n);         check("det", d * det(solve(M / n)), 1, 10 * n * .Machine$double.eps, d)
X <- backsolve(R, B);    check("triangular solve", R %*% (X %*% t), B %*% t, bound(R, X, t), X %*% t)
f <- qr(M, LAPACK = TRUE)  # R's default is LINPACK, which does not use the level-3 BLAS
Q <- qr.Q(f); R <- qr.R(f); p <- f$pivot
check("qr", Q %*% (R %*% t[p, , drop = FALSE]), M %*% t, bound(Q, R, t), R %*% t)
m <- min(n, 1000L)       # an SVD is slow
f <- svd(A[1:m, 1:m]); s <- t[1:m, , drop = FALSE]
check("svd", f$u %*% (f$d * crossprod(f$v, s)), A[1:m, 1:m] %*% s, bound(f$u, f$d * t(f$v), s), f$d)

if (!is.null(file)) close(file)
quit(status = if (right) 0 else 1)
