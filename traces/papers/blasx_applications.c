/* SPDX-License-Identifier: BSD-3-Clause
 * The calls of blasx_applications.m without Octave, for machines that lack it. What lies between the calls is plain
 * loops.
 *
 *     cc -O3 -march=native blasx_applications.c -o blasx-applications -lopenblas -lm
 *     blasx-applications [--warm SECONDS] [--once] N [NAME...]
 *
 * Products of order N run first for 5 SECONDS, so that the devices have started and the drop-in knows their rates. Each
 * application then runs twice, or --once. The time is that of the faster run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            double*, const int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void dpotrs_(const char*, const int*, const int*, const double*, const int*, double*, const int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void dgetrs_(const char*, const int*, const int*, const double*, const int*, const int*, double*, const int*, int*);
void dgetri_(const int*, double*, const int*, const int*, double*, const int*, int*);
void dgesvd_(const char*, const char*, const int*, const int*, double*, const int*, double*, double*, const int*,
             double*, const int*, double*, const int*, int*);

static double begun, seconds; /* of the current application */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Called when the operands are there, and when the result is. */
static void start(void) { begun = now(); }
static void stop(void) { seconds = now() - begun; }

static unsigned long long state;

static double random_number(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53;
}

static double* matrix(int m, int n) {
  double* A = calloc((size_t)m * n, sizeof *A);
  if (A == NULL) exit((perror("blasx-applications"), 1));
  return A;
}

static double* random_matrix(int m, int n) {
  double* A = matrix(m, n);
  for (size_t i = 0; i < (size_t)m * n; i++) A[i] = random_number();
  return A;
}

/* C = op(A) op(B), in a new matrix if C is null */
static double* product(char op_a, char op_b, int m, int n, int k, const double* A, const double* B, double* C) {
  const double one = 1, zero = 0;
  const int lda = op_a == 'N' ? m : k, ldb = op_b == 'N' ? k : n;
  if (C == NULL) C = matrix(m, n);
  dgemm_(&op_a, &op_b, &m, &n, &k, &one, A, &lda, B, &ldb, &zero, C, &m);
  return C;
}

/* The upper triangle of A'A */
static double* gram(int m, int n, const double* A) {
  const double one = 1, zero = 0;
  double* G = matrix(n, n);
  dsyrk_("U", "T", &n, &m, &one, A, &m, &zero, G, &n);
  return G;
}

static double norm(size_t n, const double* x) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

static double single_product(int n) {
  const float one = 1, zero = 0;
  float *A = malloc(sizeof *A * n * n), *B = malloc(sizeof *B * n * n), *C = malloc(sizeof *C * n * n);
  for (size_t i = 0; i < (size_t)n * n; i++) A[i] = (float)random_number(), B[i] = (float)random_number();
  start();
  sgemm_("N", "N", &n, &n, &n, &one, A, &n, B, &n, &zero, C, &n);
  stop();
  const double check = C[(size_t)n * n - 1] / n;
  free(A), free(B), free(C);
  return check;
}

static double double_product(int n) {
  double *A = random_matrix(n, n), *B = random_matrix(n, n), *C = matrix(n, n);
  start();
  product('N', 'N', n, n, n, A, B, C);
  stop();
  const double check = C[(size_t)n * n - 1] / n;
  free(A), free(B), free(C);
  return check;
}

static void warm_up(int n, double duration) {
  const double first = now();
  while (now() - first < duration) single_product(n), double_product(n);
}

static double nmf(int n) {
  const int k = (n + 15) / 16;
  const size_t size = (size_t)n * k;
  double *A = random_matrix(n, n), *W = random_matrix(n, k), *H = random_matrix(k, n);
  double *top = matrix(n, k), *bottom = matrix(n, k), *square = matrix(k, k), *rest = matrix(n, n);
  start();
  for (int iteration = 0; iteration < 10; iteration++) {
    product('T', 'N', k, n, n, W, A, top), product('T', 'N', k, k, n, W, W, square);
    product('N', 'N', k, n, k, square, H, bottom);
    for (size_t i = 0; i < size; i++) H[i] *= top[i] / bottom[i];
    product('N', 'T', n, k, n, A, H, top), product('N', 'T', k, k, n, H, H, square);
    product('N', 'N', n, k, k, W, square, bottom);
    for (size_t i = 0; i < size; i++) W[i] *= top[i] / bottom[i];
  }
  stop();
  product('N', 'N', n, n, k, W, H, rest);
  const double all = norm((size_t)n * n, A);
  for (size_t i = 0; i < (size_t)n * n; i++) rest[i] -= A[i];
  const double check = norm((size_t)n * n, rest) / all;
  free(A), free(W), free(H), free(top), free(bottom), free(square), free(rest);
  return check;
}

static double rotation(int n) {
  const int m = (n + 7) / 8, p = 4 * n, room = 64 * m + 64;
  double *L = random_matrix(p, m), *T = matrix(m, m), *B = matrix(p, m), *M = matrix(m, m);
  double *U = matrix(m, m), *V = matrix(m, m), *values = matrix(m, 1), *work = matrix(room, 1);
  for (size_t i = 0; i < (size_t)p * m; i++) L[i] -= 0.5;
  for (int i = 0; i < m; i++) T[i + (size_t)i * m] = 1;
  start();
  for (int iteration = 0; iteration < 5; iteration++) {
    int info;
    product('N', 'N', p, m, m, L, T, B);
    for (int j = 0; j < m; j++) {
      double* b = B + (size_t)j * p;
      const double mean = norm(p, b) * norm(p, b) / p;
      for (int i = 0; i < p; i++) b[i] = b[i] * b[i] * b[i] - b[i] * mean;
    }
    product('T', 'N', m, m, p, L, B, M);
    dgesvd_("A", "A", &m, &m, M, &m, values, U, &m, V, &m, work, &room, &info);
    product('N', 'N', m, m, m, U, V, T);
  }
  product('N', 'N', p, m, m, L, T, B);
  stop();
  double check = 0;
  for (int j = 0; j < m; j++) {
    double squares = 0, fourth_powers = 0;
    for (int i = 0; i < p; i++) {
      const double square = B[i + (size_t)j * p] * B[i + (size_t)j * p];
      squares += square, fourth_powers += square * square;
    }
    check += (fourth_powers - squares * squares / p) / (p - 1);
  }
  free(L), free(T), free(B), free(M), free(U), free(V), free(values), free(work);
  return check;
}

static double least_squares(int n) {
  const int one = 1, m = 2 * n;
  double *C = random_matrix(m, n), *x = random_matrix(n, 1), *step = matrix(n, 1), *R = matrix(n, n);
  for (int i = 0; i < n; i++) x[i] = 2 * x[i] - 0.5;
  double* d = product('N', 'N', m, 1, n, C, x, NULL);
  start();
  double *f = product('T', 'N', n, 1, m, C, d, NULL), *H = gram(m, n, C);
  double barrier = 0;
  for (int i = 0; i < n; i++) x[i] = 0.5, barrier = fmax(barrier, fabs(f[i]));
  for (int iteration = 0; iteration < 10; iteration++, barrier /= 4) {
    int info;
    double* Cx = product('N', 'N', m, 1, n, C, x, NULL);
    product('T', 'N', n, 1, m, C, Cx, step); /* H x */
    memcpy(R, H, sizeof *R * n * n);
    for (int i = 0; i < n; i++) {
      R[i + (size_t)i * n] += barrier / (x[i] * x[i]) + barrier / ((1 - x[i]) * (1 - x[i]));
      step[i] = -(step[i] - f[i] - barrier / x[i] + barrier / (1 - x[i]));
    }
    dpotrf_("U", &n, R, &n, &info), dpotrs_("U", &n, &one, R, &n, step, &n, &info);
    double length = 1 / 0.9;
    for (int i = 0; i < n; i++)
      if (step[i] != 0) length = fmin(length, (step[i] < 0 ? -x[i] : 1 - x[i]) / step[i]);
    for (int i = 0; i < n; i++) x[i] += 0.9 * length * step[i];
    free(Cx);
  }
  stop();
  double* rest = product('N', 'N', m, 1, n, C, x, NULL);
  for (int i = 0; i < m; i++) rest[i] -= d[i];
  const double check = norm(m, rest) / norm(m, d);
  free(C), free(x), free(step), free(R), free(d), free(f), free(H), free(rest);
  return check;
}

static double ridge(int n) {
  const int m = 2 * n, answers = (n + 3) / 4;
  const double penalties[] = {0.1, 1, 10, 100};
  double *X = random_matrix(m, n), *Y = random_matrix(m, answers), *R = matrix(n, n), *B = matrix(n, answers),
         check = 0;
  start();
  double *G = gram(m, n, X), *Z = product('T', 'N', n, answers, m, X, Y, NULL);
  for (int p = 0; p < 4; p++) {
    int info;
    memcpy(R, G, sizeof *R * n * n), memcpy(B, Z, sizeof *B * n * answers);
    for (int i = 0; i < n; i++) R[i + (size_t)i * n] += penalties[p];
    dpotrf_("U", &n, R, &n, &info), dpotrs_("U", &n, &answers, R, &n, B, &n, &info);
    check += norm((size_t)n * answers, B);
  }
  stop();
  free(X), free(Y), free(G), free(R), free(Z), free(B);
  return check;
}

static double regression(int n) {
  const int one = 1, m = 2 * n, room = 64 * n;
  int info, *pivots = malloc(sizeof *pivots * n);
  double *X = random_matrix(m, n), *y = random_matrix(m, 1), *work = matrix(room, 1), trace = 0;
  for (int i = 0; i < m; i++) X[i] = 1;
  start();
  double *G = gram(m, n, X), *b = product('T', 'N', n, 1, m, X, y, NULL);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < j; i++) G[j + (size_t)i * n] = G[i + (size_t)j * n];
  dgetrf_(&n, &n, G, &n, pivots, &info), dgetrs_("N", &n, &one, G, &n, pivots, b, &n, &info);
  dgetri_(&n, G, &n, pivots, work, &room, &info);
  stop();
  for (int i = 0; i < n; i++) trace += G[i + (size_t)i * n];
  const double check = norm(n, b) + trace;
  free(X), free(y), free(G), free(b), free(work), free(pivots);
  return check;
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    double (*run)(int);
  } known[] = {{"sgemm", single_product}, {"dgemm", double_product},        {"nmf", nmf},
               {"rotation", rotation},    {"least-squares", least_squares}, {"ridge", ridge},
               {"regression", regression}};
  const int warm = argc > 2 && strcmp(argv[1], "--warm") == 0 ? 2 : 0;
  const int once = argc > warm + 1 && strcmp(argv[warm + 1], "--once") == 0, first = 1 + warm + once;
  const int n = argc > first ? atoi(argv[first]) : 0;
  if (n < 1) return fprintf(stderr, "usage: blasx-applications [--warm SECONDS] [--once] N [NAME...]\n"), 2;
  state = 88172645463325252ULL;
  warm_up(n, warm ? atof(argv[2]) : 5);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    int asked = argc == first + 1;
    for (int a = first + 1; a < argc; a++) asked = asked || strcmp(argv[a], known[i].name) == 0;
    if (!asked) continue;
    double best = INFINITY, check = 0;
    for (int repeat = once; repeat < 2; repeat++) {
      state = 88172645463325252ULL;
      check = known[i].run(n);
      best = fmin(best, seconds);
    }
    printf("%s %.4f %.12g\n", known[i].name, best, check);
    fflush(stdout);
  }
  return 0;
}
