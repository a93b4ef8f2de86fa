// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "blas/call.hpp"

/// The BLAS that computes all calls that stay on the host. Its functions are looked up in its own file, because a
/// global lookup by name would find the drop-in.
namespace tessera::dropin {

using blas::Call;

/// Whether a library is the drop-in: this one, a copy of it, or the libblas.so.3 of Debian's alternatives system.
bool is_the_dropin(void* library);

/// The BLAS libraries in this process whose calls bypass the drop-in, because each is private to a Python package and
/// its symbols have private names, as in wheels from PyPI (numpy.libs/libscipy_openblas64_-….so). Separated by commas;
/// "" if there are none. Libraries whose names libtessera_wheels.so forwards are left out.
std::string foreign_blas();

class HostBlas {
 public:
  /// Loads the library `name`, a path or a file name that the dynamic linker looks up. If it is "", loads OpenBLAS, or
  /// else the system's libblas.so.3, or else a BLAS that the program has loaded, privately or globally. If `name`
  /// cannot be used, loads the default, and `trouble` returns the reason.
  explicit HostBlas(const std::string& name);

  bool loaded() const noexcept { return library_ != nullptr; }
  const std::string& path() const noexcept { return path_; }
  const std::string& trouble() const noexcept { return trouble_; }

  /// Computes a column-major call. If the host BLAS lacks gemmt, uses its gemm. If sizes exceed 32 bits and the host
  /// BLAS has no 64-bit functions, splits the call.
  /// @return  false if it cannot compute the call; nothing was done
  bool operator()(const Call& call) const;

  /// The address of any symbol of the library, or null.
  void* symbol(const char* name) const;

 private:
  /// These return why a library cannot serve as the host BLAS, as the end of a sentence that begins with the library's
  /// name; "" on success.
  std::string load(const std::string& name);
  std::string use(void* library, const std::string& name);

  void* library_ = nullptr;
  std::string path_, trouble_;
  void* functions_[blas::routine_count][4] = {};     ///< Fortran, by routine and type; null: missing
  void* functions_64_[blas::routine_count][4] = {};  ///< Fortran functions with 64-bit integers
};

}  // namespace tessera::dropin
