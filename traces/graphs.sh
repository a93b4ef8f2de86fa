#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the policy `tessera` with StarPU's own policies on task graphs of other programs, on simulated machines. Prints
# the tables of traces/policy.md. Every policy runs each graph with each tile and number of CPU workers below, and its
# fastest run counts.
# usage: traces/graphs.sh [--simulate PROGRAM] [--graphs PROGRAM] [--quick | --all-cores] [MACHINE]...
#   --simulate PROGRAM    uses this tessera-simulate instead of building one
#   --graphs PROGRAM      uses this program instead of build/simgrid/bin/graphs
#   --quick               only tiles of 1024, and no CPU workers
#   --all-cores           only with a CPU worker on every core that drives no GPU
set -euo pipefail
# shellcheck source=traces/arguments.sh
. "$(dirname "${BASH_SOURCE[0]}")/arguments.sh"
take_programs "simulate graphs" "$@"
set -- "${rest[@]}"
find_simulate

policies=tessera,eager,lws,dmda,dmdar,dmdas
names=(gemm-rows gemm-random gemm-unequal cholesky-right cholesky-left lu qr two chains)
tiles=(6 12) cpus=(0 4) order=12288
case ${1:-} in
  --quick) tiles=(12) cpus=(0) && shift ;;
  --all-cores) cpus=(all) && shift ;;
esac
[[ $# -gt 0 ]] || set -- h200x4 everest makalu summit-node workstation two-cores

# Prints one line for each run: graph, memory, policy, seconds, bytes from the host, idle share, what it ran with.
runs() {  # machine, graph, memory of a GPU [MiB] or 0
  local machine=$1 graph=$2 memory=$3 count cores options=()
  [[ $memory == 0 ]] || options=(--gpu-memory "$memory")
  for count in "${tiles[@]}"; do
    # A task needs three tiles. With less memory, StarPU would retry allocations forever; four tiles leave room for prefetches.
    if [[ $memory != 0 && $memory -lt $((4 * 8 * (order / count) ** 2 >> 20)) ]]; then continue; fi
    for cores in "${cpus[@]}"; do
      if [[ $cores == all ]]; then cores=$(cores_beside_gpus "${machine/two-cores/everest}"); fi
      if [[ $machine == two-cores ]]; then options=(--gpus 0) && cores=2; fi
      "$simulate" --platform "${machine/two-cores/everest}" --policy "$policies" --cpus "$cores" "${options[@]}" \
        --program "$graphs" --json - -- "$graph" --tiles "$count" --tile $((order / count)) 2>/dev/null |
        awk -v graph="$graph" -v memory="$memory" -v with="$count tiles, $cores CPUs" '
          function value(name) {
            match($0, "\"" name "\":[^,}]*")
            return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
          }
          { gsub(/"/, "", graph)
            policy = value("policy"); gsub(/"/, "", policy)
            print graph "|" memory "|" policy "|" value("median_s") "|" value("bytes_h2d") "|" with }' || true
      [[ $machine != two-cores ]] || break
    done
  done
}

# One row for each graph: the fastest run of each policy, then the summary.
table() {
  awk -F'|' '
    { key = $1 ($2 > 0 ? ", " $2 " MiB" : "")
      if (!(key in seen)) { seen[key] = 1; keys[++count] = key }
      if (!((key, $3) in time) || $4 < time[key, $3]) { time[key, $3] = $4; bytes[key, $3] = $5; with[key, $3] = $6 } }
    function cell(key, p) { return sprintf("%.4g s, %.3g GB, %s", time[key, p], bytes[key, p] / 1e9, with[key, p]) }
    END {
      print "| | tessera | best of the others | times faster |"
      print "|---|---|---|---|"
      split("eager lws dmda dmdar dmdas", others, " ")
      for (i = 1; i <= count; i++) {
        key = keys[i]; best = ""
        for (o in others) {
          p = others[o]
          if ((key, p) in time && (best == "" || time[key, p] < time[key, best])) best = p
        }
        if (best == "" || !((key, "tessera") in time)) { print "| " key " | no result | | |"; continue }
        ratio = time[key, best] / time[key, "tessera"]
        printf "| %s | %s | %s %s | %.2f |\n", key, cell(key, "tessera"), best, cell(key, best), ratio
        sum += log(ratio); cells++
        if (least == "" || ratio < least) least = ratio
        if (ratio < 0.98) behind++
        if (bytes[key, "tessera"] < bytes[key, best]) fewer++
      }
      printf "\n*Times faster*: geometric mean %.2f, least %.2f. ", exp(sum / cells), least
      printf "`tessera` is more than 2 %% slower than the best of the others in %d of %d rows,\n", behind, cells
      printf "and in %d, it copies fewer bytes from the host.\n\n", fewer
    }'
}

for machine in "$@"; do
  printf '**%s**\n\n' "$machine"
  for name in "${names[@]}"; do
    runs "$machine" "$name" 0
  done | table
  [[ $machine != two-cores ]] || continue
  printf '**%s, out of core: GPU memory for only a quarter of the operands**\n\n' "$machine"
  case $machine in h200x4 | makalu) gpus=4 ;; everest) gpus=3 ;; summit-node) gpus=6 ;; *) gpus=2 ;; esac
  for name in gemm-rows gemm-random gemm-unequal cholesky-right lu; do
    case $name in gemm*) matrices=3 ;; *) matrices=1 ;; esac
    runs "$machine" "$name" $((matrices * order * order * 8 / 4 / gpus >> 20))
  done | table
done
