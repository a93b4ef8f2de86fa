// SPDX-License-Identifier: BSD-3-Clause
#include "host_library.hpp"

#include <dlfcn.h>
#include <starpu_config.h>

#include <type_traits>

#include <tessera/error.hpp>

#include "common/isolated_library.hpp"
#include "host_blas.hpp"
#include "host_lapack.hpp"

namespace tessera::device::cpu {

#define FUNCTION(name) decltype(&::name) name = nullptr;
#include "host_blas.def"
#include "host_lapack.def"
#undef FUNCTION

namespace {

/// Loads OpenBLAS. The names are a BLAS routine that the drop-in does not define, and an internal function of OpenBLAS.
void* load() { return common::open_isolated(TESSERA_OPENBLAS, {"dswap_", "exec_blas"}); }

/// OpenBLAS, which is loaded together with this library and stays loaded until the process ends. Its threads are
/// therefore started by the thread that loads Tessera, and not by a worker, whose binding to one core they would
/// inherit.
class Library {
 public:
  Library() : handle_(load()) {
    if (handle_ == nullptr) {
      trouble_ = std::string("the OpenBLAS that Tessera was built with cannot be loaded: ") + dlerror();
      return;
    }
#ifndef STARPU_SIMGRID
    // Its buffers have a lock only if it was built with one, which it does not tell.
    auto* const kind = reinterpret_cast<int (*)()>(symbol("openblas_get_parallel"));
    Dl_info info{};
    if (kind != nullptr && kind() == 0 && dladdr(reinterpret_cast<void*>(kind), &info) != 0)
      trouble_ = std::string(TESSERA_OPENBLAS
                             " is an OpenBLAS without threads, which may give wrong results if several "
                             "threads call it: ") +
                 info.dli_fname;
#endif
    const auto find = [&](auto& function, const char* name) {
      void* const address = dlsym(handle_, name);
      if (address == nullptr && trouble_.empty())
        trouble_ = std::string("the OpenBLAS that Tessera was built with, " TESSERA_OPENBLAS ", has no ") + name;
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    };
#define FUNCTION(name) find(cpu::name, #name);
#include "host_blas.def"
#include "host_lapack.def"
#undef FUNCTION
  }

  void* symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }
  const std::string& trouble() const { return trouble_; }

 private:
  void* handle_;
  std::string trouble_;  ///< "": no error
};

/// Never destroyed: tasks may still run while the process exits.
const Library& the_library = *new Library;

}  // namespace

void* symbol(const char* name) { return the_library.symbol(name); }

std::string library() {
  Dl_info info{};
  return cblas_dgemm != nullptr && dladdr(reinterpret_cast<void*>(cblas_dgemm), &info) != 0 ? info.dli_fname : "";
}

void require_library() {
  if (!the_library.trouble().empty()) throw RuntimeError(the_library.trouble());
}

}  // namespace tessera::device::cpu
