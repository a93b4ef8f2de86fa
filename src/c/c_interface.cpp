// SPDX-License-Identifier: BSD-3-Clause
// Runtime, errors and matrices in C; the routines are in the other files.
#include "c_interface.hpp"

#include <initializer_list>
#include <mutex>
#include <string_view>
#include <utility>

#include <tessera/pinned.hpp>
#include <tessera/runtime.hpp>

#include "common/of_type.hpp"
#include "runtime/process_session.hpp"
#include "tile/tile_grid.hpp"

namespace tessera::c {

namespace {

thread_local std::string last_error;

/// The number of calls of `tessera_init` that `tessera_finalize` has not matched yet.
std::mutex mutex;
int started = 0;

/// Maps an argument of a member function of Matrix, or an option, to the corresponding argument of the C function.
struct Origin {
  std::string_view argument;
  int position;
  const char* name;
};

/// Returns the result of `call`. If Matrix or Runtime throws an ArgumentError, replaces the argument in it by the
/// argument of the C function.
template <typename Call>
auto with_origins(std::initializer_list<Origin> origins, Call call) {
  try {
    return call();
  } catch (const ArgumentError& error) {
    for (const auto& origin : origins)
      if (error.argument() == origin.argument)
        throw ArgumentError(error.routine(), origin.position, origin.name, error.problem());
    throw;
  }
}

/// Sets `result`, the argument after all origins, to a new matrix.
/// @param make  (T element): a Matrix<T>
template <typename Make>
tessera_status create(const char* function, char type, std::initializer_list<Origin> origins, tessera_matrix** result,
                      Make make) {
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    require_pointer(function, static_cast<int>(origins.size()) + 2, "result", result);
    require_type(function, 1, type);
    const auto matrix = with_origins(origins, [&] {
      return common::with_type(type, [&]<Scalar T>(T element) { return AnyMatrix(make(element)); });
    });
    *result = new tessera_matrix{matrix, std::shared_ptr<Family>(new Family{matrix})};
  });
}

/// A C handle for `matrix`, which shares the tiles of `other`.
tessera_matrix* relative(const tessera_matrix& other, AnyMatrix matrix) {
  auto* result = new tessera_matrix{std::move(matrix), other.family};
  result->family->members++;
  return result;
}

void wait_for(const AnyMatrix& matrix) {
  std::visit([](const auto& m) { m.wait(); }, matrix);
}
bool has_memory(const AnyMatrix& matrix) {
  return std::visit([](const auto& m) { return detail::MatrixAccess::grid(m).has_memory(); }, matrix);
}

}  // namespace

tessera_status failure_of(const char* function) noexcept {
  try {
    throw;
  } catch (const ArgumentError& error) {
    const bool ours = error.position() > 0;  // 0: an option of the runtime that the function starts
    last_error =
        ours ? ArgumentError(function, error.position(), error.argument(), error.problem()).what() : error.what();
    return ours ? -error.position() : TESSERA_RUNTIME_FAILURE;
  } catch (const std::exception& error) {
    last_error = error.what();
    return TESSERA_RUNTIME_FAILURE;
  }
}

extern "C" {

const char* tessera_version(void) { return TESSERA_VERSION; }
const char* tessera_last_error(void) { return last_error.c_str(); }

tessera_status tessera_init(int cpus, int gpus) {
  return status_of("tessera_init", [&] {
    RuntimeOptions options;
    options.cpus = cpus;
    options.gpus = gpus;
    const auto count = [](int change) {
      const std::lock_guard lock(mutex);
      started += change;
    };
    count(1);  // first, so that no tessera_finalize of another thread ends the session
    try {
      with_origins({{"cpus", 1, "cpus"}, {"gpus", 2, "gpus"}}, [&] { runtime::start_own_session(options); });
    } catch (...) {
      count(-1);
      throw;
    }
  });
}

tessera_status tessera_finalize(void) {
  return status_of("tessera_finalize", [] {
    runtime::require_can_wait("tessera_finalize");
    const std::lock_guard lock(mutex);
    if (started > 1) {
      started--;
      return;
    }
    const bool was_started = std::exchange(started, 0) > 0;
    if (!runtime::end_own_session() && !was_started)
      throw RuntimeError("tessera_finalize: Tessera is not running: neither tessera_init nor a routine has started it");
  });
}

tessera_status tessera_wait(void) {
  return status_of("tessera_wait", [] {
    runtime::require_can_wait("tessera_wait");
    wait();
  });
}

tessera_status tessera_after(void* stream) {
  return status_of("tessera_after", [&] { after(static_cast<CUstream_st*>(stream)); });
}

tessera_status tessera_host_register(void* data, int64_t bytes) {
  constexpr const char* function = "tessera_host_register";
  return status_of(function, [&] {
    require_pointer(function, 1, "data", data);
    if (bytes < 1) throw ArgumentError(function, 2, "bytes", "is " + std::to_string(bytes) + ", must be at least 1");
    host_register(data, static_cast<std::size_t>(bytes));
  });
}

tessera_status tessera_host_unregister(void* data) {
  return status_of("tessera_host_unregister", [&] { host_unregister(data); });
}

tessera_status tessera_submissions_begin(tessera_submissions** result) {
  constexpr const char* function = "tessera_submissions_begin";
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    require_pointer(function, 1, "result", result);
    *result = new tessera_submissions;
  });
}

tessera_status tessera_submissions_wait(tessera_submissions* submissions) {
  constexpr const char* function = "tessera_submissions_wait";
  return status_of(function, [&] { require_pointer(function, 1, "submissions", submissions)->submissions.wait(); });
}

void tessera_submissions_end(tessera_submissions* submissions) { delete submissions; }

tessera_status tessera_matrix_create(char type, void* data, int64_t m, int64_t n, int64_t ld, int64_t mb, int64_t nb,
                                     tessera_matrix** result) {
  const std::initializer_list<Origin> origins{{"data", 2, "data"}, {"m", 3, "m"},          {"n", 4, "n"},
                                              {"ld", 5, "ld"},     {"tile.rows", 6, "mb"}, {"tile.columns", 7, "nb"}};
  return create("tessera_matrix_create", type, origins, result, [&]<Scalar T>(T /*element*/) {
    return Matrix<T>(static_cast<T*>(data), m, n, ld, {mb, nb});
  });
}

tessera_status tessera_matrix_create_without_memory(char type, int64_t m, int64_t n, int64_t mb, int64_t nb,
                                                    tessera_matrix** result) {
  const std::initializer_list<Origin> origins{
      {"m", 2, "m"}, {"n", 3, "n"}, {"tile.rows", 4, "mb"}, {"tile.columns", 5, "nb"}};
  return create("tessera_matrix_create_without_memory", type, origins, result, [&]<Scalar T>(T /*element*/) {
    return Matrix<T>(m, n, {mb, nb});
  });
}

tessera_status tessera_matrix_view(const tessera_matrix* matrix, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                                   tessera_matrix** result) {
  constexpr const char* function = "tessera_matrix_view";
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    require_pointer(function, 1, "matrix", matrix);
    require_pointer(function, 6, "result", result);
    const auto view = [&](const auto& m) { return AnyMatrix(m.view(i0, i1, j0, j1)); };
    *result = relative(*matrix, with_origins({{"i0", 2, "i0"}, {"i1", 3, "i1"}, {"j0", 4, "j0"}, {"j1", 5, "j1"}},
                                             [&] { return std::visit(view, matrix->matrix); }));
  });
}

tessera_status tessera_matrix_transposed(const tessera_matrix* matrix, tessera_op op, tessera_matrix** result) {
  constexpr const char* function = "tessera_matrix_transposed";
  if (result != nullptr) *result = nullptr;
  return status_of(function, [&] {
    require_pointer(function, 1, "matrix", matrix);
    const Op which = choice("op", op).meaning(function, 2);
    require_pointer(function, 3, "result", result);
    const auto view = [&](const auto& m) {
      return AnyMatrix(which == Op::NoTrans ? m : which == Op::Trans ? m.transposed() : m.conjugate_transposed());
    };
    *result =
        relative(*matrix, with_origins({{"*this", 1, "matrix"}}, [&] { return std::visit(view, matrix->matrix); }));
  });
}

tessera_status tessera_matrix_destroy(tessera_matrix* matrix) {
  if (matrix == nullptr) return TESSERA_SUCCESS;
  constexpr const char* function = "tessera_matrix_destroy";
  return status_of(function, [&] {
    if (matrix->family->members == 1) runtime::require_can_wait(function);
    const std::unique_ptr<tessera_matrix> owned(matrix);
    const auto& whole = matrix->family->whole;
    if (--matrix->family->members == 0 && has_memory(whole))
      wait_for(whole);  // waits here, where a failure can be reported
  });
}

tessera_status tessera_matrix_wait(const tessera_matrix* matrix) {
  constexpr const char* function = "tessera_matrix_wait";
  return status_of(function, [&] { wait_for(require_pointer(function, 1, "matrix", matrix)->matrix); });
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

}  // extern "C"

}  // namespace tessera::c
