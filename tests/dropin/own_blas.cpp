// SPDX-License-Identifier: BSD-3-Clause
// Programs without a BLAS of the system: they have loaded one privately, or have none.
#include <dlfcn.h>

#include "scenario.hpp"

namespace tessera::test::own_blas_cpp {
namespace {

using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                      const int*, const double*, const int*, const double*, double*, const int*);

/// A folder of libraries that cannot be loaded, under the names of those that the drop-in looks for.
struct Broken : Folder {
  Broken() {
    for (const char* name : {"libopenblas.so.0", "libblas.so.3"}) std::ofstream(*this / name) << "no library\n";
  }
  Variables variables() const { return {{"LD_LIBRARY_PATH", (*this / "").string()}, {"TESSERA_DEVICES", "0"}}; }
};

/// Calls the drop-in's dgemm_. The stand-in for the host BLAS returns 42.
int call_gemm() {
  auto* const gemm = reinterpret_cast<Gemm>(dlsym(RTLD_DEFAULT, "dgemm_"));
  require(gemm != nullptr, "the drop-in is not there");
  const int n = 1;
  const double one = 1;
  double C = 0;
  gemm("N", "N", &n, &n, &n, &one, &one, &n, &one, &n, &one, &C, &n);
  require(C == 42, "another BLAS");
  return 0;
}

const Scenario for_itself{"a BLAS for itself", [] {
                            require(dlopen(std::getenv("TESSERA_TEST_OWN_BLAS"), RTLD_NOW | RTLD_LOCAL) != nullptr,
                                    "the stand-in");
                            return call_gemm();
                          }};

TEST(OwnBlas, IsFoundAlthoughItIsPrivate) {
  const Broken folder;
  const auto ended = for_itself.run(folder.variables());
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_THAT(ended.said("host_blas"), ::testing::HasSubstr("own-blas")) << ended;
}

const Scenario single{"an OpenBLAS without threads", call_gemm};

TEST(OwnBlas, WithoutThreadsIsNotCalledByWorkers) {
  const Folder folder;
  std::filesystem::create_symlink(std::getenv("TESSERA_TEST_OWN_BLAS"), folder / "libopenblas.so.0");
  const auto ended = single.run({{"LD_LIBRARY_PATH", (folder / "").string()}, {"TESSERA_BLAS_MIN_FLOPS", "0"}});
  EXPECT_EQ(ended.status, 0) << ended;
  EXPECT_THAT(ended.err,
              ::testing::HasSubstr("libopenblas.so.0 is an OpenBLAS without threads, which may give wrong results"))
      << ended;
}

const Scenario two{"an OpenBLAS beside that of the drop-in", [] {
                     require(dlopen(std::getenv("TESSERA_TEST_OWN_BLAS"), RTLD_NOW | RTLD_GLOBAL) != nullptr,
                             "the stand-in");
                     const int n = 200;  // products of small matrices need no buffer
                     const std::vector<double> ones(static_cast<std::size_t>(n) * n, 1);
                     auto C = ones;
                     const double one = 1;
                     reinterpret_cast<Gemm>(dlsym(RTLD_DEFAULT, "dgemm_"))("N", "N", &n, &n, &n, &one, ones.data(), &n,
                                                                           ones.data(), &n, &one, C.data(), &n);
                     return C == std::vector<double>(C.size(), n + 1) ? 0 : 1;
                   }};

TEST(OwnBlas, KeepsItsBuffersToItself) {
  if (dlsym(RTLD_DEFAULT, "__asan_init") != nullptr || dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr)
    GTEST_SKIP() << "sanitizers do not allow RTLD_DEEPBIND";
  EXPECT_TRUE(has_ended_silently(two.run({{"TESSERA_DEVICES", "0"}})));
}

const Scenario without{"no BLAS at all", call_gemm};

TEST(OwnBlas, IsMissed) {
  const Broken folder;
  const auto ended = without.run(folder.variables());
  EXPECT_EQ(ended.signal, SIGABRT) << ended;
  EXPECT_THAT(ended.err, ::testing::HasSubstr("no host BLAS was found: libopenblas.so.0 cannot be loaded: ")) << ended;
  EXPECT_THAT(ended.err, ::testing::HasSubstr("; libblas.so.3 cannot be loaded: ")) << ended;
}

}  // namespace
}  // namespace tessera::test::own_blas_cpp
