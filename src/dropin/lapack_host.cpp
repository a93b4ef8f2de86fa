// SPDX-License-Identifier: BSD-3-Clause
#include "lapack_host.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "common/blocks.hpp"
#include "common/no_signals.hpp"
#include "common/of_type.hpp"
#include "fortran_call.hpp"

namespace tessera::dropin {

namespace {

using blas::LapackArguments, blas::LapackRoutine;
using blas::opposite;
using blas::Use;

/// Whether a function belongs to a copy of the drop-in, which would look for the host's function in turn.
bool is_ours(void* function) {
  Dl_info info{};
  if (dladdr(function, &info) == 0) return false;
  void* const owner = dlopen(info.dli_fname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (owner == nullptr) return false;  // the program itself
  void* const mark = dlsym(owner, "tessera_blas_version");
  Dl_info mark_info{};
  const bool ours = mark != nullptr && dladdr(mark, &mark_info) != 0 && mark_info.dli_fbase == info.dli_fbase;
  dlclose(owner);
  return ours;
}

// The arguments of a LapackCall in the form that Fortran takes: by address.
#define GIVE_OPTION(Type, name, ...) &name,
#define GIVE_SIZE(name, ...) &name,
#define GIVE_MATRIX(name, ld, ...) c.name, &ld,
#define GIVE_PIVOTS(...) c.ipiv,
#define GIVE_TAU(...) c.tau,
#define GIVE_WORK(...) c.work, &lwork,

template <typename Int>
void call_fortran(void* function, const LapackCall& c, void* info) {
  const Int m = static_cast<Int>(c.m), n = static_cast<Int>(c.n), k = static_cast<Int>(c.k);
  const Int nrhs = static_cast<Int>(c.nrhs);
  const Int lda = static_cast<Int>(c.lda), ldb = static_cast<Int>(c.ldb), lwork = static_cast<Int>(c.lwork);
  const char uplo = static_cast<char>(c.uplo), side = static_cast<char>(c.side), op = static_cast<char>(c.op),
             diag = static_cast<char>(c.diag);
  switch (c.properties().arguments) {
#define LIST(name) \
  case blas::LapackArguments::name: return call_function(function, LAPACK_##name(GIVE, ) info);
    LAPACK_LISTS(LIST)
#undef LIST
  }
}

/// The transpose of a row-major matrix, in separate memory.
template <Scalar T>
class Transposed {
 public:
  Transposed(void* data, Index m, Index n, Index ld, bool conjugated)
      : data_(static_cast<T*>(data)), m_(m), n_(n), ld_(ld), conjugated_(conjugated),
        copy_(new (std::nothrow) T[static_cast<std::size_t>(std::max<Index>(1, m * n))]) {
    if (copy_ != nullptr) for_each([this](T& row_major, T& copy) { copy = value(row_major); });
  }
  T* data() const { return copy_.get(); }  ///< null: not enough memory
  void copy_back() const {
    for_each([this](T& row_major, T& copy) { row_major = value(copy); });
  }

 private:
  T value(const T& x) const {
    if constexpr (is_complex<T>) return conjugated_ ? std::conj(x) : x;
    else return x;
  }
  void for_each(auto copy) const {
    common::for_each_in_blocks(m_, n_, [&](Index i, Index j) { copy(data_[i * ld_ + j], copy_[i + j * m_]); });
  }

  T* data_;
  Index m_, n_, ld_;
  bool conjugated_;
  std::unique_ptr<T[]> copy_;
};

/// Calls compute(column-major call), and returns its result.
///
/// A triangle, read as column-major, is the other triangle of the transpose. Its factor, its inverse and its product
/// with its adjoint are then the transposed ones, so only right-hand sides are copied. They are conjugated, because the
/// transpose of a Hermitian matrix is its conjugate. trtrs solves with the transpose itself, using the other op, with
/// conjugated right-hand sides if the op is the adjoint.
template <Scalar T, typename Compute>
bool compute_by_rows(const LapackCall& call, Compute compute) {
  const auto& known = call.properties();
  const bool copies_a = !known.has_triangle(), triangular = known.arguments == LapackArguments::triangular_system;
  const bool conjugates = triangular ? call.op == Op::ConjTrans : known.has_triangle();
  const Transposed<T> A(call.A, copies_a ? call.rows() : 0, copies_a ? call.columns() : 0, call.lda, false);
  const Transposed<T> B(call.B, known.has_right_sides() ? call.right_rows() : 0, call.right_columns(), call.ldb,
                        conjugates);
  if (A.data() == nullptr || B.data() == nullptr) return false;
  auto columns = call;
  columns.layout = Layout::ColMajor;
  if (copies_a) columns.A = A.data(), columns.lda = std::max<Index>(1, call.rows());
  else columns.uplo = opposite(call.uplo);
  if (triangular) columns.op = call.op == Op::NoTrans ? Op::Trans : Op::NoTrans;
  if (known.has_right_sides()) columns.B = B.data(), columns.ldb = std::max<Index>(1, call.right_rows());
  if (!compute(columns)) return false;
  if (copies_a && known.matrix == Use::Overwritten) A.copy_back();
  if (known.has_right_sides()) B.copy_back();
  return true;
}

}  // namespace

void* find_lapack(const HostBlas& blas, const char* symbol) {
  const common::NoSignals in_between;  // in threads of a BLAS; and a handler that jumps out would leave a static locked
  if (void* const next = dlsym(RTLD_NEXT, symbol); next != nullptr && !is_ours(next)) return next;
  const auto in = [&](void* library) -> void* {
    void* const found = library != nullptr ? dlsym(library, symbol) : nullptr;
    return found != nullptr && !is_ours(found) ? found : nullptr;
  };
  const auto open = [](const char* name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); };
  static void* const lapack = open("liblapack.so.3");
  if (void* const found = in(lapack); found != nullptr) return found;
  if (std::string_view(symbol).starts_with("LAPACKE_")) {
    static void* const lapacke = open("liblapacke.so.3");
    if (void* const found = in(lapacke); found != nullptr) return found;
  }
  void* const found = blas.symbol(symbol);
  return found != nullptr && !is_ours(found) ? found : nullptr;
}

void* HostLapack::function(const LapackCall& call, bool wide) {
  return functions_[static_cast<int>(call.routine)][blas::type_index(call.type)][wide].find([&]() -> void* {
    for (const char* suffix : {wide ? "_64_" : "_", wide ? "64_" : "_"})
      if (void* const found = find_lapack(blas_, (std::string(1, call.type) + call.name() + suffix).c_str());
          found != nullptr)
        return found;
    return nullptr;
  });
}

LapackCall query_of(const LapackCall& call) {
  auto query = call;
  query.layout = Layout::ColMajor, query.lwork = -1;
  query.lda = std::max<Index>(1, call.rows()), query.ldb = std::max<Index>(1, call.right_rows());
  return query;
}

bool HostLapack::pass_on(const LapackCall& call, void* info) {
  void* const found = function(call, call.wide);
  if (found == nullptr) return false;
  if (call.wide) call_fortran<std::int64_t>(found, call, info);
  else call_fortran<int>(found, call, info);
  return true;
}

bool HostLapack::has(const LapackCall& call) {
  return function(call, false) != nullptr || (call.wide && function(call, true) != nullptr);
}

void HostLapack::set_best_work(const LapackCall& call) {
  const auto query = query_of(call);
  Index info = 0;
  if (compute_by_columns(query, info)) return;
  common::with_type(call.type, [&]<Scalar T>(T) { *static_cast<T*>(call.work) = T(static_cast<Real<T>>(call.n)); });
}

bool HostLapack::operator()(const LapackCall& call, Index& info) {
  const auto compute = [&](const LapackCall& columns) { return compute_by_columns(columns, info); };
  if (!call.by_rows()) return compute(call);
  return common::with_type(call.type, [&]<Scalar T>(T) { return compute_by_rows<T>(call, compute); });
}

bool HostLapack::compute_by_columns(const LapackCall& call, Index& info) {
  if (call.properties().has_work() && call.work == nullptr)
    return common::with_type(call.type, [&]<Scalar T>(T) {
      auto with_work = call;
      T best{};
      with_work.work = &best, with_work.lwork = -1;
      if (!compute_by_columns(with_work, info)) return false;
      with_work.lwork = std::max<Index>(1, static_cast<Index>(std::real(best)));
      const std::unique_ptr<T[]> work(new (std::nothrow) T[static_cast<std::size_t>(with_work.lwork)]);
      with_work.work = work.get();
      return work != nullptr && compute_by_columns(with_work, info);
    });
  if (call.wide)
    if (void* const found = function(call, true); found != nullptr) {
      std::int64_t result = 0;
      call_fortran<std::int64_t>(found, call, &result);
      info = result;
      return true;
    }
  void* const found = function(call, false);
  return found != nullptr && fits(call) && compute_narrow(found, call, info);
}

bool HostLapack::compute_narrow(void* found, const LapackCall& call, Index& info) {
  int result = 0;
  auto narrow = call;
  narrow.lwork = std::min<Index>(call.lwork, blas::arguments::largest_int);
  const bool is_query = call.lwork == -1;  // reads no pivots
  if (!call.wide || call.properties().pivots == Use::None || is_query) {
    call_fortran<int>(found, narrow, &result);
  } else {
    const Index count = call.pivot_count();
    const std::unique_ptr<int[]> pivots(new (std::nothrow) int[static_cast<std::size_t>(count)]);
    if (pivots == nullptr) return false;
    auto* const wide = static_cast<std::int64_t*>(call.ipiv);
    if (call.properties().pivots == Use::Read)
      for (Index i = 0; i < count; i++) pivots[i] = static_cast<int>(wide[i]);
    narrow.ipiv = pivots.get();
    call_fortran<int>(found, narrow, &result);
    if (call.properties().pivots == Use::Overwritten) std::copy_n(pivots.get(), count, wide);
  }
  info = result;
  return true;
}

}  // namespace tessera::dropin
