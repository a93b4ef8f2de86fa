// SPDX-License-Identifier: BSD-3-Clause
// dsgesv, zcgesv, dsposv and zcposv: solutions, ITER and INFO are LAPACK's for all kinds of matrices.
#include <dlfcn.h>

#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>

#include "products.hpp"

extern "C" {
void dsgesv_(const int*, const int*, double*, const int*, int*, const double*, const int*, double*, const int*, double*,
             float*, int*, int*);
void zcgesv_(const int*, const int*, std::complex<double>*, const int*, int*, const std::complex<double>*, const int*,
             std::complex<double>*, const int*, std::complex<double>*, std::complex<float>*, double*, int*, int*);
void dsposv_(const char*, const int*, const int*, double*, const int*, const double*, const int*, double*, const int*,
             double*, float*, int*, int*);
void zcposv_(const char*, const int*, const int*, std::complex<double>*, const int*, const std::complex<double>*,
             const int*, std::complex<double>*, const int*, std::complex<double>*, std::complex<float>*, double*, int*,
             int*);
}

namespace tessera::test::mixed_cpp {
namespace {

template <typename First, typename... Others>
constexpr bool takes_triangle(void (* /*function*/)(First, Others...)) {
  return std::is_same_v<First, const char*>;
}

double conjugate_of(double x) { return x; }
std::complex<double> conjugate_of(std::complex<double> x) { return std::conj(x); }

template <typename T>
struct System {
  char uplo = 'L';
  int n = 60, nrhs = 3, iter = 99, info = 99;
  std::vector<T> A, B, X = std::vector<T>(static_cast<std::size_t>((n + 1) * nrhs));
  std::vector<int> pivots = std::vector<int>(static_cast<std::size_t>(n));

  System() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> values(-1, 1);
    const auto fill = [&](std::vector<T>& all, int columns) {
      for (int i = 0; i < (n + 2) * columns; i++) all.push_back(T(values(random)));
    };
    fill(A, n), fill(B, nrhs);
  }
  T& a(int i, int j) { return A[static_cast<std::size_t>(i + j * (n + 2))]; }
  T& b(int i, int j) { return B[static_cast<std::size_t>(i + j * (n + 2))]; }

  void make_definite() {
    for (int j = 0; j < n; j++) {
      for (int i = 0; i < j; i++) a(i, j) = conjugate_of(a(j, i));
      a(j, j) = 2 * n;
    }
  }

  template <typename Function>
  void solve(Function* function) {
    const int lda = n + 2, ldx = n + 1;
    const int order = std::max(0, n);  // n may be illegal
    std::vector<T> work(static_cast<std::size_t>(order * nrhs));
    const auto count = static_cast<std::size_t>(order * (order + nrhs));
    const auto call = [&](auto... others) {
      if constexpr (takes_triangle(static_cast<Function*>(nullptr)))
        function(&uplo, &n, &nrhs, A.data(), &lda, B.data(), &lda, X.data(), &ldx, work.data(), others...);
      else function(&n, &nrhs, A.data(), &lda, pivots.data(), B.data(), &lda, X.data(), &ldx, work.data(), others...);
    };
    if constexpr (std::is_same_v<T, double>) {
      std::vector<float> low(count);
      call(low.data(), &iter, &info);
    } else {
      std::vector<std::complex<float>> low(count);
      std::vector<double> rwork(static_cast<std::size_t>(order));
      call(low.data(), rwork.data(), &iter, &info);
    }
  }
};

/// Solves a system with the drop-in's function and with the host's, and compares the results.
/// @param iter  the expected ITER; 1: any number of iterations
template <typename T, typename Function, typename Change>
void compare(Function* ours, const char* name, int iter, bool is_solved, Change change) {
  System<T> mine;
  change(mine);
  auto hosts = mine;
  const auto before = mine;
  mine.solve(ours);
  void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  hosts.solve(reinterpret_cast<Function*>(dlsym(library, name)));
  require(mine.info == hosts.info && (mine.info == 0) == is_solved, "INFO");
  require((mine.iter < 0) == (hosts.iter < 0) && (mine.iter >= 0 || mine.iter == hosts.iter), "ITER is not LAPACK's");
  require(iter == 1 ? mine.iter >= 0 : mine.iter == iter, "ITER");
  require(mine.pivots == hosts.pivots, "the pivots");
  require(mine.iter < 0 || mine.A == before.A, "A has changed");
  require(mine.B == before.B, "B has changed");
  for (std::size_t i = 0; is_solved && i < mine.X.size(); i++)
    require(std::abs(mine.X[i] - hosts.X[i]) <= 1e-6 * std::abs(hosts.X[i]) + 1e-9, "the solution");
}

template <typename T, typename Function>
int all_systems(Function* ours, const char* name) {
  compare<T>(ours, name, 1, true, [](auto&) {});
  compare<T>(ours, name, -2, true, [](auto& s) { s.b(3, 1) = 1e60; });
  compare<T>(ours, name, -2, true, [](auto& s) { s.a(3, 1) = -1e60; });
  compare<T>(ours, name, -3, false, [](auto& s) {
    for (int i = 0; i < s.n; i++) s.a(i, 5) = 0;
  });
  compare<T>(ours, name, -3, true, [](auto& s) {  // singular in single precision only
    for (int i = 0; i < s.n; i++) s.a(i, 5) = s.a(i, 5) * 1e-60;
  });
  compare<T>(ours, name, -31, true, [](auto& s) {  // two columns differ only by an error of single precision
    for (int i = 0; i < s.n; i++) s.a(i, 6) = s.a(i, 5) + 1e-9 * s.a(i, 6);
  });
  System<T> illegal;
  illegal.n = -1;
  illegal.solve(ours);
  require(illegal.info == -1, "INFO of an illegal argument");
  System<T> empty;
  empty.n = 0;
  empty.solve(ours);
  require(empty.info == 0 && empty.iter == 0, "an empty system");
  return 0;
}

template <typename T, typename Function>
int all_definite_systems(Function* ours, const char* name) {
  for (const char uplo : {'L', 'u'}) {
    const auto definite = [&](auto change) {
      return [=](auto& s) {
        s.make_definite(), s.uplo = uplo;
        change(s);
      };
    };
    compare<T>(ours, name, 1, true, definite([](auto&) {}));
    compare<T>(ours, name, -2, true, definite([](auto& s) { s.b(3, 1) = 1e60; }));
    compare<T>(ours, name, -2, true, definite([](auto& s) { s.a(5, 5) = 1e60; }));
    compare<T>(ours, name, -3, false, definite([](auto& s) { s.a(5, 5) = -1; }));
  }
  System<T> illegal;
  illegal.uplo = 'x';
  illegal.solve(ours);
  require(illegal.info == -1, "INFO of an illegal argument");
  return 0;
}

const Scenario real{"dsgesv", [] { return all_systems<double>(dsgesv_, "dsgesv_"); }};
const Scenario complex{"zcgesv", [] { return all_systems<std::complex<double>>(zcgesv_, "zcgesv_"); }};

const Scenario definite{"dsposv", [] { return all_definite_systems<double>(dsposv_, "dsposv_"); }};
const Scenario hermitian{"zcposv", [] { return all_definite_systems<std::complex<double>>(zcposv_, "zcposv_"); }};

TEST(MixedPrecision, SaysWhatLapackSays) {
  for (const auto& [scenario, letters, routine] :
       {std::tuple(&real, "sd", "getrf"), std::tuple(&complex, "cz", "getrf"), std::tuple(&definite, "sd", "potrf"),
        std::tuple(&hermitian, "cz", "potrf")}) {
    const auto ended = scenario->run({{"OPENBLAS_NUM_THREADS", "1"}});
    EXPECT_TRUE(ended.signal == 0 && ended.status == 0 && !ended.late) << ended;
    for (const char letter : std::string(letters))
      EXPECT_GE(ended.calls("devices", letter + std::string(routine)), 3) << ended;
  }
}

}  // namespace
}  // namespace tessera::test::mixed_cpp
