// SPDX-License-Identifier: BSD-3-Clause
// Operands in memory of any kind: pageable, pinned, managed, and GPU memory. Each test draws a kind at random. Elements
// that no routine may write, between columns and in the other triangle, must stay bitwise the same.
#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <tessera/lapack.hpp>

#include "support/operands.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/runtime.hpp"

namespace tessera::test {
namespace {

constexpr Index tile = 32;
const auto* const runtime = share_runtime(with_tile(tile));

void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// The number of GPUs that the session uses. Queried once, because `devices` examines the whole machine, which takes
/// longer than a call.
int gpu_count() {
  static const auto count = static_cast<int>(std::ranges::count(devices(), Device::Kind::Gpu, &Device::kind));
  return count;
}

constexpr std::size_t largest = 1 << 20;  // bytes of an operand
using Slot = std::array<std::byte*, 3>;   // for up to three operands of a call

/// Memory of each kind, allocated once, because allocation takes longer than the calls. A part of it imitates memory
/// from a pool.
const std::vector<Slot>& kinds() {
  static const auto all = [] {
    std::vector<Slot> made(1);
    for (auto& data : made[0]) data = new std::byte[largest];
    const auto add = [&](auto allocate) {
      for (auto& data : made.emplace_back()) require(allocate(reinterpret_cast<void**>(&data)));
    };
    for (int gpu = 0; gpu < gpu_count(); gpu++) {
      require(cudaSetDevice(gpu));
      if (gpu == 0) add([](void** data) { return cudaMallocHost(data, largest); });
      if (gpu == 0) add([](void** data) { return cudaMallocManaged(data, largest); });
      add([](void** data) { return cudaMalloc(data, largest); });
      add([](void** data) { return cudaMallocAsync(data, largest, nullptr); });
    }
    return made;
  }();
  return all;
}

/// A copy of some elements in memory of a random kind.
class Somewhere {
 public:
  /// @param number  position of the operand in its call
  template <Scalar T>
  Somewhere(std::size_t number, const T* data, std::size_t elements, std::mt19937_64& engine)
      : bytes_(elements * sizeof(T)),
        data_(kinds()[engine() % kinds().size()][number] + sizeof(T) * (1 + engine() % 3)) {
    copy(data_, data);
  }

  template <typename T>
  T* get() const {
    return reinterpret_cast<T*>(data_);
  }
  void bring_back(void* to) const { copy(to, data_); }

 private:
  void copy(void* to, const void* from) const {
    ASSERT_LE(bytes_ + 64, largest);
    if (bytes_ == 0) return;
    if (gpu_count() == 0) {
      std::memcpy(to, from, bytes_);
      return;
    }
    for (const void* const data : {static_cast<const void*>(to), from}) {  // other GPUs may not access a pool
      cudaPointerAttributes memory{};
      require(cudaPointerGetAttributes(&memory, data));
      if (memory.type == cudaMemoryTypeDevice) require(cudaSetDevice(memory.device));
    }
    require(cudaMemcpy(to, from, bytes_, cudaMemcpyDefault));
  }

  std::size_t bytes_;
  std::byte* data_;
};

template <Scalar T>
Somewhere somewhere(std::size_t number, const HostMatrix<T>& A, std::mt19937_64& engine) {
  return {number, A.data(), static_cast<std::size_t>(A.n() > 0 ? A.ld() * (A.n() - 1) + A.m() : 0), engine};
}

// --- the BLAS --------------------------------------------------------------------------------------------------------

class ScatteredProducts : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, ScatteredProducts, each_routine(), its_name);

TEST_P(ScatteredProducts, AreExact) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::mt19937_64 engine(7);
    for_all_options<T>(routine, [&](const Options& options) {
      for (const auto& size : {Extent{5, 3, 4}, Extent{3 * tile + 5, 2 * tile + 7, 2 * tile + 3}}) {
        const auto before = integer_call(routine, options, size, engine());
        auto after = before;
        const auto A = somewhere(0, before.A, engine), B = somewhere(1, before.B, engine),
                   C = somewhere(2, before.C, engine);
        auto all = after.arguments();
        all.A = A.template get<T>(), all.B = B.template get<T>(), all.C = C.template get<T>();
        run_as(before, [&] { routine.on_pointers(all); });
        A.bring_back(after.A.data()), B.bring_back(after.B.data()), C.bring_back(after.C.data());
        ASSERT_TRUE(result_is_that_of_the_host(before, after));
        ASSERT_TRUE(after.A == before.A);
        ASSERT_TRUE(after.B == before.B);
      }
    });
  });
}

// --- solvers ---------------------------------------------------------------------------------------------------------

enum class Part { All, Lower, Upper };

/// An operand of a solver as the routine sees its memory, column by column; NaN where the routine must not read.
template <Scalar T>
struct Stored {
  Index m, n, ld;
  std::vector<T> data;

  /// @param part  the stored part; the diagonal is large and real
  Stored(Index rows, Index columns, std::mt19937_64& engine, Part part = Part::All)
      : m(rows), n(columns), ld(rows + 3),
        data(static_cast<std::size_t>(ld * columns), T(std::numeric_limits<Real<T>>::quiet_NaN())) {
    std::uniform_real_distribution<Real<T>> values(-1, 1);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < m; i++) {
        if ((part == Part::Lower && i < j) || (part == Part::Upper && i > j)) continue;
        auto& x = data[static_cast<std::size_t>(i + j * ld)];
        if constexpr (is_complex<T>) x = {values(engine), values(engine)};
        else x = values(engine);
        if (i == j) x = T(static_cast<Real<T>>(std::max(m, n)) + std::real(x));
      }
  }
};

/// Whether elements are bitwise equal, or numbers that differ only by rounding.
template <Scalar T>
::testing::AssertionResult near(const std::vector<T>& expected, const std::vector<T>& found) {
  const auto limit = 2000 * std::numeric_limits<Real<T>>::epsilon();
  for (std::size_t i = 0; i < expected.size(); i++)
    if (std::memcmp(&expected[i], &found[i], sizeof(T)) != 0 &&
        !(std::abs(expected[i] - found[i]) <= limit * std::max<Real<T>>(1, std::abs(expected[i]))))
      return ::testing::AssertionFailure() << "element " << i << " is " << found[i] << " instead of " << expected[i];
  return ::testing::AssertionSuccess();
}

template <Scalar T>
struct Pointers {
  T *A, *B;
};

/// Makes a call on vectors, and on copies of them in memory of random kinds.
/// @param call  (Pointers) → info
template <Scalar T, typename Call>
void is_the_same_anywhere(const std::string& what, const Stored<T>& a, const Stored<T>& b, std::mt19937_64& engine,
                          Call call) {
  SCOPED_TRACE(what);
  auto A = a.data, B = b.data;
  const Index info = call(Pointers<T>{A.data(), B.data()});
  for (int draw = 0; draw < 2; draw++) {
    const Somewhere at_a(0, a.data.data(), a.data.size(), engine), at_b(1, b.data.data(), b.data.size(), engine);
    EXPECT_EQ(call(Pointers<T>{at_a.get<T>(), at_b.get<T>()}), info);
    auto found_a = a.data, found_b = b.data;
    at_a.bring_back(found_a.data()), at_b.bring_back(found_b.data());
    EXPECT_TRUE(near(A, found_a)) << "A";
    EXPECT_TRUE(near(B, found_b)) << "B";
  }
}

template <typename T>
class ScatteredSystems : public ::testing::Test {
 protected:
  /// Calls body(layout, n, nrhs).
  template <typename Body>
  static void for_each_case(Body body) {
    for (const auto layout : {Layout::ColMajor, Layout::RowMajor})
      for (const Index n : {Index{5}, 3 * tile + 5})
        for (const Index nrhs : {Index{3}, Index{70}}) body(layout, n, nrhs);
  }
  /// Right-hand sides as they are stored.
  Stored<T> right_sides(Layout layout, Index n, Index nrhs) {
    return layout == Layout::ColMajor ? Stored<T>(n, nrhs, engine) : Stored<T>(nrhs, n, engine);
  }
  /// The triangle that a row-major call sees of a column-major one.
  static Part stored(Layout layout, Uplo uplo) {
    return (uplo == Uplo::Lower) == (layout == Layout::ColMajor) ? Part::Lower : Part::Upper;
  }
  std::mt19937_64 engine{11};
};
TYPED_TEST_SUITE(ScatteredSystems, ScalarTypes);

TYPED_TEST(ScatteredSystems, ByCholeskyAndTriangles) {
  using T = TypeParam;
  this->for_each_case([&](Layout layout, Index n, Index nrhs) {
    for (const auto uplo : {Uplo::Lower, Uplo::Upper}) {
      const Stored<T> A(n, n, this->engine, this->stored(layout, uplo)), B = this->right_sides(layout, n, nrhs);
      const auto check = [&](const char* what, auto call) { is_the_same_anywhere<T>(what, A, B, this->engine, call); };
      check("potrf", [&](Pointers<T> p) { return potrf(layout, uplo, n, p.A, A.ld); });
      check("posv", [&](Pointers<T> p) { return posv(layout, uplo, n, nrhs, p.A, A.ld, p.B, B.ld); });
      check("potrs", [&](Pointers<T> p) { return potrs<T>(layout, uplo, n, nrhs, p.A, A.ld, p.B, B.ld), 0; });
      check("potri", [&](Pointers<T> p) { return potri(layout, uplo, n, p.A, A.ld); });
      check("lauum", [&](Pointers<T> p) { return lauum(layout, uplo, n, p.A, A.ld), 0; });
      check("trtri", [&](Pointers<T> p) { return trtri(layout, uplo, Diag::NonUnit, n, p.A, A.ld); });
      check("trtrs", [&](Pointers<T> p) {
        return trtrs<T>(layout, uplo, Op::Trans, Diag::NonUnit, n, nrhs, p.A, A.ld, p.B, B.ld);
      });
    }
  });
}

TYPED_TEST(ScatteredSystems, ByLu) {
  using T = TypeParam;
  this->for_each_case([&](Layout layout, Index n, Index nrhs) {
    const Stored<T> A(n, n, this->engine), B = this->right_sides(layout, n, nrhs);
    std::vector<std::int64_t> ipiv(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; i++) ipiv[static_cast<std::size_t>(i)] = std::min(n, i + 2);
    const auto pivots = ipiv;
    const auto check = [&](const char* what, auto call) { is_the_same_anywhere<T>(what, A, B, this->engine, call); };
    check("getrf", [&](Pointers<T> p) { return getrf(layout, n, n, p.A, A.ld, ipiv.data()); });
    check("gesv", [&](Pointers<T> p) { return gesv(layout, n, nrhs, p.A, A.ld, ipiv.data(), p.B, B.ld); });
    for (const auto op : {Op::NoTrans, Op::ConjTrans})
      check("getrs",
            [&](Pointers<T> p) { return getrs<T>(layout, op, n, nrhs, p.A, A.ld, pivots.data(), p.B, B.ld), 0; });
    check("getri", [&](Pointers<T> p) { return getri(layout, n, p.A, A.ld, pivots.data()); });
    check("laswp", [&](Pointers<T> p) { return laswp(layout, n, p.A, A.ld, 1, n, pivots.data(), 1), 0; });
    check("getrf_nopiv", [&](Pointers<T> p) { return getrf_nopiv(layout, n, n, p.A, A.ld); });
    check("getrs_nopiv",
          [&](Pointers<T> p) { return getrs_nopiv<T>(layout, Op::Trans, n, nrhs, p.A, A.ld, p.B, B.ld), 0; });
    check("gesv_nopiv", [&](Pointers<T> p) { return gesv_nopiv(layout, n, nrhs, p.A, A.ld, p.B, B.ld); });
  });
}

TYPED_TEST(ScatteredSystems, ByQr) {
  using T = TypeParam;
  this->for_each_case([&](Layout layout, Index n, Index nrhs) {
    const Index m = n + 9;
    const bool columns = layout == Layout::ColMajor;
    const Stored<T> A(columns ? m : n, columns ? n : m, this->engine), B = this->right_sides(layout, m, nrhs);
    std::vector<T> tau(static_cast<std::size_t>(n)), reflectors(tau.size(), T(Real<T>(0.25)));
    const auto check = [&](const char* what, auto call) { is_the_same_anywhere<T>(what, A, B, this->engine, call); };
    const auto adjoint = is_complex<T> ? Op::ConjTrans : Op::Trans;
    check("geqrf", [&](Pointers<T> p) { return geqrf(layout, m, n, p.A, A.ld, tau.data()), 0; });
    Stored<T> factors = A;
    geqrf(layout, m, n, factors.data.data(), factors.ld, tau.data());
    is_the_same_anywhere<T>("unmqr", factors, B, this->engine, [&](Pointers<T> p) {
      return unmqr<T>(layout, Side::Left, adjoint, m, nrhs, n, p.A, A.ld, tau.data(), p.B, B.ld), 0;
    });
    is_the_same_anywhere<T>("ungqr", factors, B, this->engine,
                            [&](Pointers<T> p) { return ungqr(layout, m, n, n - 1, p.A, A.ld, tau.data()), 0; });
    for (const auto op : {Op::NoTrans, adjoint}) {
      check("gels", [&](Pointers<T> p) { return gels(layout, op, m, n, nrhs, p.A, A.ld, p.B, B.ld); });
      const auto other = columns ? Layout::RowMajor : Layout::ColMajor;  // the same memory as a wide matrix
      const Stored<T> one(other == Layout::RowMajor ? 1 : m, other == Layout::RowMajor ? m : 1, this->engine);
      is_the_same_anywhere<T>("wide gels", A, one, this->engine,
                              [&](Pointers<T> p) { return gels(other, op, n, m, 1, p.A, A.ld, p.B, one.ld); });
    }
  });
}

// --- what only GPUs have ---------------------------------------------------------------------------------------------

class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() == 0) GTEST_SKIP() << "no GPU";
    require(cudaSetDevice(0));
  }
  static constexpr Index n = 3 * tile;
  static double* allocate(Index elements, bool managed = false) {
    void* data = nullptr;
    const auto bytes = static_cast<std::size_t>(elements) * sizeof(double);
    require(managed ? cudaMallocManaged(&data, bytes) : cudaMalloc(&data, bytes));
    return static_cast<double*>(data);
  }
};

TEST_F(OnGpu, ShortMemoryIsRefused) {
  const auto A = random_matrix<double>(1, n, n);
  auto* const C = allocate(n * n - 1);
  expect_refused<ArgumentError>(
      [&] { gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1., A.data(), n, A.data(), n, 0., C, n); }, "gemm", 12, "C",
      "in memory of GPU 0, must be at least " + std::to_string(n * n * 8));
  cudaFree(C);
}

TEST_F(OnGpu, AnAddressWithinAnElementIsRefused) {
  const auto A = random_matrix<std::complex<double>>(1, n, n);
  auto* const memory = allocate(2 * n * n + 1);
  auto* const C = reinterpret_cast<std::complex<double>*>(memory + 1);
  expect_refused<ArgumentError>(
      [&] { gemm<std::complex<double>>(Op::NoTrans, Op::NoTrans, n, n, n, 1., A.data(), n, A.data(), n, 0., C, n); },
      "gemm", 12, "C", "that is no multiple of 16 bytes");
  cudaFree(memory);
}

TEST_F(OnGpu, TheDefaultStreamIsWaitedFor) {
  constexpr Index large = 4096;
  std::vector<double> identity(static_cast<std::size_t>(n * n)), result = identity;
  for (Index i = 0; i < n; i++) identity[static_cast<std::size_t>(i * (n + 1))] = 1;
  for (const bool managed : {false, true}) {
    auto *const A = allocate(large * large, managed), *const C = allocate(n * n);
    require(cudaMemset(A, 0xff, large * large * sizeof(double)));
    for (int i = 0; i < 20; i++) require(cudaMemsetAsync(A, 0, large * large * sizeof(double)));
    gemm(Op::NoTrans, Op::NoTrans, n, n, n, 1., identity.data(), n, A + large * large - n * n, n, 0., C, n);
    require(cudaMemcpy(result.data(), C, result.size() * sizeof(double), cudaMemcpyDefault));
    for (const double x : result) ASSERT_EQ(x, 0) << managed;
    cudaFree(A), cudaFree(C);
  }
}

TEST_F(OnGpu, MatricesAreThere) {
  auto* const C = allocate(n * n);
  std::vector<double> ones(static_cast<std::size_t>(n * n), 1), result = ones;
  {
    const Matrix<double> a(static_cast<const double*>(ones.data()), n, n, n, {tile, tile}), c(C, n, n, n, {tile, tile});
    gemm(Op::NoTrans, Op::NoTrans, 1., a, a, 0., c);
    gemm(Op::NoTrans, Op::Trans, 1., a, a, 1., c);
    c.wait();
    require(cudaMemcpy(result.data(), C, result.size() * sizeof(double), cudaMemcpyDefault));
  }
  for (const double x : result) ASSERT_EQ(x, 2 * n);
  cudaFree(C);
}

}  // namespace
}  // namespace tessera::test
