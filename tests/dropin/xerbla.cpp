// SPDX-License-Identifier: BSD-3-Clause
// In a separate file, since the CBLAS headers disagree about the parameter types.
#include "dropin/xerbla.hpp"

using tessera::test::reports;

extern "C" {
void xerbla_(const char* name, const int* position, std::size_t length) {
  reports.push_back({"xerbla_", std::string(name, length), *position});
}
void cblas_xerbla(int position, const char* name, const char* /*form*/, ...) {
  reports.push_back({"cblas_xerbla", name, position});
}
}
