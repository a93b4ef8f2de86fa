// SPDX-License-Identifier: BSD-3-Clause
// usage: mpirun -n N test-scalapack-types PxQ: the routines on ScaLAPACK's arrays in all types, compared with
// ScaLAPACK: blocks that are tiles, blocks that are put together, blocks that differ, and parts that begin inside a
// block.
#include <cstdlib>
#include <string>
#include <utility>

#include "blacs_matrix.hpp"

namespace {

/// ScaLAPACK's routines for a type, and Tessera's.
template <typename T>
struct Routines;
template <typename T>
struct HermitianRoutines;
#define DEFINE_ROUTINES(type, T)                                                  \
  template <>                                                                     \
  struct Routines<T> {                                                            \
    static constexpr std::pair gemm{&p##type##gemm_, &tessera_p##type##gemm_};    \
    static constexpr std::pair symm{&p##type##symm_, &tessera_p##type##symm_};    \
    static constexpr std::pair syrk{&p##type##syrk_, &tessera_p##type##syrk_};    \
    static constexpr std::pair trmm{&p##type##trmm_, &tessera_p##type##trmm_};    \
    static constexpr std::pair trsm{&p##type##trsm_, &tessera_p##type##trsm_};    \
    static constexpr std::pair potrf{&p##type##potrf_, &tessera_p##type##potrf_}; \
    static constexpr std::pair getrf{&p##type##getrf_, &tessera_p##type##getrf_}; \
    static constexpr std::pair getrs{&p##type##getrs_, &tessera_p##type##getrs_}; \
    static constexpr std::pair gesv{&p##type##gesv_, &tessera_p##type##gesv_};    \
  };
DEFINE_ROUTINES(s, float)
DEFINE_ROUTINES(d, double)
DEFINE_ROUTINES(c, std::complex<float>)
DEFINE_ROUTINES(z, std::complex<double>)
#define DEFINE_HERMITIAN(type, T)                                              \
  template <>                                                                  \
  struct HermitianRoutines<T> {                                                \
    static constexpr std::pair hemm{&p##type##hemm_, &tessera_p##type##hemm_}; \
    static constexpr std::pair herk{&p##type##herk_, &tessera_p##type##herk_}; \
  };
DEFINE_HERMITIAN(c, std::complex<float>)
DEFINE_HERMITIAN(z, std::complex<double>)

constexpr int one = 1, m = 70, n = 100;

/// How the operands of a call are stored: blocks of the result and the other operands, and where the parts begin.
struct Layout {
  const char* name;
  int block, other, first;
};

void require(bool right, const std::string& what) {
  if (right) return;
  all_right = false;
  std::fprintf(stderr, "%s in process (%d, %d) of %dx%d\n", what.c_str(), row, column, p, q);
}

template <typename T>
class Test {
 public:
  explicit Test(const Layout& x) : x_(x) {}

  void products() const {
    const int rest_m = m - x_.first + 1, rest_n = n - x_.first + 1;
    for (const char* trans : {"N", "T", "C"}) {
      const M A = other(n, n, 1), B = other(n, n, 2);
      M C = result(n, n, 3), D = C;
      both(
          [&](auto gemm, M& to) {
            gemm(trans, "T", &rest_m, &rest_n, &rest_m, &alpha, A.local.data(), &x_.first, &x_.first, A.desc,
                 B.local.data(), &x_.first, &x_.first, B.desc, &beta, to.local.data(), &x_.first, &x_.first, to.desc);
          },
          Routines<T>::gemm, C, D);
      compare(named("gemm").c_str(), D, C);
    }
    for (const char* side : {"L", "R"})
      for (const char* uplo : {"L", "U"}) {
        multiply_from(side, uplo, "symm", Routines<T>::symm);
        const M L = other(n, n, 4, n);
        for (const bool divides : {false, true}) {
          M X = result(m, n, 5), Y = X;
          both(
              [&](auto triangular, M& to) {
                triangular(side, uplo, "T", "N", &rest_m, &rest_n, &alpha, L.local.data(), &x_.first, &x_.first, L.desc,
                           to.local.data(), &x_.first, &x_.first, to.desc);
              },
              divides ? Routines<T>::trsm : Routines<T>::trmm, X, Y);
          compare(named(divides ? "trsm" : "trmm").c_str(), Y, X, 1e-10);
        }
      }
    for (const char* uplo : {"L", "U"})
      for (const char* trans : {"N", "T"}) update(uplo, trans, "syrk", Routines<T>::syrk, alpha, beta);
  }

  /// Operands without elements, whose descriptors have no rows or no columns.
  void empty() const {
    const int none = 0;
    const M A = other(m, none, 1), B = other(none, n, 2), L = other(m, m, 3, m);
    M C = result(m, n, 4), D = C;
    both(
        [&](auto gemm, M& to) {
          gemm("N", "N", &m, &n, &none, &alpha, A.local.data(), &one, &one, A.desc, B.local.data(), &one, &one, B.desc,
               &beta, to.local.data(), &one, &one, to.desc);
        },
        Routines<T>::gemm, C, D);
    compare(named("gemm of nothing").c_str(), D, C);
    M X = result(m, none, 5);
    Routines<T>::trsm.second("L", "L", "N", "N", &m, &none, &alpha, L.local.data(), &one, &one, L.desc, X.local.data(),
                             &one, &one, X.desc);
    std::vector<int> pivots(L.local.size());
    int info = -1;
    Routines<T>::getrf.second(&m, &none, X.local.data(), &one, &one, X.desc, pivots.data(), &info);
    require(info == 0, named("getrf of nothing"));
  }

  void hermitian() const {
    for (const char* uplo : {"L", "U"}) {
      for (const char* side : {"L", "R"}) multiply_from(side, uplo, "hemm", HermitianRoutines<T>::hemm);
      for (const char* trans : {"N", "C"})
        update(uplo, trans, "herk", HermitianRoutines<T>::herk, alpha.real(), beta.real());
    }
  }

  void cholesky() const {
    for (const char* uplo : {"L", "U"})
      for (const double diagonal : {2.0 * n, 0.0}) {  // positive definite or not
        M A = result(n, n, 1, diagonal), F = A;
        int info = -1, ours = -2;
        Routines<T>::potrf.first(uplo, &n, A.local.data(), &one, &one, A.desc, &info);
        Routines<T>::potrf.second(uplo, &n, F.local.data(), &one, &one, F.desc, &ours);
        if (diagonal > 0) compare(named("potrf").c_str(), F, A, 1e-11);
        require(info == ours, named("potrf") + ": info " + std::to_string(ours) + ", must be " + std::to_string(info));
      }
  }

  /// Factors, pivots and solutions, of the whole matrix and of a part that begins where a block does.
  void lu() const {
    const int nrhs = 30, inside = 2 * x_.block + 1;
    for (const int first : {1, inside})
      for (const int zero : {-1, first + 19}) {  // a column of zeros
        const int order = n - first + 1;
        M A = lu_matrix(first, zero), F = A;
        std::vector<int> theirs(static_cast<std::size_t>(A.rows + x_.block), -1), pivots = theirs;
        int info = -1, ours = -2;
        Routines<T>::getrf.first(&order, &order, A.local.data(), &first, &first, A.desc, theirs.data(), &info);
        Routines<T>::getrf.second(&order, &order, F.local.data(), &first, &first, F.desc, pivots.data(), &ours);
        require(info == ours, named("getrf") + ": info " + std::to_string(ours) + ", must be " + std::to_string(info));
        if (zero >= 0) continue;  // ScaLAPACK's pivots of the column are of no interest
        compare(named("getrf").c_str(), F, A, 1e-10);
        theirs.resize(static_cast<std::size_t>(A.rows)), pivots.resize(theirs.size());
        require(pivots == theirs, named("getrf") + ": other pivots");
        for (const char* trans : {"N", "T", "C"}) {
          M B = result(n, nrhs, 2), X = B;
          Routines<T>::getrs.first(trans, &order, &nrhs, A.local.data(), &first, &first, A.desc, theirs.data(),
                                   B.local.data(), &first, &one, B.desc, &info);
          Routines<T>::getrs.second(trans, &order, &nrhs, F.local.data(), &first, &first, F.desc, pivots.data(),
                                    X.local.data(), &first, &one, X.desc, &ours);
          compare(named("getrs").c_str(), X, B, 1e-10);
        }
        M C = lu_matrix(first, -1), G = C, B = result(n, nrhs, 2), X = B;
        Routines<T>::gesv.first(&order, &nrhs, C.local.data(), &first, &first, C.desc, theirs.data(), B.local.data(),
                                &first, &one, B.desc, &info);
        Routines<T>::gesv.second(&order, &nrhs, G.local.data(), &first, &first, G.desc, pivots.data(), X.local.data(),
                                 &first, &one, X.desc, &ours);
        compare(named("gesv").c_str(), X, B, 1e-10);
        compare(named("gesv, factors").c_str(), G, C, 1e-10);
        require(pivots == theirs && ours == 0, named("gesv") + ": other pivots");
      }
  }

 private:
  using M = MatrixOf<T>;
  M result(int rows, int columns, unsigned seed, double diagonal = 0) const {
    return {rows, columns, x_.block, seed, diagonal};
  }
  M other(int rows, int columns, unsigned seed, double diagonal = 0) const {
    return {rows, columns, x_.other, seed, diagonal};
  }

  /// Compares ScaLAPACK's and Tessera's product with a symmetric or Hermitian matrix.
  template <typename Both>
  void multiply_from(const char* side, const char* uplo, const char* name, Both routines) const {
    const int rest_m = m - x_.first + 1, rest_n = n - x_.first + 1;
    const M A = other(n, n, 1), B = other(m, n, 2);
    M C = result(m, n, 3), D = C;
    both(
        [&](auto routine, M& to) {
          routine(side, uplo, &rest_m, &rest_n, &alpha, A.local.data(), &x_.first, &x_.first, A.desc, B.local.data(),
                  &x_.first, &x_.first, B.desc, &beta, to.local.data(), &x_.first, &x_.first, to.desc);
        },
        routines, C, D);
    compare(named(name).c_str(), D, C);
  }
  /// The same for a rank-k update.
  template <typename Both, typename Factor>
  void update(const char* uplo, const char* trans, const char* name, Both routines, Factor of_product,
              Factor of_result) const {
    const int rest_m = m - x_.first + 1, rest_n = n - x_.first + 1;
    const M A = other(n, n, 1);
    M C = result(n, n, 3), D = C;
    both(
        [&](auto routine, M& to) {
          routine(uplo, trans, &rest_n, &rest_m, &of_product, A.local.data(), &x_.first, &x_.first, A.desc, &of_result,
                  to.local.data(), &x_.first, &x_.first, to.desc);
        },
        routines, C, D);
    compare(named(name).c_str(), D, C);
  }

  /// A matrix whose part from `first` is well conditioned, but only after its rows have been exchanged.
  /// @param zero  a column of zeros, or -1
  M lu_matrix(int first, int zero) const {
    M A = result(n, n, 1);
    const int begin = first - 1, order = n - begin;
    A.for_each([&](int i, int j, T& element) {
      if (std::min(i, j) >= begin && i - begin == (j - begin + 5) % order) element += T(n);
      if (j == zero) element = T{};
    });
    return A;
  }
  std::string named(const char* routine) const { return std::string(x_.name) + ", " + routine; }
  template <typename Call, typename Pair>
  static void both(Call call, const Pair& routines, M& theirs, M& ours) {
    call(routines.first, theirs);
    call(routines.second, ours);
  }
  static T number(double re, double im) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(re);
    else return T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
  }

  Layout x_;
  T alpha = number(0.7, -0.2), beta = number(-0.3, 0.4);
};

template <typename T>
void check() {
  for (const auto& layout : {Layout{"blocks of 16", 16, 16, 1},
                             {"blocks of 3", 3, 3, 1},
                             {"blocks of 1", 1, 1, 1},
                             {"parts inside blocks", 16, 16, 6}}) {
    const Test<T> test(layout);
    test.products();
    if constexpr (!std::is_floating_point_v<T>) test.hermitian();
    if (layout.first > 1) continue;  // ScaLAPACK cannot
    test.empty();
    test.cholesky();
    test.lu();
  }
  const Test<T> test({"blocks of 8 and 5", 8, 5, 1});
  test.products();
  if constexpr (!std::is_floating_point_v<T>) test.hermitian();
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, failures = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (argc != 2 || std::sscanf(argv[1], "%dx%d", &p, &q) != 2) return EXIT_FAILURE;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Column", p, q);  // not the order of the library's grids
  Cblacs_gridinfo(context, &p, &q, &row, &column);
  check<float>();
  check<double>();
  check<std::complex<float>>();
  check<std::complex<double>>();
  Cblacs_gridexit(context);
  const int failed = all_right ? 0 : 1;
  MPI_Allreduce(&failed, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
