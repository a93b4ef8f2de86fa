// SPDX-License-Identifier: BSD-3-Clause
// cuSOLVER: Cholesky factorizations by loops, on the thread of a stream. All other functions of it that Tessera calls
// say that they are not supported.
#include <cuda_runtime.h>

#include <cmath>
#include <complex>

#include "stand_in.hpp"

namespace stand_in {

namespace {

constexpr int success = 0, not_supported = 9;  // of cusolverStatus_t
constexpr int lower = 0;                       // of cublasFillMode_t

struct Solver {
  Stream* stream = nullptr;
};
Solver& solver_of(void* handle) { return *static_cast<Solver*>(handle); }

double conjugate(double x) { return x; }
float conjugate(float x) { return x; }
template <typename R>
std::complex<R> conjugate(std::complex<R> x) {
  return std::conj(x);
}

/// The factor of a triangle, without reading the imaginary part of the diagonal.
/// @return  0, or the order of the first leading minor that is not positive
template <typename T>
int cholesky(bool is_lower, int n, T* A, int lda) {
  const auto place = [=](int i, int j) { return i + static_cast<std::ptrdiff_t>(j) * lda; };
  // L(i, j), of which an upper triangle stores the adjoint
  const auto get = [=](int i, int j) { return is_lower ? A[place(i, j)] : conjugate(A[place(j, i)]); };
  const auto set = [=](int i, int j, T x) {
    (is_lower ? A[place(i, j)] : A[place(j, i)]) = is_lower ? x : conjugate(x);
  };
  for (int j = 0; j < n; j++) {
    auto rest = std::real(get(j, j));
    for (int k = 0; k < j; k++) rest -= std::norm(get(j, k));
    if (!(rest > 0)) return j + 1;
    const auto root = std::sqrt(rest);
    set(j, j, T(root));
    for (int i = j + 1; i < n; i++) {
      T sum = get(i, j);
      for (int k = 0; k < j; k++) sum -= get(i, k) * conjugate(get(j, k));
      set(i, j, sum / root);
    }
  }
  return 0;
}

template <typename T>
int factorize(void* handle, int uplo, int n, T* A, int lda, int* info) {
  auto& stream = *solver_of(handle).stream;
  require_access(stream.device, A, "potrf");
  stream.add([=] { *info = cholesky(uplo == lower, n, A, lda); });
  return success;
}

}  // namespace

extern "C" {

int cusolverDnCreate(void** handle) { return *handle = new Solver, success; }
int cusolverDnDestroy(void* handle) { return delete &solver_of(handle), success; }
int cusolverDnSetStream(void* handle, cudaStream_t stream) {
  return solver_of(handle).stream = &stream_of(stream), success;
}

#define CHOLESKY(letter, T)                                                                                       \
  int cusolverDn##letter##potrf_bufferSize(void* /*handle*/, int /*uplo*/, int /*n*/, T* /*A*/, int /*lda*/,      \
                                           int* elements) {                                                       \
    return *elements = 1, success;                                                                                \
  }                                                                                                               \
  int cusolverDn##letter##potrf(void* handle, int uplo, int n, T* A, int lda, T* /*workspace*/, int /*elements*/, \
                                int* info) {                                                                      \
    return factorize(handle, uplo, n, A, lda, info);                                                              \
  }
CHOLESKY(S, float)
CHOLESKY(D, double)
CHOLESKY(C, std::complex<float>)
CHOLESKY(Z, std::complex<double>)
#undef CHOLESKY

// The arguments do not matter.
#define NOT_SUPPORTED(name) \
  int cusolverDn##name() { return not_supported; }
#define NOT_SUPPORTED_IN_ALL_TYPES(name) \
  NOT_SUPPORTED(S##name) NOT_SUPPORTED(D##name) NOT_SUPPORTED(C##name) NOT_SUPPORTED(Z##name)
NOT_SUPPORTED_IN_ALL_TYPES(lauum_bufferSize)
NOT_SUPPORTED_IN_ALL_TYPES(lauum)
NOT_SUPPORTED_IN_ALL_TYPES(potri_bufferSize)
NOT_SUPPORTED_IN_ALL_TYPES(potri)
NOT_SUPPORTED_IN_ALL_TYPES(potrs)
NOT_SUPPORTED_IN_ALL_TYPES(getrf_bufferSize)
NOT_SUPPORTED_IN_ALL_TYPES(getrf)
NOT_SUPPORTED_IN_ALL_TYPES(getrs)
NOT_SUPPORTED_IN_ALL_TYPES(geqrf_bufferSize)
NOT_SUPPORTED_IN_ALL_TYPES(geqrf)
NOT_SUPPORTED(Xtrtri_bufferSize)
NOT_SUPPORTED(Xtrtri)
#undef NOT_SUPPORTED_IN_ALL_TYPES
#undef NOT_SUPPORTED

}  // extern "C"

}  // namespace stand_in
