#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the reference LAPACK's testers on the reference LAPACK: 22 million small level-3 calls, each of which goes where
# the drop-in decides. Fails if there are failures in addition to those of the host BLAS alone.
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
