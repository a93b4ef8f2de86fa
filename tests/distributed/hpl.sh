#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: hpl.sh TESSERA_HPL MPIRUN...: two processes solve the systems of an HPL.dat, on any grid of theirs, and refuse others.
set -u
hpl=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
input() {  # P Q
  printf '%s\n' title title HPL.out '6 device' '2 Ns' '1 333' '3 NBs' '64 0 400' '0 PMAP' '1 grids' "$1" "$2" '16.0' >HPL.dat
}
fail() {
  printf '%s\n%s\n' "$1" "$output"
  exit 1
}
input 1 2
output=$("$@" -n 2 "$hpl" 2>&1) || fail 'it fails'
[[ $(grep -c PASSED <<<"$output") -eq 6 ]] || fail 'not 6 systems passed'
grep -q '333    64     1     2 ' <<<"$output" || fail 'P and Q are not those of the file'
# A wrong solution would not pass: the smallest residual is above this threshold.
sed -i 's/^16.0$/1e-9/' HPL.dat
output=$("$@" -n 2 "$hpl" 2>&1) && fail 'residuals are not compared with the threshold'
input 2 1  # a column of processes: the panels are dealt as in a row
output=$("$@" -n 2 "$hpl" 2>&1) || fail 'P = 2 fails'
[[ $(grep -c PASSED <<<"$output") -eq 6 ]] || fail 'not 6 systems passed with P = 2'
grep -q '333    64     2     1 ' <<<"$output" || fail 'P and Q are not those of the file'
input 1 3
output=$("$@" -n 2 "$hpl" 2>&1) && fail 'a grid of other processes is not refused'
[[ $(grep -c '^tessera-hpl: .*P = 1 and Q = 3 need 3 processes, but 2 are started' <<<"$output") -eq 1 ]] ||
  fail 'not one line that says how many processes are needed'
