#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: exit_codes.sh PROGRAM...: the exit codes of docs/programs.md for errors that several programs can meet.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }

expect() {  # exit code, what is printed on standard error, command
  local code=$1 text=$2 printed status=0
  shift 2
  printed=$("$@" 2>&1 >out) || status=$?
  [[ $status == "$code" && $printed == *"$text"* ]] || fail "$*: exit code $status: $printed"
}

printf '%s\n' title title absent/HPL.out 8 1 100 1 0 0 1 1 1 16.0 >unwritable.dat
sed 's/^8$/6/' unwritable.dat >HPL.dat
for program in "$@"; do
  name=${program##*/}
  expect 2 "$name: " "$program" --nonsense
  # shellcheck disable=SC2016  # the inner shell expands it
  expect 3 "$name: standard output cannot be written" sh -c '"$0" --version >/dev/full' "$program"
  if [[ $name == tessera-mpi-bench ]]; then
    for wrong in --size=1e18 --size=99999999999 --tile=2147483648 --repeat=1.5 --chunk=0 --look-ahead=0 --unroll-as=-1; do
      expect 2 "${wrong%%=*}: Value ${wrong#*=} not in range " "$program" --grid 1x1 "$wrong"
    done
    expect 2 "--unroll-as: Value  not in range 0 to " "$program" --grid 1x1 --unroll-as ""
    expect 2 "--unroll-as: '1' is none of the grid's processes, which are 0 to 0" "$program" --grid 1x1 --unroll-as 1
  fi
  if [[ $name == tessera-bench || $name == tessera-info ]]; then
    for wrong in abc 1.5 -1 ''; do expect 2 "--seed: Value $wrong not in range 0 to " "$program" --seed "$wrong"; done
  fi
  case $name in
    tessera-bench) computes=(--size 70 --repeat 1) ;;
    tessera-hpl) computes=(HPL.dat) ;;
    tessera-info) computes=(--size 70) ;;
    *) continue ;;
  esac
  for wrong in TESSERA_CPUS=99999 TESSERA_CPUS=-1 TESSERA_DEVICES=nonsense TESSERA_PLACEMENT=nowhere; do
    expect 2 "${wrong%=*}" env "$wrong" "$program" "${computes[@]}"
    [[ ! -s out ]] || fail "$wrong $name has printed: $(cat out)"
  done
  expect 2 TESSERA_SCHED env TESSERA_SCHED=nonsense "$program" "${computes[@]}"
  if [[ $name == tessera-info ]]; then
    for wrong in 4294967298x3 2x4294967299 2 2x 2x3x "2x 3"; do
      expect 2 "--grid: '$wrong' must be rows and columns of processes" "$program" --grid "$wrong" --m 1000
    done
  fi
  if [[ $name == tessera-hpl ]]; then
    for wrong in /dev/full . /dev/null; do
      expect 2 "FILE: '$wrong' is not a file" timeout 60 "$program" "$wrong"
    done
    expect 2 "$name: absent/HPL.dat: no such file" "$program" absent/HPL.dat
    # shellcheck disable=SC2016  # the inner shell expands it
    bash -c '"$0" --gpus 0 <(cat HPL.dat)' "$program" >/dev/null || fail "$name does not read a pipe"
    expect 3 'the output file absent/HPL.out cannot be written: No such file' "$program" unwritable.dat
  fi
done
exit $failed
