#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares `tessera` with the best of StarPU's dmdar, dmdas and lws on simulated machines: first on all machines, where each
# policy gets its best tile and number of CPU workers; then with the same tiles for all; and without homes, also with dmda,
# at three tiles, without and with CPU workers. Prints the tables of traces/policy.md.
# usage: traces/compare.sh [--simulate PROGRAM] [all-machines|h200x4|summit-node|out-of-core|without-homes]...
#   --simulate PROGRAM    uses this tessera-simulate instead of building one
set -euo pipefail
# shellcheck source=traces/arguments.sh
. "$(dirname "${BASH_SOURCE[0]}")/arguments.sh"
take_programs simulate "$@"
set -- "${rest[@]}"
find_simulate

routines=(gemm symm syrk syr2k trmm trsm)

# One problem under all policies. `tessera` runs with the library's defaults. StarPU's policies run with the library's tiles
# and with tiles of n/16, n/8 and n/4, each without CPU workers and with a CPU worker on every core that drives no GPU.
own_tiles() {  # machine, routine, n
  local cpus tile common=(--platform "$1" --routine "$2" --size "$3" --json -)
  "$simulate" "${common[@]}" --policy tessera 2>/dev/null || true
  for cpus in 0 "$(cores_beside_gpus "$1")"; do
    for tile in "" $(($3 / 16)) $(($3 / 8)) $(($3 / 4)); do
      "$simulate" "${common[@]}" --policy dmdar,dmdas,lws --cpus "$cpus" ${tile:+--tile "$tile"} 2>/dev/null || true
    done
  done
}

all_machines() {
  local machine routine
  for machine in "$here"/platforms/*.json; do
    for routine in gemm syrk trsm; do own_tiles "$(basename "$machine" .json)" "$routine" 16384; done
  done
}

run() {  # arguments; the table leaves out a policy that fails
  "$simulate" --policy tessera,dmdar,dmdas,lws "$@" --json - 2>/dev/null || true
}

in_core() {  # machine
  run --platform "$1" --routine "$(IFS=, && echo "${routines[*]}")" --size 8192,16384,32768
}

out_of_core() {  # the operands, as a multiple of the memory of one GPU
  local routine n operands
  for routine in "${routines[@]}"; do
    case $routine in syrk | trmm | trsm) operands=2 ;; *) operands=3 ;; esac
    for n in 16384 32768; do
      run --platform h200x4 --routine "$routine" --size "$n" --tile 2048 --gpu-memory $((operands * n * n * 8 / $1 >> 20))
    done
  done
}

# As in a program that suggests no homes: tasks are submitted in the plain order, and the policy alone places them.
without_homes() {  # arguments
  "$simulate" --policy tessera,eager,lws,dmda,dmdar,dmdas --placement scheduler --size 16384 "$@" --json - 2>/dev/null || true
}

# Single runs are chaotic, so `tessera` runs three times, with different windows.
in_core_without_homes() {
  local machine tile cpus window common
  for machine in h200x4 everest summit-node makalu workstation consumer; do
    for tile in 512 1024 2048; do
      for cpus in 0 "$(cores_beside_gpus "$machine")"; do
        common=(--platform "$machine" --routine gemm,syrk,trsm,potrf --size 16384 --tile "$tile" --cpus "$cpus"
          --placement scheduler --json -)
        for window in 7 8 9; do
          TESSERA_SCHED=window=$window "$simulate" "${common[@]}" --policy tessera 2>/dev/null || true
        done
        "$simulate" "${common[@]}" --policy dmda,dmdar,dmdas,lws 2>/dev/null || true
      done
    done
  done
}

# Prints the time of the best of StarPU's policies, divided by the mean time of `tessera`: a row for each machine and tile,
# and in each column the runs without and with CPU workers.
ratios() {
  python3 -c '
import collections, json, math, sys
times = collections.defaultdict(lambda: collections.defaultdict(list))
for r in map(json.loads, sys.stdin):
    times[r["platform"], r["tile"], r["routine"], r["cpus"] > 0][r["policy"]].append(r["median_s"])
def ratio(cell):
    ours = cell.pop("tessera", None)
    return min(map(min, cell.values())) / (sum(ours) / len(ours)) if ours and cell else None
ratios = {key: value for key, cell in times.items() if (value := ratio(cell)) is not None}
routines = list(dict.fromkeys(key[2] for key in ratios))
print("| machine, tile |", " | ".join(routines), "|\n|---" + "|---" * len(routines) + "|")
for machine, tile in dict.fromkeys(key[:2] for key in ratios):
    cells = (", ".join("%.2f" % ratios.get((machine, tile, routine, cpus), math.nan) for cpus in (False, True)) for routine in routines)
    print(f"| {machine}, {tile} |", " | ".join(cells), "|")
for tile in dict.fromkeys(key[1] for key in ratios):
    for cpus in (False, True):
        some = [value for key, value in ratios.items() if key[1] == tile and key[3] == cpus]
        if some: print("\nTiles of %d, %s CPU workers: geometric mean %.3f, least %.2f, more than 2 %% behind in %d of %d." % (
              tile, "with" if cpus else "without", math.exp(sum(map(math.log, some)) / len(some)), min(some),
              sum(value < 0.98 for value in some), len(some)))
'
}

out_of_core_without_homes() {
  without_homes --platform h200x4 --routine gemm --tile 2048 --gpu-memory 412
  without_homes --platform h200x4 --routine syrk,trsm --tile 2048 --gpu-memory 256
  without_homes --platform h200x4 --routine potrf --tile 1024 --gpu-memory 96
}

# Prints one row per problem, then the geometric mean. Of several runs of a policy the fastest counts.
table() {  # own-tiles: rows name the machine, and tile and CPU workers of the others
  awk -v own_tiles="${1:-}" '
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
      if (best == "" || !("tessera" in time)) { printf "| %s | no result | | | | |%s\n", problem, own_tiles ? " |" : ""; return }
      ratio = time[best] / time["tessera"]
      printf "| %s | %s | %s%s %s | %.2f | %s%.0f %%, %.0f %% | %s %.3g GB in %.4g s |\n", problem, cell("tessera"), best,
             how[best], cell(best), ratio, own_tiles ? sprintf("%.2f | ", time[best] / limit) : "",
             100 * unused["tessera"], 100 * unused[best], fewest, bytes[fewest] / 1e9, time[fewest]
      sum += log(ratio); at_limit += log(time[best] / limit); problems++
      if (least == "" || ratio < least) least = ratio
      if (bytes["tessera"] < bytes[best]) fewer++
      if (bytes["tessera"] <= bytes[fewest]) fewest_of_all++
    }
    BEGIN {
      print "| | tessera | best of the others | times faster |" (own_tiles ? " at the limit |" : "") \
            " GPUs idle | fewest bytes of the others |"
      print "|---|---|---|---|---|---|" (own_tiles ? "---|" : "")
    }
    {
      key = (own_tiles ? value("platform") " " : "") value("routine") " " value("n"); gsub(/"/, "", key)
      if (key != problem) {
        if (problem != "") row()
        problem = key
        split("", time); split("", bytes); limit = 0
      }
      policy = value("policy"); gsub(/"/, "", policy)
      seconds = value("median_s") + 0
      bound = value("limit_s") + 0
      if (limit == 0 || bound < limit) limit = bound
      if (policy in time && time[policy] <= seconds) next
      time[policy] = seconds; bytes[policy] = value("bytes_h2d") + 0; unused[policy] = idle(seconds)
      how[policy] = own_tiles ? " (" tile() ", " value("cpus") " CPUs)" : ""
    }
    END {
      row()
      if (problems == 0) exit
      printf "\nGeometric mean %.2f, least %.2f. `tessera` reads fewer bytes than the fastest of the others in %d of %d cases, and no more",
             exp(sum / problems), least, fewer, problems
      printf " than any of them in %d.\n", fewest_of_all
      if (own_tiles) printf "At the limit, it would be %.2f times as fast in the geometric mean.\n", exp(at_limit / problems)
      print ""
    }'
}

[[ $# -gt 0 ]] || set -- all-machines h200x4 summit-node out-of-core without-homes
for name in "$@"; do
  case $name in
    all-machines) all_machines | table own-tiles ;;
    h200x4 | summit-node) printf '**%s**\n\n' "$name" && in_core "$name" | table ;;
    out-of-core)
      printf '**All four GPUs together hold a quarter of the operands**\n\n' && out_of_core 16 | table
      printf '**Each GPU holds a quarter of the operands**\n\n' && out_of_core 4 | table
      ;;
    without-homes)
      in_core_without_homes | ratios
      printf '\n**h200x4, all four GPUs together hold about a quarter of the operands**\n\n' && out_of_core_without_homes | table
      ;;
    *)
      die "unknown table '$name'; known tables: all-machines, h200x4, summit-node, out-of-core, without-homes"
      ;;
  esac
done
