#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the library's choice of tiles and GPUs costs: the time of each call over the best of fewer GPUs and square tiles.
# Prints a table for this machine, or by simulation for machines of traces/platforms.
# usage: traces/regret.sh [--simulate PROGRAM] [--bench PROGRAM] [MACHINE...] [-- OPTION...]
#   --simulate PROGRAM    uses this tessera-simulate instead of building one
#   --bench PROGRAM       measures this machine with this tessera-bench instead of building one
#   MACHINE               a described machine; without one, this machine is measured
#   OPTION                of the program, as --routine, --size, --type, --gpus (eight routines, n = 1024 to 16384)
set -euo pipefail
# shellcheck source=traces/arguments.sh
. "$(dirname "${BASH_SOURCE[0]}")/arguments.sh"
take_programs "simulate bench" "$@"
machines=()
while [[ ${#rest[@]} -gt 0 && ${rest[0]} != -- ]]; do
  machines+=("${rest[0]}")
  rest=("${rest[@]:1}")
done
calls=("${rest[@]:1}")
given=" ${calls[*]} "
[[ $given == *" --routine"[\ =]* ]] || calls+=(--routine gemm,symm,syrk,syr2k,trmm,trsm,potrf,getrf_nopiv)
[[ $given == *" --size"[\ =]* || $given == *" --n"[\ =]* ]] || calls+=(--size 1024,2048,4096,8192,16384)

if [[ ${#machines[@]} -eq 0 ]]; then
  [[ -n $bench ]] || "$here/../run" build release
  exec "${bench:-$here/../build/release/bin/tessera-bench}" --sweep "${calls[@]}"
fi
find_simulate
for machine in "${machines[@]}"; do
  # The rows of all ways to run a call come first, then the table.
  "$simulate" --platform "$machine" --sweep --brief "${calls[@]}" | sed -n '1p; /^$/,$p' | awk '
    NR == 1 { print; next }
    /^$/ { blank++ }
    blank >= 2'
done
