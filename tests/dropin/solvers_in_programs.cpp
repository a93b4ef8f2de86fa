// SPDX-License-Identifier: BSD-3-Clause
// Programs that call LAPACK: devices that fail in the middle of a call, forks, and a LAPACK that calls the BLAS.
#include "beside.hpp"
#include "lapack_symbols.hpp"

namespace tessera::test::solvers_in_programs_cpp {
namespace {

/// The function that the program would call under this name.
void* program_function(const LapackFamily& family, const LapackCall& call) {
  void* const address = dlsym(RTLD_DEFAULT, symbol_of(family, call).c_str());
  require(address != nullptr, "a symbol");
  return address;
}

/// Makes a call, and compares the result with the host's.
template <Scalar T>
bool is_right(const LapackFamily& family, const LapackCall& call, std::uint64_t seed) {
  auto ours = legal_operands<T>(call, seed);
  auto hosts = ours;
  if (make_on_host(hosts, call) != 0) return false;
  return call_with(ours, program_function(family, call), family, call) == 0 && same_results(ours, hosts);
}

LapackCall system_of(Index n, Index nrhs) {
  return {.routine = LapackRoutine::gesv, .type = 'd', .n = n, .nrhs = nrhs};
}

// --- devices that fail -----------------------------------------------------------------------------------------------

/// Each call runs in a separate process, since devices fail only once per process.
template <Scalar T>
int all_calls() {
  std::uint64_t seed = 0;
  for (const auto layout : {Layout::ColMajor, Layout::RowMajor})
    for_all_lapack_calls<T>(layout, 37, 29, 11, [&](const LapackCall& call) {
      const auto& family = lapack_families[layout == Layout::RowMajor ? 4 : ++seed % 2 * 2];
      const pid_t child = fork();
      require(child >= 0, "no process");
      if (child == 0) {
        if (!is_right<T>(family, call, seed)) std::printf("%s is wrong\n", symbol_of(family, call).c_str());
        std::fflush(stdout);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) std::printf("%s was killed\n", symbol_of(family, call).c_str());
    });
  return 0;
}

int number_of_calls() {
  int count = 0;
  for_all_lapack_calls<double>(Layout::ColMajor, 2, 2, 2, [&](const LapackCall&) { count += 2; });
  return count;
}

const Scenario failing[] = {{"all solvers of s fail", all_calls<float>},
                            {"all solvers of d fail", all_calls<double>},
                            {"all solvers of c fail", all_calls<std::complex<float>>},
                            {"all solvers of z fail", all_calls<std::complex<double>>}};

TEST(SolversRedoneOnTheHost, InAllTypes) {
  for (const auto& scenario : failing) {
    const auto ended = run_with_fake("0", scenario, {{"OPENBLAS_NUM_THREADS", "1"}});
    EXPECT_TRUE(has_ended(ended)) << scenario.short_name();
    EXPECT_EQ(ended.lines(), number_of_calls()) << "not one sentence for each process";
  }
}

const Scenario one_solve{"one solve", [] {
                           require(is_right<double>(lapack_families[0], system_of(100, 3), 1), "a solution");
                           return 0;
                         }};

TEST(SolversRedoneOnTheHost, InOneLineOfTheLog) {
  const auto ended = run_with_fake("0", one_solve);
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, "a fake has burnt out"));
  EXPECT_EQ(ended.calls("host", "dgesv"), 1) << ended;
  EXPECT_EQ(ended.calls("devices"), 0) << ended;
}

// --- the log, forks and threads --------------------------------------------------------------------------------------

TEST(SolversInPrograms, AreInTheLog) {
  const auto ended = one_solve.run();
  EXPECT_TRUE(has_ended_silently(ended));
  ASSERT_EQ(ended.log.size(), 2u) << ended;
  const auto& line = ended.log[1];
  EXPECT_EQ(line["routine"], "dgesv");
  EXPECT_EQ(line["n"], 100);
  EXPECT_EQ(line["nrhs"], 3);
  EXPECT_FALSE(line.contains("m")) << line;
  EXPECT_EQ(line["place"], "devices");
  EXPECT_DOUBLE_EQ(line["flops"].get<double>(), 2.0 / 3 * 1e6 + 2 * 1e4 * 3);
  EXPECT_DOUBLE_EQ(line["bytes"].get<double>(), 8 * 2 * (1e4 + 300));
}

const Scenario forked{"a solve before and after a fork", [] {
                        require(is_right<double>(lapack_families[0], system_of(60, 3), 1), "a solution");
                        const pid_t child = fork();
                        if (child == 0) {
                          require(is_right<double>(lapack_families[0], system_of(60, 3), 2), "a child's solution");
                          std::exit(5);
                        }
                        require(status_of(child) == 5, "a child's status");
                        require(is_right<double>(lapack_families[0], system_of(60, 3), 3), "a later solution");
                        return 0;
                      }};

TEST(SolversInPrograms, StayOnTheHostInAForkedChild) {
  const auto ended = forked.run();
  EXPECT_TRUE(has_ended(ended));
  EXPECT_TRUE(says(ended, "forked"));
  EXPECT_EQ(ended.calls("devices", "dgesv"), 2) << ended;
  EXPECT_EQ(ended.calls("host", "dgesv"), 1) << ended;
}

// --- the program's own LAPACK ----------------------------------------------------------------------------------------

/// LAPACK's mixed-precision solver of definite systems, which the drop-in does not have.
const Scenario mixed{"dsposv", [] {
                       using Dsposv = void(const char*, const int*, const int*, double*, const int*, double*,
                                           const int*, double*, const int*, double*, float*, int*, int*);
                       auto* const dsposv = reinterpret_cast<Dsposv*>(dlsym(RTLD_DEFAULT, "dsposv_"));
                       require(dsposv != nullptr, "dsposv_");
                       const int n = 90, nrhs = 2;
                       auto A = random_matrix<double>(n, n, 1);
                       for (int j = 0; j < n; j++) {
                         for (int i = 0; i < j; i++) A(i, j) = A(j, i);
                         A(j, j) += n;
                       }
                       auto B = random_matrix<double>(n, nrhs, 2);
                       const auto matrix = A;
                       Dense<double> X(n, nrhs), work(n, nrhs);
                       std::vector<float> single(static_cast<std::size_t>(n * (n + nrhs)));
                       int iterations = 0, info = -1;
                       dsposv("L", &n, &nrhs, A.data.data(), &n, B.data.data(), &n, X.data.data(), &n, work.data.data(),
                              single.data(), &iterations, &info);
                       require(info == 0 && iterations > 0, "an iteration");
                       for (int j = 0; j < nrhs; j++)
                         for (int i = 0; i < n; i++) {
                           double sum = -B(i, j);
                           for (int k = 0; k < n; k++) sum += matrix(i, k) * X(k, j);
                           require(std::abs(sum) < 1e-12, "a solution");
                         }
                       return 0;
                     }};

/// The factorization in single precision reaches the drop-in.
TEST(SolversInPrograms, ServeOtherRoutinesOfLapack) {
  const auto ended = mixed.run();
  EXPECT_TRUE(has_ended_silently(ended));
  EXPECT_EQ(ended.calls("devices", "spotrf"), 1) << ended;
  EXPECT_GE(ended.calls("devices", "spotrs"), 2) << ended;
}

/// The reference LAPACK calls itself and the BLAS through symbols. A call that it computes counts once.
TEST(SolversInPrograms, CountOnceOnTheReferenceLapack) {
  const char* reference = std::getenv("TESSERA_TEST_REFERENCE_LAPACK");
  if (reference == nullptr || !std::filesystem::exists(reference)) GTEST_SKIP() << "install liblapack3";
  const auto preload = place_of("TESSERA_TEST_DROPIN") + ":" + reference;
  const auto host = one_solve.run({{"LD_PRELOAD", preload}, {"TESSERA_DEVICES", "0"}});
  EXPECT_TRUE(has_ended_silently(host));
  EXPECT_EQ(host.calls("host", "dgesv"), 1) << host;
  EXPECT_EQ(host.calls("host"), 1) << host;
  const auto devices = one_solve.run({{"LD_PRELOAD", preload}});
  EXPECT_TRUE(has_ended_silently(devices));
  EXPECT_EQ(devices.calls("devices", "dgesv"), 1) << devices;
  // The drop-in lacks dgesvx and similar routines, but has the routines that they call.
  const auto through = mixed.run({{"LD_PRELOAD", preload}});
  EXPECT_TRUE(has_ended_silently(through));
  EXPECT_EQ(through.calls("devices", "spotrf"), 1) << through;
  EXPECT_EQ(through.calls("host"), 0) << through;
}

}  // namespace
}  // namespace tessera::test::solvers_in_programs_cpp
