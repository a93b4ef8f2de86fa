// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"

#include <dlfcn.h>

#include <string>

#include "guest.hpp"
#include "xerbla.hpp"

namespace tessera::dropin {

namespace {

struct Affixes {
  const char* prefix;
  const char* suffixes[2];  ///< alternatives
};

constexpr Affixes affixes(Interface interface) {
  switch (interface) {
  case Interface::Fortran: return {"", {"_", "_"}};
  case Interface::FortranPlain: return {"", {"", "_"}};
  case Interface::Fortran64: return {"", {"_64_", "_64_"}};
  case Interface::Cblas: return {"cblas_", {"", ""}};
  case Interface::Cblas64: return {"cblas_", {"64_", "_64"}};
  }
  return {};
}

/// The other name of gemmt and gemmtr; all other routines have only one name.
std::string alias(const std::string& routine) {
  if (routine.ends_with("gemmt")) return routine + "r";
  if (routine.ends_with("gemmtr")) return routine.substr(0, routine.size() - 1);
  return routine;
}

}  // namespace

void* Entry::look_up(Interface interface, const char* routine) {
  const auto [prefix, suffixes] = affixes(interface);
  for (const auto& name : {std::string(routine), alias(routine)})
    for (const char* suffix : suffixes) {
      const auto symbol = prefix + name + suffix;
      if (void* const address = dlsym(RTLD_NEXT, symbol.c_str()); address != nullptr) return address;
      if (void* const address = Guest::of_process().host().symbol(symbol.c_str()); address != nullptr) return address;
    }
  return nullptr;
}

void Entry::refuse(const Call& call, Layout layout) const {
  auto& guest = Guest::of_process();
  if (!guest.host().loaded()) guest.abort_without_host();
  const bool is_layout = layout == Layout::ColMajor || layout == Layout::RowMajor;
  const int position =
      is_layout ? first_illegal(call, layout, blas::Rules::All).position : 0;  // xerbla_ cannot report a layout: 0
  report_illegal(routine_, interface_ == Interface::Fortran64 || interface_ == Interface::Cblas64, position);
}

}  // namespace tessera::dropin
