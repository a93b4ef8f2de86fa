// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <dlfcn.h>

#include <cctype>
#include <string>

#include "guest.hpp"

/// What the reference CBLAS keeps to count arguments of row-major calls, and its testers look for. Ours are counted as
/// the caller wrote them.
extern "C" int RowMajorStrg;
int RowMajorStrg = 0;

namespace tessera::dropin {

namespace {

/// The program's function, else the host BLAS's.
template <typename Function>
Function* find(const char* symbol) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr) address = Guest::of_process().host().symbol(symbol);
  return reinterpret_cast<Function*>(address);
}

template <typename Int>
bool tell_xerbla(const char* symbol, const std::string& name, int position) {
  auto* xerbla = find<void(const char*, const Int*, std::size_t)>(symbol);
  if (xerbla == nullptr) return false;
  const Int info = position;
  xerbla(name.c_str(), &info, name.size());
  return true;
}

void say(const std::string& name, int position) {
  say_now("argument " + std::to_string(position) + " of " + name + " is illegal");
}

}  // namespace

void report_illegal(const char* symbol, int position, Width width) noexcept {
  std::string name;
  for (const char* c = symbol; *c != '\0' && *c != '_'; c++)
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  if (name.size() < 6) name.resize(6, ' ');
  if (width == Width::Bits64 && tell_xerbla<std::int64_t>("xerbla_64_", name, position)) return;
  if (!tell_xerbla<int>("xerbla_", name, position)) say(name, position);
}

void report_illegal_cblas(const char* symbol, int position) noexcept {
  std::string name = symbol;
  for (const char* ending : {"64_", "_64"})
    if (name.ends_with(ending)) name.resize(name.size() - 3);
  if (auto* xerbla = find<void(int, const char*, const char*, ...)>("cblas_xerbla"); xerbla != nullptr) {
    RowMajorStrg = 0;
    return xerbla(position, name.c_str(), "");
  }
  if (!tell_xerbla<int>("xerbla_", name, position)) say(name, position);
}

}  // namespace tessera::dropin
