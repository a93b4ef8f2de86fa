% SPDX-License-Identifier: BSD-3-Clause
% Operations of an unchanged Octave that call the BLAS and LAPACK, with checks of their results. With the drop-in
% loaded, large products and solves run on all devices:
%   LD_PRELOAD=/path/to/libtessera_blas.so octave 06_octave.m [SIZE [FILE]]
% The results are written to FILE, so that two runs can be compared. `\`, inv, chol, lu, det and qr pass through the
% drop-in. The SVD stays with the program's LAPACK. OpenBLAS's LAPACK computes most products with its own kernels, which
% bypasses the drop-in. If the reference LAPACK (package liblapack3) is loaded before OpenBLAS, these products reach the drop-in,
% too.
1;  % not a function file

% Prints a line, and records a failure if the computed values differ from the expected ones by more than `bound`.
% Writes `result` to the file.
function check(name, computed, expected, bound, result)
  global file right
  if nargin < 5, result = computed; end
  error = max(abs(computed(:) - expected(:)));
  ok = error <= bound;  % false for NaN
  right = right && ok;
  printf("%-22s %9.2e %9.2e  %s\n", name, error, bound, merge(ok, "right", "WRONG"));
  if file > 0
    fprintf(file, "%s %.3e", strrep(name, " ", "_"), bound);
    fprintf(file, " %.17g", real(result), imag(result));
    fprintf(file, "\n");
  end
end

% The error bound for checking a product F G by F (G t) with a vector t, which needs no level-3 BLAS. The check sums n
% terms three times, the product once. The error is at most 2 n eps times the sum of the moduli of the terms.
function b = bound(F, G, t)
  b = 2 * rows(t) * eps(class(F)) * max(abs(F) * (abs(G) * abs(t)));
end

global file right
file = 0; right = true; n = 300;
if numel(argv()) >= 1, n = str2double(argv(){1}); end
if numel(argv()) >= 2, file = fopen(argv(){2}, "w"); end

rand("twister", 1);
A = rand(n); B = rand(n); t = rand(n, 1);  % positive, so nothing cancels and an error in one element shows
Z = complex(A, B); W = complex(B, A);
M = A + n * eye(n);  % far from singular
printf("%-22s %9s %9s\n", sprintf("%d x %d", n, n), "error", "bound");

C = A * B;   check("product", C * t, A * (B * t), bound(A, B, t));
C = A' * B;  check("transposed product", C * t, A' * (B * t), bound(A', B, t));
C = A' * A;  check("crossprod", C * t, A' * (A * t), bound(A', A, t));
C = Z * W;   check("complex product", C * t, Z * (W * t), 2 * bound(Z, W, t));
C = Z * Z';  check("Hermitian product", C * t, Z * (Z' * t), 2 * bound(Z, Z', t));
S = single(A); T = single(B); s = single(t);
C = S * T;   check("single precision", C * s, S * (T * s), bound(S, T, s));

X = M \ B;            check("solve", M * (X * t), B * t, bound(M, X, t), X * t);
X = inv(M);           check("inverse", M * (X * t), t, 2 * bound(M, X, t), X * t);
[L, U, P] = lu(M);    check("lu", L * (U * t), P * (M * t), bound(L, U, t), L * t);
d = det(M / n);       check("det", d, det(P) * prod(diag(U) / n), 10 * n * eps * abs(d));
S = M' * M;
R = chol(S);          check("chol", R' * (R * t), S * t, bound(R', R, t), R * t);
X = S \ B;            check("definite solve", S * (X * t), B * t, bound(S, X, t), X * t);
[Q, R] = qr(M);       check("qr", Q * (R * t), M * t, bound(Q, R, t), R * t);
X = R \ B;            check("triangular solve", R * (X * t), B * t, bound(R, X, t));
m = min(n, 1000);     % takes long
[U, D, V] = svd(A(1:m, 1:m)); s = t(1:m);
check("svd", U * (D * (V' * s)), A(1:m, 1:m) * s, bound(U, D * V', s), diag(D));

if file > 0, fclose(file); end
if ! right, error("a result is wrong"); end  % Octave then exits with 1
