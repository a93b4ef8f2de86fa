% SPDX-License-Identifier: BSD-3-Clause
% The functions of MATLAB that BLASX's Table VI times, as Octave computes them: a line "NAME SECONDS CHECK" for each. The check
% is a number that must be the same with every BLAS, up to rounding.
% usage: octave blasx_applications.m [--warm SECONDS] N [NAME...]      N: the order of the largest matrices
% Products of order N run first for 5 SECONDS, so that the devices have started and the drop-in knows their rates.

1;

function [seconds, check] = product(n, class)
  A = rand(n, class); B = rand(n, class); tic;
  C = A * B; seconds = toc;
  check = C(n, n) / n;
end

% nnmf with multiplicative updates: A is nearly W * H, of rank n/16.
function [seconds, check] = nmf(n)
  k = ceil(n / 16);
  A = rand(n); W = rand(n, k); H = rand(k, n); tic;
  for iteration = 1:10
    H = H .* (W' * A) ./ ((W' * W) * H);
    W = W .* (A * H') ./ (W * (H * H'));
  end
  seconds = toc;
  check = norm(A - W * H, 'fro') / norm(A, 'fro');
end

% rotatefactors: the varimax rotation of n/8 factors, by singular values.
function [seconds, check] = rotation(n)
  m = ceil(n / 8);
  L = rand(4 * n, m) - 0.5; T = eye(m); tic;
  for iteration = 1:5
    B = L * T;
    [U, ~, V] = svd(L' * (B .^ 3 - B .* (sum(B .^ 2) / rows(L))));
    T = U * V';
  end
  R = L * T; seconds = toc;
  check = sum(var(R .^ 2));
end

% lsqlin with bounds 0 <= x <= 1: an interior-point method, with a Cholesky factorization in each step.
function [seconds, check] = least_squares(n)
  C = rand(2 * n, n); d = C * (rand(n, 1) * 2 - 0.5); tic;
  H = C' * C; f = C' * d; x = 0.5 * ones(n, 1); barrier = max(abs(f));
  for iteration = 1:10
    slope = H * x - f - barrier ./ x + barrier ./ (1 - x);
    R = chol(H + diag(barrier ./ x .^ 2 + barrier ./ (1 - x) .^ 2));
    step = -(R \ (R' \ slope));
    bounds = [-x(step < 0) ./ step(step < 0); (1 - x(step > 0)) ./ step(step > 0)];
    x += min(1, 0.9 * min(bounds)) * step;
    barrier /= 4;
  end
  seconds = toc;
  check = norm(C * x - d) / norm(d);
end

% ridge for n/4 answers and four penalties.
function [seconds, check] = ridge(n)
  X = rand(2 * n, n); Y = rand(2 * n, ceil(n / 4)); tic;
  G = X' * X; Z = X' * Y; check = 0;
  for penalty = [0.1 1 10 100]
    R = chol(G + penalty * eye(n));
    check += norm(R \ (R' \ Z), 'fro');
  end
  seconds = toc;
end

% Regression by a factorization with pivots, and the inverse that gives the errors of its coefficients.
function [seconds, check] = regression(n)
  X = [ones(2 * n, 1) rand(2 * n, n - 1)]; y = rand(2 * n, 1); tic;
  G = X' * X; b = G \ (X' * y); V = inv(G); seconds = toc;
  check = norm(b) + trace(V);
end

words = argv(); warm = 5;
if strcmp(words{1}, '--warm'), warm = str2double(words{2}); words(1:2) = []; end
n = str2double(words{1});
known = struct('sgemm', @() product(n, 'single'), 'dgemm', @() product(n, 'double'), 'nmf', @() nmf(n), ...
               'rotation', @() rotation(n), 'least-squares', @() least_squares(n), 'ridge', @() ridge(n), ...
               'regression', @() regression(n));
names = words(2:end);
if isempty(names), names = fieldnames(known); end
begun = tic;
while toc(begun) < warm, product(n, 'single'); product(n, 'double'); end
for name = names(:)'
  best = Inf;
  for repeat = 1:2
    rand('twister', 1);
    [seconds, check] = known.(name{1})(); best = min(best, seconds);
  end
  printf('%s %.4f %.12g\n', name{1}, best, check);
end
