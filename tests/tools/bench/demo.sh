#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: demo.sh BENCH BUILD SOURCE: runs each command that `tessera-bench --demo` advises, as it is printed, and checks that
# `./run demo` builds their programs.
set -euo pipefail

bench=$1 build=$2 source=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }

# In a folder whose name the shell would split.
folder="$scratch/two words"
mkdir "$folder"
ln -s "$build/bin" "$folder/bin"
printed=$("$folder/bin/${bench##*/}" --demo)
mapfile -t commands < <(sed -n '/^Next:$/,$ { /^  [^#]/ s/^  //p }' <<<"$printed")
[[ ${#commands[@]} -ge 3 ]] || fail "three commands are not advised: $printed"
for program in tessera-bench tessera-info 01_gemm; do
  [[ "${commands[*]}" == *"/$program"* ]] || fail "$program is not advised: $printed"
done
for command in "${commands[@]}"; do
  text=$(bash -c "$command" 2>&1) || fail "'$command' ended with $?: $text"
done

# What ./run demo builds. It starts `tessera-bench`, which stands for all that it needs.
targets=$(sed -n 's/^ *advised=(\(.*\))$/\1/p' "$source/run")
for command in "${commands[@]}"; do
  program=${command#*/bin/} program=${program%%[\' ]*}
  [[ " tessera-bench $targets " == *" $program "* ]] || fail "./run demo does not build $program"
done
exit $failed
