% SPDX-License-Identifier: BSD-3-Clause
% A product, a solve and a Cholesky factorization of an unchanged Octave. Writes bounds and results to the file of the
% first argument, as same_results.py reads them.
1;  % not a function file

function save_result(file, name, bound, result)
  fprintf(file, "%s %.3e", name, bound);
  fprintf(file, " %.17g", real(result), imag(result));
  fprintf(file, "\n");
end

file = fopen(argv(){1}, "w");
n = 300;
rand("twister", 1);
A = rand(n); B = rand(n, 200); b = rand(n, 40);
M = A + n * eye(n);  % far from singular
unit = n * eps;
save_result(file, "product", unit * n, A * B);
save_result(file, "solve", unit, M \ b);
save_result(file, "chol", unit * n, chol(M' * M));
fclose(file);
