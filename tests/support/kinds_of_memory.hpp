// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <iostream>
#include <thread>

#include "support/on_gpu.hpp"
#include "support/operands.hpp"
#include "support/random_cases.hpp"
#include "support/random_program.hpp"
#include "support/random_vector.hpp"

/// Random calls of eight threads at the same time, with each operand in a random kind of memory.
namespace tessera::test {

/// A copy of a matrix in memory of malloc, of which no page, all pages, or the first or last half are pinned, in pinned
/// or managed memory, or in the memory of any GPU.
template <Scalar T>
class Anywhere {
 public:
  Anywhere(const HostMatrix<T>& A, Random& random) : A_(A), kind_(static_cast<Kind>(random.integer(0, last_kind))) {
    const auto bytes = std::max<std::size_t>(bytes_of_elements(), 1);
    if (kind_ == managed) require(cudaMallocManaged(&data_, bytes));
    else if (kind_ == pinned) require(cudaMallocHost(&data_, bytes));
    else if (kind_ == gpu) allocate_on(random, bytes);
    else allocate_pages(random, bytes);
    copy(data_, A.data());
  }
  ~Anywhere() {
    if (registered_ != nullptr) cudaHostUnregister(registered_);
    if (kind_ == pages) std::free(data_);
    else if (kind_ == pinned) cudaFreeHost(data_);
    else cudaFree(data_);
  }
  Anywhere(const Anywhere&) = delete;
  Anywhere& operator=(const Anywhere&) = delete;

  T* data() const { return static_cast<T*>(data_); }
  HostMatrix<T> now() const {
    auto result = A_;
    copy(result.data(), data_);
    return result;
  }

 private:
  enum Kind : Index { pages, pinned, managed, gpu, last_kind = gpu };

  std::size_t bytes_of_elements() const { return static_cast<std::size_t>(A_.ld() * A_.n()) * sizeof(T); }

  void copy(void* target, const void* source) const {
    if (kind_ == pages) std::memcpy(target, source, bytes_of_elements());  // CUDA refuses memory that is pinned in part
    else require(cudaMemcpy(target, source, bytes_of_elements(), cudaMemcpyDefault));
  }

  void allocate_on(Random& random, std::size_t bytes) {
    int gpus = 0;
    require(cudaGetDeviceCount(&gpus));
    require(cudaSetDevice(static_cast<int>(random.integer(0, gpus - 1))));
    require(cudaMalloc(&data_, bytes));
  }

  void allocate_pages(Random& random, std::size_t bytes) {
    constexpr std::size_t page = 4096;
    const auto count = (bytes + page - 1) / page;
    data_ = std::aligned_alloc(page, count * page);
    const auto first = random.coin() ? 0 : count / 2, last = random.coin() ? count : count / 2;
    if (first >= last) return;
    registered_ = static_cast<std::byte*>(data_) + first * page;
    require(cudaHostRegister(registered_, (last - first) * page, cudaHostRegisterDefault));
  }

  HostMatrix<T> A_;
  Kind kind_;
  void* data_ = nullptr;
  void* registered_ = nullptr;
};

/// A call through `make_call(routine, arguments)`. Nothing but the result may change.
template <Scalar T, typename MakeCall>
void expect_right_anywhere(Random& random, std::uint64_t seed, const MakeCall& make_call) {
  const auto& routine = random.one_of(routines<T>());
  const auto options = random_options(routine, random);
  const Index largest = random.coin() ? 40 : 700;
  const Extent size{random.integer(0, largest), random.integer(0, largest), random.integer(0, largest)};
  const auto before = integer_call_with_factors(routine, options, size, seed);
  auto after = before;
  const Anywhere<T> A(before.A, random), B(before.B, random), C(before.C, random);
  auto all = after.arguments();
  all.A = A.data(), all.B = B.data(), all.C = C.data();
  run_as(before, [&] { make_call(routine, all); });
  after.A = A.now(), after.B = B.now(), after.C = C.now();
  if (!before.empty()) EXPECT_TRUE(result_is_exact(before, after));
  EXPECT_TRUE(after.A == before.A) << before;
  EXPECT_TRUE(after.B == before.B) << before;
}

/// Makes calls in double precision, real and complex, for TESSERA_TEST_SECONDS, or for 10 s.
template <typename MakeCall>
void expect_right_with_all_kinds_of_memory(const MakeCall& make_call) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(variable("TESSERA_TEST_SECONDS", 10));
  std::atomic<int> calls = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 8; thread++)
    threads.emplace_back([&, thread] {
      Random random(static_cast<std::uint64_t>(variable("TESSERA_TEST_SEED", 1)) * 8 + thread);
      while (std::chrono::steady_clock::now() < end && !::testing::Test::HasFailure()) {
        const auto seed = static_cast<std::uint64_t>(++calls);
        if (random.coin()) expect_right_anywhere<double>(random, seed, make_call);
        else expect_right_anywhere<std::complex<double>>(random, seed, make_call);
      }
    });
  for (auto& thread : threads) thread.join();
  std::cout << calls << " calls\n";
}

}  // namespace tessera::test
