// SPDX-License-Identifier: BSD-3-Clause
// Julia's libblastrampoline accepts the companion library and forwards calls to it.
#include <dlfcn.h>

#include <complex>

#include "scenario.hpp"

namespace tessera::test::julia_cpp {
namespace {

/// A library as libblastrampoline opens it.
class Forwarded {
 public:
  explicit Forwarded(const char* suffix) : suffix_(suffix) {
    library_ = dlopen(std::getenv("TESSERA_TEST_JULIA"), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library_ == nullptr) std::puts(dlerror());
    require(library_ != nullptr, "dlopen");
  }
  template <typename Function>
  Function* find(const char* name) const {
    void* const found = dlsym(library_, (name + suffix_).c_str());
    require(found != nullptr, name);
    return reinterpret_cast<Function*>(found);
  }
  template <typename Function>
  void require_ours(Function* function) const {
    Dl_info info{};
    require(dladdr(reinterpret_cast<void*>(function), &info) != 0, "dladdr");
    require(std::string(info.dli_fname).find("libtessera_blas.so") != std::string::npos, info.dli_fname);
  }

 private:
  void* library_;
  std::string suffix_;
};

/// What libblastrampoline checks in a library before it uses it.
/// @param bits  the width of integers that it must find
void recognize(const Forwarded& library, int bits) {
  const auto n = static_cast<std::int64_t>(0xffffffff00000003), one = std::int64_t{1};  // 3, or less than 0
  const float x[3] = {1, 2, 1}, half = 0.5F;
  const auto found =
      library.find<std::int64_t(const std::int64_t*, const float*, const std::int64_t*)>("isamax_")(&n, x, &one) &
      0xffffffff;
  require(found == (bits == 64 ? 0 : 2), "the width of integers");
  using Dot = float(const std::int64_t*, const float*, const std::int64_t*, const float*, const std::int64_t*);
  require(library.find<Dot>("sdot_")(&one, &half, &one, &half, &one) == 0.25F, "sdot");
  using Complex = std::complex<double>;
  using ComplexDot = Complex(const void*, const void*, const void*, const void*, const void*, const void*);
  Complex result{0, 1};
  const std::int64_t zero = 0;
  const Complex nothing = 0;
  (void)library.find<ComplexDot>("zdotc_")(&result, &zero, &nothing, &zero, &nothing, &zero);  // by an argument?
  require(result == Complex(0, 1), "zdotc writes through its first argument");
  require(library.find<ComplexDot>("zdotc_")(&zero, &nothing, &zero, &nothing, &zero, nullptr) == 0.0, "zdotc");
}

template <typename Int>
int compute(const char* suffix) {
  const Forwarded library(suffix);
  recognize(library, 8 * sizeof(Int));
  const Int n = 300, one = 1, back = -1;
  const auto count = static_cast<std::size_t>(n * n);
  std::vector<double> A(count, 0), B(count, 1), C(count, 7);
  for (Int i = 0; i < n; i++) A[static_cast<std::size_t>(i + i * n)] = 4;
  const double alpha = 1, beta = 0;
  auto* const dgemm =
      library.find<void(const char*, const char*, const Int*, const Int*, const Int*, const double*, const double*,
                        const Int*, const double*, const Int*, const double*, double*, const Int*)>("dgemm_");
  library.require_ours(dgemm);
  dgemm("N", "N", &n, &n, &n, &alpha, A.data(), &n, B.data(), &n, &beta, C.data(), &n);
  require(std::ranges::all_of(C, [](double c) { return c == 4; }), "the product");
  auto* const dgesv =
      library.find<void(const Int*, const Int*, double*, const Int*, Int*, double*, const Int*, Int*)>("dgesv_");
  library.require_ours(dgesv);
  std::vector<Int> pivots(static_cast<std::size_t>(n));
  Int info = back;
  dgesv(&n, &one, A.data(), &n, pivots.data(), C.data(), &n, &info);
  require(info == 0 && C[0] == 1 && C[static_cast<std::size_t>(n - 1)] == 1, "the solution");
  require(pivots.back() == n, "the last pivot");
  auto* const zdotc = library.find<std::complex<double>(const Int*, const std::complex<double>*, const Int*,
                                                        const std::complex<double>*, const Int*)>("zdotc_");
  const std::vector<std::complex<double>> x{{0, 1}, {2, 0}}, y{{3, 0}, {0, 5}};
  const Int two = 2;
  require(zdotc(&two, x.data(), &one, y.data(), &back) == 11.0, "zdotc, backwards");
  return 0;
}

const Variables not_preloaded{{"LD_PRELOAD", {}}, {"OPENBLAS_NUM_THREADS", "1"}};

const Scenario wide{"Julia", [] { return compute<std::int64_t>("64_"); }};

TEST(Julia, ForwardsWith64BitIntegers) {
  const auto ended = wide.run(not_preloaded);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 2) << ended;
}

const Scenario narrow{"Julia, 32 bits", [] { return compute<int>(""); }};

TEST(Julia, ForwardsWith32BitIntegers) {
  const auto ended = narrow.run(not_preloaded);
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices"), 2) << ended;
}

}  // namespace
}  // namespace tessera::test::julia_cpp
