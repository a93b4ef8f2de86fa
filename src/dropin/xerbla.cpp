// SPDX-License-Identifier: BSD-3-Clause
#include "xerbla.hpp"

#include <dlfcn.h>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>

#include "guest.hpp"

namespace tessera::dropin {

namespace {

template <typename Int>
bool tell(const char* symbol, const char* name, std::size_t length, int position) {
  void* address = dlsym(RTLD_DEFAULT, symbol);  // a function of the program takes precedence
  if (address == nullptr) address = Guest::of_process().host().symbol(symbol);
  if (address == nullptr) return false;
  const Int info = position;
  reinterpret_cast<void (*)(const char*, const Int*, std::size_t)>(address)(name, &info, length);
  return true;
}

/// A separate function, so that frames which an exception may cross have no strings to destroy.
[[gnu::noinline]] void say_illegal(const char* name, int position) {
  say_now("argument " + std::to_string(position) + " of " + name + " is illegal");
}

}  // namespace

void report_illegal(const char* routine, bool wide, int position) {
  char name[] = "       ";  // xerbla gets at least six characters, padded with spaces
  std::size_t length = 0;
  for (; routine[length] != '\0'; length++)
    name[length] = static_cast<char>(std::toupper(static_cast<unsigned char>(routine[length])));
  if (length < 6) length = 6;
  if (wide && tell<std::int64_t>("xerbla_64_", name, length, position)) return;
  if (tell<int>("xerbla_", name, length, position)) return;
  say_illegal(name, position);
}

}  // namespace tessera::dropin
