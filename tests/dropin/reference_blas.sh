#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the level-3 testers of the reference BLAS with every call on the devices. They test error exits and the results
# of all types, and with CBLAS both layouts. Fails unless all tests pass, and the log has every call that the testers
# count.
# usage: tests/dropin/reference_blas.sh LIBRARY fortran|cblas TILE [SIZE...]    SIZE...: replace the testers' sizes
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
[[ $# -ge 3 ]] || die "usage: reference_blas.sh LIBRARY fortran|cblas TILE [SIZE...]"
library=$(absolute "$1") interface=$2 tile=$3
shift 3

blas=$debian/blas
if [[ $interface == cblas ]]; then
  tester=$blas/x%scblat3 input=$blas/%sin3 expected=90
  libraries_from "$blas"  # the testers need RowMajorStrg, a variable that only the reference BLAS has
else
  tester=$blas/xblat3%s input=$blas/%sblat3.in expected=60
fi

for type in s d c z; do
  # shellcheck disable=SC2059  # the formats are defined above
  program=$(printf "$tester" $type) data=$(printf "$input" $type)
  need libblas-test "$program" "$data"
  if [[ $# -gt 0 ]]; then  # replaces two lines of the input: the number of sizes, and the sizes
    awk -v count=$# -v sizes="$*" '/NUMBER OF VALUES OF N *$/ { print count; getline; print sizes; next } 1' \
      "$data" >sizes
    data=sizes
  fi
  forced "$library" "$tile" "$program" <"$data" >>printed || die "${program##*/}: exit status $?"
done
cat printed ./*.out >results 2>/dev/null || true  # the Fortran testers write one file each

if grep -iE 'FAIL|SUSPECT|FATAL|ABANDONED|NOT DETECTED|WAS CALLED WITH|ERROR IN|NOT BE TESTED|\*\*\*' results; then
  die "a tester complains"
fi
passed=$(grep -c 'PASSED THE' results || true)
[[ $passed -eq $expected ]] || die "$passed times PASSED, not $expected"
mapfile -t made < <(sed -nE 's/^ *(cblas_)?([A-Za-z0-9]+) +PASSED.*\( *([0-9]+) CALLS\).*/\L\2=\3/p' results)
calls devices "${made[@]}"
echo "$interface: $passed PASSED"
