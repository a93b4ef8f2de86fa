// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "call.hpp"

/// The BLAS that computes what does not go to the devices. Its functions are taken from its own file, never by name
/// from the program: there the names are ours.
namespace tessera::dropin {

class HostBlas {
 public:
  /// Loads `name` (a file name as the linker looks it up, or a path); "": OpenBLAS, or whatever the system calls
  /// libblas.so.3. If `name` cannot serve, the default does, and `trouble` says so.
  explicit HostBlas(const std::string& name);

  bool loaded() const noexcept { return library_ != nullptr; }
  const std::string& path() const noexcept { return path_; }
  const std::string& trouble() const noexcept { return trouble_; }

  /// Computes a call, column-major. A gemmt that the host does not have is put together from its gemm, and one whose
  /// sizes are beyond 32 bits from smaller calls, if the host has no functions for them.
  /// @return false if it cannot, and has done nothing
  bool operator()(const Call& call) const;

  /// Any of its symbols, or null.
  void* symbol(const char* name) const;

 private:
  bool load(const std::string& name);

  void* library_ = nullptr;
  std::string path_, trouble_;
  void* functions_[routine_count][4] = {};     ///< Fortran, by routine and type; null: it has none
  void* functions_64_[routine_count][4] = {};  ///< with 64-bit integers
};

}  // namespace tessera::dropin
