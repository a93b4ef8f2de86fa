#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares `tessera` with the best of StarPU's dmdar, dmdas and lws on simulated machines, each with the tile and the CPU
# workers that are best for it; without homes, also with dmda and eager. Prints the tables of traces/policy.md.
# usage: traces/compare.sh [MACHINE|out-of-core|without-homes]...    MACHINE: a name in traces/platforms
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
simulate=${TESSERA_SIMULATE:-$here/../build/simgrid/bin/tessera-simulate}
[[ -n ${TESSERA_SIMULATE:-} ]] || "$here/../run" build simgrid

routines=(gemm symm syrk syr2k trmm trsm)

machines=(h200x4 summit-node everest makalu sandy-kepler nehalem-tesla gtx-260)

run() {  # arguments; the table leaves out a policy that fails
  "$simulate" "$@" --json - 2>/dev/null || true
}

# Prints how many cores are left if each GPU has one to itself, as in StarPU.
cores_beside_gpus() {  # machine
  python3 -c 'import json, sys; m = json.load(open(sys.argv[1])); print(m["cpu"]["cores"] - len(m["gpus"]))' \
    "$here/platforms/$1.json"
}

# One problem. The policy `tessera` runs as the library starts it; StarPU's policies with all of these tiles, without CPU
# workers and with one on each core. `table` takes the fastest of each policy.
problem() {  # machine, routine, n, tile of tessera or "", tiles of the others or "", further arguments
  local machine=$1 routine=$2 n=$3 tile=$4 tiles cpus other
  read -ra tiles <<<"$5"
  shift 5
  run --platform "$machine" --routine "$routine" --size "$n" --policy tessera ${tile:+--tile "$tile"} "$@"
  for cpus in 0 "$(cores_beside_gpus "$machine")"; do
    for other in "${tiles[@]}"; do
      [[ $other == chosen ]] && other=
      run --platform "$machine" --routine "$routine" --size "$n" --policy dmdar,dmdas,lws --cpus "$cpus" \
        ${other:+--tile "$other"} "$@"
    done
  done
}

in_core() {  # machine
  local routine n sizes=(8192 16384)
  case $1 in h200x4 | summit-node) sizes+=(32768) ;; esac
  for routine in "${routines[@]}"; do
    for n in "${sizes[@]}"; do problem "$1" "$routine" "$n" "" "chosen $((n / 16)) $((n / 8)) $((n / 4))"; done
  done
}

out_of_core() {  # the operands, as a multiple of the memory of one GPU
  local routine n operands
  for routine in "${routines[@]}"; do
    case $routine in syrk | trmm | trsm) operands=2 ;; *) operands=3 ;; esac
    for n in 16384 32768; do
      problem h200x4 "$routine" "$n" 2048 "1024 2048 4096" --gpu-memory $((operands * n * n * 8 / $1 >> 20))
    done
  done
}

# As under a program that suggests no homes: tasks are submitted in the plain order, and the policy alone places them.
without_homes() {  # arguments
  run --policy tessera,eager,lws,dmda,dmdar,dmdas --placement scheduler --size 16384 "$@"
}

in_core_without_homes() {  # machine
  without_homes --platform "$1" --routine gemm,syrk,trsm,potrf --tile 1024
}

out_of_core_without_homes() {
  without_homes --platform h200x4 --routine gemm --tile 2048 --gpu-memory 412
  without_homes --platform h200x4 --routine syrk,trsm --tile 2048 --gpu-memory 256
  without_homes --platform h200x4 --routine potrf --tile 1024 --gpu-memory 96
}

# Prints one row per problem, then the geometric mean.
table() {  # yes: the others have tiles and CPU workers of their own, which the table shows
  awk -v own="${1:-no}" '
    function value(name) {
      match($0, "\"" name "\":[^,}]*")
      return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
    }
    function idle(seconds,   rest, busy, gpus) {  # share of the time of all GPUs
      for (rest = $0; match(rest, /"busy":[^,]*/); gpus++) {
        busy += substr(rest, RSTART + 7, RLENGTH - 7)
        rest = substr(rest, RSTART + RLENGTH)
      }
      return 1 - busy / gpus / seconds
    }
    function tile(   m, n) { m = value("tile"); n = value("tile_n"); return m == n ? m : m "×" n }
    function cell(p) { return sprintf("%.4g s, %.3g GB", time[p], bytes[p] / 1e9) }
    function row(   p, best, fewest, ratio) {
      for (p in time) {
        if (p == "tessera") continue
        if (best == "" || time[p] < time[best]) best = p
        if (fewest == "" || bytes[p] < bytes[fewest]) fewest = p
      }
      ratio = time[best] / time["tessera"]
      printf "| %s | %s | %s%s %s | %.2f | %.0f %%, %.0f %% | %s %.3g GB in %.4g s |\n", problem, cell("tessera"), best,
             how[best], cell(best), ratio, 100 * unused["tessera"], 100 * unused[best], fewest, bytes[fewest] / 1e9, time[fewest]
      sum += log(ratio); problems++
      if (least == "" || ratio < least) least = ratio
      if (bytes["tessera"] < bytes[best]) fewer++
      if (bytes["tessera"] <= bytes[fewest]) fewest_of_all++
    }
    BEGIN {
      print "| | tessera | best of the others | times faster | GPUs idle | fewest bytes of the others |"
      print "|---|---|---|---|---|---|"
    }
    {
      key = value("routine") " " value("n"); gsub(/"/, "", key)
      if (key != problem) {
        if (problem != "") row()
        problem = key
        split("", time); split("", bytes)
      }
      policy = value("policy"); gsub(/"/, "", policy)
      seconds = value("median_s") + 0
      if (policy in time && time[policy] <= seconds) next
      time[policy] = seconds; bytes[policy] = value("bytes_h2d") + 0; unused[policy] = idle(seconds)
      how[policy] = own == "yes" ? " (" tile() ", " value("cpus") " CPUs)" : ""
    }
    END {
      row()
      printf "\nGeometric mean %.2f, least %.2f. `tessera` reads fewer bytes than the fastest of the others in %d of %d cases, and no more",
             exp(sum / problems), least, fewer, problems
      printf " than any of them in %d.\n\n", fewest_of_all
    }'
}

[[ $# -gt 0 ]] || set -- "${machines[@]}" out-of-core without-homes
for name in "$@"; do
  case " ${machines[*]} " in
    *" $name "*)
      printf '**%s**\n\n' "$name" && in_core "$name" | table yes
      continue
      ;;
  esac
  case $name in
    out-of-core)
      printf '**All four GPUs together hold a quarter of the operands**\n\n' && out_of_core 16 | table yes
      printf '**Each GPU holds a quarter of the operands**\n\n' && out_of_core 4 | table yes
      ;;
    without-homes)
      for machine in h200x4 everest summit-node makalu; do
        printf '**%s**\n\n' "$machine" && in_core_without_homes "$machine" | table
      done
      printf '**h200x4, all four GPUs together hold about a quarter of the operands**\n\n' && out_of_core_without_homes | table
      ;;
    *)
      echo "compare.sh: unknown table '$name'; known tables: ${machines[*]}, out-of-core, without-homes" >&2
      exit 2
      ;;
  esac
done
