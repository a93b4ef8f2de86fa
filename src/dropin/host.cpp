// SPDX-License-Identifier: BSD-3-Clause
#include "host.hpp"

#include <dlfcn.h>

#include "fortran_call.hpp"
#include "host_gemmt.hpp"
#include "host_large.hpp"

extern "C" const char tessera_blas_version[];
const char tessera_blas_version[] = TESSERA_VERSION;

namespace tessera::dropin {

namespace {

using blas::Routine;
using blas::routine_count;
using blas::routines;
using blas::Shape;
using blas::type_index;

// The arguments of a Call as Fortran takes them: by address.
#define GIVE_OPTION(Type, member, name, ...) &member,
#define GIVE_SIZE(name, ...) &name,
#define GIVE_FACTOR(Kind, name, ...) c.name,
#define GIVE_INPUT(name, ld, ...) c.name, &ld,
#define GIVE_OUTPUT(name, ld, ...) c.C, &ldc

template <typename Int>
void call_fortran(void* function, const Call& c) {
  const Int m = static_cast<Int>(c.m), n = static_cast<Int>(c.n), k = static_cast<Int>(c.k);
  const Int lda = static_cast<Int>(c.lda), ldb = static_cast<Int>(c.ldb), ldc = static_cast<Int>(c.ldc);
  const char side = static_cast<char>(c.side), uplo = static_cast<char>(c.uplo), diag = static_cast<char>(c.diag);
  const char op_a = static_cast<char>(c.op_a), op_b = static_cast<char>(c.op_b);
  switch (c.shape()) {
#define SHAPE(name) \
  case Shape::name: return call_function(function, SHAPE_##name(GIVE));
    SHAPES(SHAPE)
#undef SHAPE
  }
}

}  // namespace

bool is_the_dropin(void* library) { return dlsym(library, "tessera_blas_version") != nullptr; }

HostBlas::HostBlas(const std::string& name) {
  if (!name.empty() && !load(name)) trouble_ = "TESSERA_HOST_BLAS is '" + name + "', " + trouble_;
  const auto given = trouble_;
  for (const char* usual : {"libopenblas.so.0", "libblas.so.3"})
    if (!loaded()) load(usual);
  if (loaded() && !given.empty()) trouble_ = given + "; the host BLAS is " + path_;
  else if (loaded()) trouble_.clear();
}

bool HostBlas::load(const std::string& name) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    trouble_ = std::string("which cannot be loaded: ") + dlerror();
    return false;
  }
  if (is_the_dropin(library)) {
    trouble_ = "which leads back to Tessera";
    dlclose(library);
    return false;
  }
  for (int r = 0; r < routine_count; r++)
    for (int t = 0; t < 4; t++) {
      const auto base = std::string(1, "sdcz"[t]) + routines[r].name;
      const auto find = [&](const std::string& symbol) { return dlsym(library, symbol.c_str()); };
      functions_[r][t] = find(base + "_");
      functions_64_[r][t] = find(base + "_64_");
      if (functions_64_[r][t] == nullptr)  // the program's own BLAS, which the drop-in precedes
        functions_64_[r][t] = dlsym(RTLD_NEXT, (base + "_64_").c_str());
      if (routines[r].shape == Shape::triangle_product && functions_[r][t] == nullptr)
        functions_[r][t] = find(base + "r_");  // the reference BLAS's name
    }
  void* const gemm = functions_[static_cast<int>(Routine::gemm)][type_index('d')];
  if (gemm == nullptr) {
    trouble_ = "which has no dgemm_";
    dlclose(library);
    return false;
  }
  library_ = library;
  Dl_info info{};
  path_ = dladdr(gemm, &info) != 0 ? info.dli_fname : name;
  return true;
}

bool HostBlas::operator()(const Call& call) const {
  if (!loaded()) return false;
  const bool fits_32_bits = fits(call);
  const auto& functions = fits_32_bits ? functions_ : functions_64_;
  void* const found = functions[static_cast<int>(call.routine)][type_index(call.type)];
  if (found != nullptr && fits_32_bits) call_fortran<int>(found, call);
  else if (found != nullptr) call_fortran<std::int64_t>(found, call);
  else if (!fits_32_bits) return compute_large(*this, call);
  else if (call.shape() == Shape::triangle_product) gemmt_by_gemm(*this, call);
  else return false;
  return true;
}

void* HostBlas::symbol(const char* name) const { return library_ == nullptr ? nullptr : dlsym(library_, name); }

}  // namespace tessera::dropin
