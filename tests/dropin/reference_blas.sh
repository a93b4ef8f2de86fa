#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The reference BLAS's own testers of level 3, every call on our path: error exits and results of all types, and of both
# layouts where they call CBLAS. Fails unless all of them pass, and each call that they count has come through us.
# usage: tests/dropin/reference_blas.sh LIBRARY fortran|cblas TILE [SIZE...]    SIZE...: instead of those of the testers
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
[[ $# -ge 3 ]] || die "usage: reference_blas.sh LIBRARY fortran|cblas TILE [SIZE...]"
library=$(absolute "$1") interface=$2 tile=$3
shift 3

blas=$debian/blas
if [[ $interface == cblas ]]; then
  tester=$blas/x%scblat3 input=$blas/%sin3 expected=90
  libraries_from "$blas"  # the testers want RowMajorStrg, a variable that of all BLAS only the reference one has
else
  tester=$blas/xblat3%s input=$blas/%sblat3.in expected=60
fi

for type in s d c z; do
  # shellcheck disable=SC2059  # the formats are ours
  program=$(printf "$tester" $type) data=$(printf "$input" $type)
  need libblas-test "$program" "$data"
  if [[ $# -gt 0 ]]; then  # a line with their number, one with the sizes
    awk -v count=$# -v sizes="$*" '/NUMBER OF VALUES OF N *$/ { print count; getline; print sizes; next } 1' \
      "$data" >sizes
    data=sizes
  fi
  forced "$library" "$tile" "$program" <"$data" >>printed || die "${program##*/}: exit status $?"
done
cat printed ./*.out >results 2>/dev/null || true  # those of Fortran write a file each

if grep -iE 'FAIL|SUSPECT|FATAL|ABANDONED|NOT DETECTED|WAS CALLED WITH|ERROR IN|NOT BE TESTED|\*\*\*' results; then
  die "a tester complains"
fi
passed=$(grep -c 'PASSED THE' results || true)
[[ $passed -eq $expected ]] || die "$passed times PASSED, not $expected"
mapfile -t made < <(sed -nE 's/^ *(cblas_)?([A-Za-z0-9]+) +PASSED.*\( *([0-9]+) CALLS\).*/\L\2=\3/p' results)
calls devices "${made[@]}"
echo "$interface: $passed PASSED"
