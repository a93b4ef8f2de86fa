#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The reference LAPACK's own testers on the reference LAPACK: 22 million calls of level 3, none of them large, each
# placed as we would place it. Fails if we add a failure to those that the host BLAS has alone.
# usage: tests/dropin/lapack_testers.sh LIBRARY
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
[[ $# -eq 1 ]] || die "usage: lapack_testers.sh LIBRARY"
library=$(absolute "$1")
testers=$debian/lapack
need liblapack-test "$testers/lapack_testing.py" "$testers/xlintstd" "$testers/xeigtstd"
need liblapack3 "$testers/liblapack.so.3"
libraries_from "$testers"
ln -s "$testers"/x* "$testers"/*.in .

suite=("$python" "$testers/lapack_testing.py" -d . -b . -r)
"${suite[@]}" &>alone
under "$library" "${suite[@]}" &>under_us
summary() { sed -n '/LAPACK TESTING SUMMARY/,$ p' "$1"; }
summary under_us
! grep 'did not work' under_us || die "a tester did not end"
[[ $(summary alone | grep -c '^[^ =]*.*(') -eq 5 ]] || die "the suite does not run"
diff <(summary alone) <(summary under_us) || die "the host BLAS alone has another summary"
calls host {s,d,c,z}{gemm,symm,trmm,trsm} {s,d}{syrk,syr2k} {c,z}{hemm,herk,her2k}
