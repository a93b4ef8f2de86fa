#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: ranks.sh LIBRARY PROGRAM: this script starts two ranks as a launcher does. Their CPU workers are on different
# cores, whether the launcher binds the ranks or not.
set -euo pipefail
library=$1 program=$2
[[ $(nproc) -ge 2 ]] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

rank() {  # number, command in front of the program...
  local number=$1
  shift
  env OMPI_COMM_WORLD_LOCAL_RANK="$number" OMPI_COMM_WORLD_LOCAL_SIZE=2 TESSERA_BLAS_MIN_FLOPS=0 TESSERA_DEVICES=cpu \
    LD_PRELOAD="$library" "$@" "$program" | sort >"$folder/$number"
}
both() {  # what, command of the first rank, of the second
  # shellcheck disable=SC2086
  { rank 0 $2 & rank 1 $3; wait $!; }
  local same
  same=$(comm -12 "$folder/0" "$folder/1")
  if [[ -s $folder/0 && -s $folder/1 && -z $same ]]; then return; fi
  printf '%s: one rank computes on cores %s, the other one on %s\n' "$1" "$(xargs <"$folder/0")" "$(xargs <"$folder/1")"
  exit 1
}

mapfile -t cores < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
both "not bound" "" ""
both "bound" "taskset --cpu-list ${cores[0]}" "taskset --cpu-list ${cores[1]}"
[[ $(<"$folder/0") == "${cores[0]}" && $(<"$folder/1") == "${cores[1]}" ]] || { echo "bound ranks left their cores"; exit 1; }
echo '"$@"; exit' >"$folder/run"  # which the rank is a child of
both "in a script" "bash $folder/run" "bash $folder/run"
