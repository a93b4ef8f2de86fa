// SPDX-License-Identifier: BSD-3-Clause
// Leading dimensions and sizes of 2³¹ and more, through the 64-bit symbols, on a host BLAS with 32-bit integers. This
// process itself runs under the drop-in. Columns may lie 16 GiB apart: pages between them that are never touched take
// no memory.
#include <sys/mman.h>

#include <optional>

#include "dropin/symbols.hpp"

namespace tessera::test {
namespace {

constexpr Index long_column = (Index{1} << 31) + 5;

/// Zeroed memory. Only pages that are written take physical memory.
template <Scalar T>
class Zeros {
 public:
  explicit Zeros(Index count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no address space");
    data_ = static_cast<T*>(memory);
  }
  ~Zeros() { munmap(data_, bytes_); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  T* data() const { return data_; }
  void in_large_pages() const { madvise(data_, bytes_, MADV_HUGEPAGE); }

 private:
  std::size_t bytes_;
  T* data_;
};

/// A copy of a matrix with a very large leading dimension, with the sentinels below its columns.
template <Scalar T>
class Spread {
 public:
  explicit Spread(const HostMatrix<T>& compact) : zeros_(std::max<Index>(1, compact.n()) * long_column) {
    for (Index j = 0; j < compact.n(); j++)
      std::copy_n(compact.data() + j * compact.ld(), compact.ld(), data() + j * long_column);
  }
  T* data() const { return zeros_.data(); }
  void gather(HostMatrix<T>& compact) const {
    for (Index j = 0; j < compact.n(); j++)
      std::copy_n(data() + j * long_column, compact.ld(), compact.data() + j * compact.ld());
  }

 private:
  Zeros<T> zeros_;
};

/// The operands that have a very large leading dimension.
struct Long {
  bool A, B, C;
};

template <Scalar T>
::testing::AssertionResult is_right(const std::string& name, const Family& family, Layout layout, const Call<T>& before,
                                    const Long& which) {
  auto stored = layout == Layout::RowMajor ? row_major(before) : before;
  const auto A = stored.A, B = stored.B;
  std::optional<Spread<T>> long_a, long_b, long_c;
  auto arguments = stored.arguments();
  if (which.A) arguments.A = long_a.emplace(stored.A).data(), arguments.lda = long_column;
  if (which.B) arguments.B = long_b.emplace(stored.B).data(), arguments.ldb = long_column;
  if (which.C) arguments.C = long_c.emplace(stored.C).data(), arguments.ldc = long_column;
  const auto symbol = symbol_of<T>(family, name);
  call_symbol(*before.routine, address_of(symbol), family, layout, arguments);
  if (which.A) long_a->gather(stored.A);
  if (which.B) long_b->gather(stored.B);
  if (which.C) long_c->gather(stored.C);
  if (!(stored.A == A && stored.B == B)) return ::testing::AssertionFailure() << symbol << " changed an input";
  if (!stored.C.sentinels_intact()) return ::testing::AssertionFailure() << symbol << " wrote below a column";
  auto after = before;
  for (Index j = 0; j < after.C.n(); j++)
    for (Index i = 0; i < after.C.m(); i++)
      after.C(i, j) = layout == Layout::RowMajor ? stored.C(j, i) : stored.C(i, j);
  if (auto right = result_is_right(before, after); !right)
    return right << " (" << symbol << ", layout " << static_cast<char>(layout) << ')';
  return ::testing::AssertionSuccess();
}

class LongColumns : public EachRoutine {};
INSTANTIATE_TEST_SUITE_P(, LongColumns, each_routine(), its_name);

TEST_P(LongColumns, AreRightByEverySymbolOf64Bits) {
  run([]<Scalar T>(const Routine<T>& routine) {
    std::uint64_t seed = 0;
    for (const auto& family : {families[3], families[5]})
      for (const auto layout : layouts_of(family))
        for_all_options(routine, [&](const Options& options) {
          for (const auto& which : {Long{true, false, false}, Long{false, true, true}, Long{true, true, true}}) {
            const auto call = random_call_with_factors(routine, options, {9, 7, 5}, ++seed);
            ASSERT_TRUE(is_right(routine.name, family, layout, call, which));
          }
        });
  });
}

TEST_P(LongColumns, MayBelongToEmptyMatrices) {
  run([]<Scalar T>(const Routine<T>& routine) {
    for_all_sizes(routine, {0, 3}, [&](const Extent& extent) {
      const auto call = random_call_with_factors(routine, {}, extent, 1);
      ASSERT_TRUE(is_right(routine.name, families[3], Layout::ColMajor, call, {true, true, true}));
    });
  });
}

/// The drop-in cuts the call into pieces of 65536.
TEST(LongMatrices, AreCutAlongTheirResult) {
  constexpr Index large = 65536 + 77;
  constexpr auto N = Op::NoTrans, T = Op::Trans;
  const auto check = [](const char* name, const Options& options, const Extent& size, const Long& which) {
    const auto call = random_call(routine<double>(name), options, size, 3, 2, -1);
    EXPECT_TRUE(is_right(name, families[3], Layout::ColMajor, call, which));
  };
  check("gemm", {.op_a = N, .op_b = N}, {large, 3, 2}, {true, false, true});
  check("gemm", {.op_a = N, .op_b = T}, {2, large, 3}, {false, true, false});
  check("gemm", {.op_a = T, .op_b = N}, {2, 3, large}, {true, true, false});
  check("gemmt", {.uplo = Uplo::Upper, .op_a = T, .op_b = N}, {0, 3, large}, {true, true, true});
  check("symm", {.side = Side::Right, .uplo = Uplo::Lower}, {large, 3, 0}, {true, true, true});
  check("symm", {.side = Side::Left, .uplo = Uplo::Lower}, {3, large, 0}, {true, false, false});
  check("syrk", {.uplo = Uplo::Lower, .op_a = T}, {0, 3, large}, {true, false, true});
  check("syr2k", {.uplo = Uplo::Upper, .op_a = T}, {0, 3, large}, {true, true, false});
  check("trmm", {.side = Side::Right, .uplo = Uplo::Upper, .op_a = N}, {large, 3, 0}, {true, false, true});
  check("trsm", {.side = Side::Left, .uplo = Uplo::Lower, .op_a = T}, {3, large, 0}, {true, false, false});
}

/// C ← Aᵀ A, where A is one column with more elements than fit into 32 bits.
TEST(LongMatrices, MayHaveOneColumn) {
  const Zeros<float> column(long_column);
  column.in_large_pages();
  for (const Index i : {Index{0}, Index{65536}, long_column - 1}) column.data()[i] = 3;
  const auto symbol = [](const char* name) { return address_of(name); };
  using Dot = void(const char*, const char*, const std::int64_t*, const std::int64_t*, const std::int64_t*,
                   const float*, const float*, const std::int64_t*, const float*, const std::int64_t*, const float*,
                   float*, const std::int64_t*);
  const std::int64_t one = 1, k = long_column;
  const float factor = 2;
  float C = 5;
  reinterpret_cast<Dot*>(symbol("sgemm_64_"))("T", "N", &one, &one, &k, &factor, column.data(), &k, column.data(), &k,
                                              &factor, &C, &one);
  EXPECT_EQ(C, 2 * 27 + 10);
}

}  // namespace
}  // namespace tessera::test
