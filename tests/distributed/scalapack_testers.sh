#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs ScaLAPACK's tester of LU on Tessera's factorizations and solves, in all types. Fails unless all of its tests pass,
# and it has called Tessera. (The tester of Cholesky ends now and then with MPI_ERR_TRUNCATE in MPI_Bcast, also without
# Tessera, if MPI has been initialized with MPI_THREAD_MULTIPLE.)
# usage: tests/distributed/scalapack_testers.sh LIBRARY PxQ MPIRUN...    LIBRARY: to be preloaded
set -euo pipefail
library=$(realpath "$1") p=${2%x*} q=${2#*x}
shift 2
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}
testers=/usr/lib/$(gcc -print-multiarch)/scalapack/openmpi-tests
[[ -x $testers/xdlu ]] || die "$testers/xdlu is not there: install scalapack-mpi-test"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Ragged matrices, larger than a block and smaller; also some that are not square, which are factorized only. T: with
# estimates of the condition and refined solutions.
lu=("'LU'" "'-'" "'LU.out'" 6 5 '4 37 100 64 31' '4 37 70 64 50' 4 '1 3 16 64' 2 '1 9' 1 5 1 "$p" "$q" 1.0 T)
printf '%s\n' "${lu[@]}" >LU.dat
for type in s d c z; do
  name=x${type}lu
  "$@" -n $((p * q)) env LD_PRELOAD="$library" "$testers/$name" &>printed || die "$name ends with $?: $(tail printed)"
  grep -q "^ *32 tests completed and passed" printed || die "$name: $(<printed)"
  [[ $(grep -cE '^in_place_of_scalapack: [0-9]+ calls' printed) -eq $((p * q)) ]] || die "$name does not call Tessera"
done
