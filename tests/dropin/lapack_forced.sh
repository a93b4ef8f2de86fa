#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the reference LAPACK's tester of linear equations on the reference LAPACK, with every call on the devices. Fails
# if its numbers of tests and failures differ from those with the host BLAS alone, or if a ROUTINE was not called.
# usage: tests/dropin/lapack_forced.sh LIBRARY s|d|c|z ROUTINE...
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
[[ $# -ge 3 ]] || die "usage: lapack_forced.sh LIBRARY s|d|c|z ROUTINE..."
library=$(absolute "$1") type=$2
shift 2
testers=$debian/lapack
need liblapack-test "$testers/xlintst$type" "$testers/${type}test.in"
need liblapack3 "$testers/liblapack.so.3"
libraries_from "$testers"

"$testers/xlintst$type" <"$testers/${type}test.in" >alone
forced "$library" 16 "$testers/xlintst$type" <"$testers/${type}test.in" >under_us
verdicts() { grep -E 'threshold|error exits|End of tests|\*\*\*|illegal|INFO' "$1" | grep -v 'Threshold value'; }
grep -q 'End of tests' alone || die "the tester does not run"
diff <(verdicts alone) <(verdicts under_us) || die "the host BLAS alone has other results"
echo "$(verdicts under_us | grep -c 'passed the threshold') groups of tests passed, as alone"
calls devices "$@"
