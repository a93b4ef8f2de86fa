// SPDX-License-Identifier: BSD-3-Clause
#include "host.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/isolated_library.hpp"
#include "fortran_call.hpp"
#include "host_pieces.hpp"

extern "C" const char tessera_blas_version[];
const char tessera_blas_version[] = TESSERA_VERSION;

namespace tessera::dropin {

namespace {

using blas::Routine;
using blas::routine_count;
using blas::routines;
using blas::Shape;
using blas::type_index;

// The arguments of a Call in the form that Fortran takes: by address.
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

/// The paths of all libraries of the process, including those opened privately.
std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  const auto add = [](dl_phdr_info* library, std::size_t, void* all) {
    if (library->dlpi_name != nullptr && *library->dlpi_name != '\0')
      static_cast<std::vector<std::string>*>(all)->emplace_back(library->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &paths);
  return paths;
}

/// Wheel-building tools put the libraries of PACKAGE into the folder PACKAGE.libs.
bool is_blas_of_a_wheel(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == path.npos || slash == 0) return false;
  return path.substr(0, slash).ends_with(".libs") && path.substr(slash + 1).find("blas") != path.npos;
}

/// Whether libtessera_wheels.so forwards the calls of this library.
bool is_forwarded(std::string_view path) {
  Dl_info owner{};
  void* const symbol = dlsym(RTLD_DEFAULT, "scipy_dgemm_");
  return path.find("/libscipy_openblas") != path.npos && symbol != nullptr && dladdr(symbol, &owner) != 0 &&
         std::string_view(owner.dli_fname).find("libtessera_wheels") != path.npos;
}

}  // namespace

std::string foreign_blas() {
  std::string found;
  for (const auto& path : loaded_libraries())
    if (is_blas_of_a_wheel(path) && !is_forwarded(path)) found += (found.empty() ? "" : ", ") + path;
  return found;
}

bool is_the_dropin(void* library) { return dlsym(library, "tessera_blas_version") != nullptr; }

HostBlas::HostBlas(const std::string& name) {
  std::string given, usual;
  if (const auto why = name.empty() ? "" : load(name); !why.empty())
    given = "TESSERA_HOST_BLAS is '" + name + "', which " + why;
  for (const char* candidate : {"libopenblas.so.0", "libblas.so.3"})
    if (!loaded()) usual += std::string(usual.empty() ? "" : "; ") + candidate + " " + load(candidate);
  for (const auto& path : loaded() ? std::vector<std::string>{} : loaded_libraries())
    if (!loaded()) load(path);
  if (!loaded()) trouble_ = given + (given.empty() ? "" : "; ") + usual;
  else if (!given.empty()) trouble_ = given + "; the host BLAS is " + path_;
}

std::string HostBlas::load(const std::string& name) {
  // An internal function of every OpenBLAS shows whether the program has another build of it, for example with 64-bit
  // integers. BLAS routines are those of the drop-in, which the host's LAPACK is supposed to find.
  void* const library = common::open_isolated(name.c_str(), {"blas_memory_alloc"});
  if (library == nullptr) return std::string("cannot be loaded: ") + dlerror();
  const auto why = use(library, name);
  if (!why.empty()) dlclose(library);
  return why;
}

std::string HostBlas::use(void* library, const std::string& name) {
  if (is_the_dropin(library)) return "leads back to Tessera";
  if (dlsym(library, "dgemm_") == nullptr) return "has no dgemm_";
  if (auto* const config = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_config"));
      config != nullptr && std::string_view(config()).find("USE64BITINT") != std::string_view::npos)
    return "takes 64-bit integers under the names of the 32-bit routines";
  for (int r = 0; r < routine_count; r++)
    for (int t = 0; t < 4; t++) {
      const auto base = std::string(1, "sdcz"[t]) + routines[r].name;
      const auto find = [&](const std::string& symbol) { return dlsym(library, symbol.c_str()); };
      functions_[r][t] = find(base + "_");
      functions_64_[r][t] = find(base + "_64_");
      if (functions_64_[r][t] == nullptr)  // the program's own BLAS, which the drop-in precedes
        functions_64_[r][t] = dlsym(RTLD_NEXT, (base + "_64_").c_str());
      if (routines[r].shape == Shape::triangle_product && functions_[r][t] == nullptr)
        functions_[r][t] = find(base + "r_");  // name in the reference BLAS
    }
  void* const gemm = functions_[static_cast<int>(Routine::gemm)][type_index('d')];
  library_ = library;
  Dl_info info{};
  path_ = dladdr(gemm, &info) != 0 ? info.dli_fname : name;
  return {};
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
