// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/tessera.h>

#include <memory>
#include <mutex>
#include <new>
#include <variant>
#include <vector>

#include <tessera/blas.hpp>
#include <tessera/blas3.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime.hpp>

using namespace tessera;

using AnyMatrix =
    std::variant<Matrix<float>, Matrix<double>, Matrix<std::complex<float>>, Matrix<std::complex<double>>>;

struct tessera_matrix {
  AnyMatrix matrix;
};

namespace {

thread_local std::string last_error;

/// Runs `call`; an exception becomes a status and the thread's last error.
template <typename Call>
tessera_status status_of(Call call) noexcept {
  try {
    call();
    return TESSERA_SUCCESS;
  } catch (const ArgumentError& error) {
    last_error = error.what();
    // An option of the runtime, from the environment, is no argument of the routine that happens to start it.
    const bool option = error.routine() == "Runtime" && error.argument() != "cpus" && error.argument() != "gpus";
    return option ? TESSERA_RUNTIME_FAILURE : -error.position();
  } catch (const std::exception& error) {
    last_error = error.what();
    return TESSERA_RUNTIME_FAILURE;
  }
}

Op to_op(const char* routine, int position, const char* name, tessera_op op) {
  switch (op) {
  case TESSERA_NO_TRANS: return Op::NoTrans;
  case TESSERA_TRANS: return Op::Trans;
  case TESSERA_CONJ_TRANS: return Op::ConjTrans;
  }
  throw ArgumentError(routine, position, name,
                      "is " + std::to_string(static_cast<int>(op)) +
                          ", must be TESSERA_NO_TRANS (111), TESSERA_TRANS (112) or TESSERA_CONJ_TRANS (113)");
}

template <typename P>
const P& require_pointer(const char* routine, int position, const char* name, const P& pointer) {
  if (pointer == nullptr) throw ArgumentError(routine, position, name, "is null");
  return pointer;
}

template <Scalar T>
tessera_status product(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                       const void* A, int64_t lda, const void* B, int64_t ldb, const void* beta, void* C, int64_t ldc) {
  return status_of([&] {
    const Op a = to_op("gemm", 1, "op_a", op_a), b = to_op("gemm", 2, "op_b", op_b);
    const auto* factor = static_cast<const T*>(require_pointer("gemm", 6, "alpha", alpha));
    const auto* scale = static_cast<const T*>(require_pointer("gemm", 11, "beta", beta));
    gemm<T>(a, b, m, n, k, *factor, static_cast<const T*>(A), lda, static_cast<const T*>(B), ldb, *scale,
            static_cast<T*>(C), ldc);
  });
}

/// Those of `tessera_init` that have not been finalized.
std::mutex mutex;
std::vector<std::unique_ptr<Runtime>> runtimes;

AnyMatrix make_matrix(char type, void* data, int64_t m, int64_t n, int64_t ld, TileSize tile) {
  switch (type) {
  case 's': return Matrix<float>(static_cast<float*>(data), m, n, ld, tile);
  case 'd': return Matrix<double>(static_cast<double*>(data), m, n, ld, tile);
  case 'c': return Matrix<std::complex<float>>(static_cast<std::complex<float>*>(data), m, n, ld, tile);
  case 'z': return Matrix<std::complex<double>>(static_cast<std::complex<double>*>(data), m, n, ld, tile);
  default:
    throw ArgumentError("tessera_matrix_create", 1, "type", std::string("is '") + type + "', must be s, d, c or z");
  }
}

}  // namespace

extern "C" {

const char* tessera_version(void) { return TESSERA_VERSION; }
const char* tessera_last_error(void) { return last_error.c_str(); }

tessera_status tessera_init(int cpus, int gpus) {
  return status_of([&] {
    RuntimeOptions options;
    options.cpus = cpus;
    options.gpus = gpus;
    auto runtime = std::make_unique<Runtime>(options);
    const std::lock_guard lock(mutex);
    runtimes.push_back(std::move(runtime));
  });
}

tessera_status tessera_finalize(void) {
  return status_of([] {
    std::unique_ptr<Runtime> last;
    const std::lock_guard lock(mutex);
    if (runtimes.empty()) throw RuntimeError("tessera_finalize: there was no tessera_init");
    last = std::move(runtimes.back());
    runtimes.pop_back();
  });
}

tessera_status tessera_wait(void) {
  return status_of([] { wait(); });
}

tessera_status tessera_sgemm(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, float alpha,
                             const float* A, int64_t lda, const float* B, int64_t ldb, float beta, float* C,
                             int64_t ldc) {
  return product<float>(op_a, op_b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
}

tessera_status tessera_dgemm(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, double alpha,
                             const double* A, int64_t lda, const double* B, int64_t ldb, double beta, double* C,
                             int64_t ldc) {
  return product<double>(op_a, op_b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
}

tessera_status tessera_cgemm(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                             const void* A, int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                             int64_t ldc) {
  return product<std::complex<float>>(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

tessera_status tessera_zgemm(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                             const void* A, int64_t lda, const void* B, int64_t ldb, const void* beta, void* C,
                             int64_t ldc) {
  return product<std::complex<double>>(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

tessera_status tessera_matrix_create(char type, void* data, int64_t m, int64_t n, int64_t ld, int64_t mb, int64_t nb,
                                     tessera_matrix** result) {
  if (result != nullptr) *result = nullptr;
  return status_of([&] {
    require_pointer("tessera_matrix_create", 8, "result", result);
    try {
      *result = new tessera_matrix{make_matrix(type, data, m, n, ld, {mb, nb})};
    } catch (const ArgumentError& error) {  // of Matrix(data, m, n, ld, {rows, columns}): ours follow the type
      if (error.routine() != "Matrix") throw;
      const bool columns = error.argument() == "tile.columns";
      const std::string name = columns ? "nb" : error.argument() == "tile.rows" ? "mb" : error.argument();
      throw ArgumentError("tessera_matrix_create", error.position() + (columns ? 2 : 1), name, error.problem());
    }
  });
}

tessera_status tessera_matrix_destroy(tessera_matrix* matrix) {
  if (matrix == nullptr) return TESSERA_SUCCESS;
  const auto status = tessera_matrix_wait(matrix);  // a failure must not be lost with the matrix
  delete matrix;
  return status;
}

tessera_status tessera_matrix_wait(const tessera_matrix* matrix) {
  return status_of([&] {
    require_pointer("tessera_matrix_wait", 1, "matrix", matrix);
    std::visit([](const auto& m) { m.wait(); }, matrix->matrix);
  });
}

int64_t tessera_matrix_mt(const tessera_matrix* matrix) {
  return matrix == nullptr ? 0 : std::visit([](const auto& m) { return m.mt(); }, matrix->matrix);
}

int64_t tessera_matrix_nt(const tessera_matrix* matrix) {
  return matrix == nullptr ? 0 : std::visit([](const auto& m) { return m.nt(); }, matrix->matrix);
}

struct _starpu_data_state* tessera_matrix_handle(const tessera_matrix* matrix, int64_t i, int64_t j) {
  if (i < 0 || i >= tessera_matrix_mt(matrix) || j < 0 || j >= tessera_matrix_nt(matrix)) return nullptr;
  return std::visit([&](const auto& m) { return m.handle(i, j); }, matrix->matrix);
}

tessera_status tessera_gemm_submit(tessera_op op_a, tessera_op op_b, const void* alpha, const tessera_matrix* A,
                                   const tessera_matrix* B, const void* beta, const tessera_matrix* C) {
  constexpr const char* routine = "tessera_gemm_submit";
  return status_of([&] {
    const Op a = to_op(routine, 1, "op_a", op_a), b = to_op(routine, 2, "op_b", op_b);
    require_pointer(routine, 3, "alpha", alpha);
    require_pointer(routine, 4, "A", A);
    require_pointer(routine, 5, "B", B);
    require_pointer(routine, 6, "beta", beta);
    require_pointer(routine, 7, "C", C);
    std::visit(
        [&]<Scalar T>(const Matrix<T>& c) {
          const auto* left = std::get_if<Matrix<T>>(&A->matrix);
          const auto* right = std::get_if<Matrix<T>>(&B->matrix);
          if (left == nullptr) throw ArgumentError(routine, 4, "A", "is not of the type of C");
          if (right == nullptr) throw ArgumentError(routine, 5, "B", "is not of the type of C");
          gemm<T>(a, b, *static_cast<const T*>(alpha), *left, *right, *static_cast<const T*>(beta), c);
        },
        C->matrix);
  });
}

}  // extern "C"
