#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs High-Performance Linpack from the HPC Challenge on a grid of P×Q processes, which call dgemm and dtrsm through
# CBLAS. Fails unless the residuals pass with every call on the devices.
# usage: tests/dropin/hpl.sh LIBRARY N P Q
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
[[ $# -eq 4 ]] || die "usage: hpl.sh LIBRARY N P Q"
library=$(absolute "$1") n=$2 p=$3 q=$4
need hpcc hpcc
need openmpi-bin mpirun

cat >hpccinf.txt <<INPUT
HPLinpack benchmark input file
its lines have fixed places
HPL.out  output file
8        output to that file
1        sizes
$n     N
1        block sizes
80       NB
0        row-major process mapping
1        process grids
$p        P
$q        Q
16.0     threshold of the residual
1        panel factorizations
2        right-looking
1        stopping criteria
4        NBMIN
1        panels in recursion
2        NDIV
1        recursive panel factorizations
1        Crout
1        broadcasts
1        increasing ring, modified
1        lookahead depths
1        depth
2        swapping: mixed
64       its threshold
0        L1 transposed
0        U transposed
1        equilibration
8        alignment in doubles
INPUT

forced "$library" 200 mpirun --bind-to none --allow-run-as-root --oversubscribe -np "$((p * q))" hpcc
grep -E '^\|\|Ax-b\|\|.*PASSED' hpccoutf.txt || die "no residual of HPL has passed"
if grep -E '\.\.\. FAILED|[1-9][0-9]* tests completed and failed|^Node\(s\) with error [^0]' hpccoutf.txt; then
  die "the HPC Challenge complains"
fi
calls devices dgemm dtrsm
[[ $(grep -c '"program"' "$log") -eq $((p * q)) ]] ||
  die "the log must have $((p * q)) programs that called the BLAS: $(grep '"program"' "$log")"
