#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests that come with a module, numpy.linalg or scipy.linalg, and sends every call to the devices.
# Fails if the outcome of a test differs from that without the drop-in, or if a ROUTINE was not called. `system` uses the LAPACK of
# Debian's alternatives system; `reference` uses the reference LAPACK, which calls the BLAS for everything. `few` leaves
# out the tests of NumPy with thousands of matrices of order 1 to 8.
# usage: tests/dropin/python_linalg.sh LIBRARY MODULE system|reference all|few ROUTINE...
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
[[ $# -ge 5 ]] || die "usage: python_linalg.sh LIBRARY MODULE system|reference all|few ROUTINE..."
library=$(absolute "$1") module=$2 lapack=$3 which=$4
shift 4
for package in "${module%%.*}" pytest hypothesis; do
  "$python" -c "import $package" 2>/dev/null || die "$python has no $package: install python3-$package"
done
if [[ $lapack == reference ]]; then
  need liblapack3 "$debian/lapack/liblapack.so.3"
  libraries_from "$debian/lapack"
fi
export PYTHONDONTWRITEBYTECODE=1
tests=$("$python" -c "import $module; print($module.__path__[0])")/tests

# Prints one line for each test: its name and its outcome.
outcomes() { sed -nE 's/^.*(tests\/[^ ]+::.*) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)( .*)?$/\1 \2/p' "$1"; }

suite=("$python" -m pytest -v -p no:cacheprovider "$tests")
if [[ $which == few ]]; then suite+=(-k 'not generalized'); fi
"${suite[@]}" >alone || true  # tests that fail here may also fail under the drop-in
forced "$library" 8 "${suite[@]}" >under_us || true
tail -n 1 alone under_us
[[ $(outcomes alone | grep -c PASSED) -ge 300 ]] || die "the suite does not run: $(tail -n 1 alone)"
diff <(outcomes alone) <(outcomes under_us) || { tail -n 60 under_us; die "tests end in another way under us"; }
calls devices "$@"
