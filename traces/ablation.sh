#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures the effect of each option of the policy `tessera`, on simulated machines or on this one. Prints the tables of
# traces/policy.md.
# usage: traces/ablation.sh [--simulate PROGRAM] [--graphs PROGRAM]
#        traces/ablation.sh --bench PROGRAM [OPTION...]
#   --simulate PROGRAM    uses this tessera-simulate instead of building one
#   --graphs PROGRAM      uses this program instead of build/simgrid/bin/graphs
#   --bench PROGRAM       measures this machine with this tessera-bench: one process for each row, in random order, and
#                         the first row again at the end
#   OPTION                of tessera-bench (gemm, trsm, syrk and potrf of 8192 and 16384)
set -euo pipefail
# shellcheck source=traces/arguments.sh
. "$(dirname "${BASH_SOURCE[0]}")/arguments.sh"
take_programs "simulate graphs bench" "$@"
changes=(-locality locality=hits -chains -prefetch -wait relay -steal -decline -write-back
  window=1 slots=4 slots=8 lookahead=10 lookahead=100 results=100)

# Prints the times on this machine, and the bytes from the host, as ratios to the mean of the first and the last row.
measured_table() {  # options of tessera-bench
  local calls=("$@") given=" $* " results change
  [[ $given == *" --routine"[\ =]* ]] || calls+=(--routine gemm,trsm,syrk,potrf)
  [[ $given == *" --size"[\ =]* || $given == *" --n"[\ =]* ]] || calls+=(--size 8192,16384)
  results=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$results'" EXIT
  "$bench" "${calls[@]}" --json "$results/first" >&2
  while read -r change; do
    say "$change"
    TESSERA_SCHED=$change "$bench" "${calls[@]}" --json "$results/$change" >&2
  done < <(printf '%s\n' "${changes[@]}" | shuf)
  "$bench" "${calls[@]}" --json "$results/last" >&2
  python3 - "$results" "${changes[@]}" <<'EOF'
import json, pathlib, sys

folder, *changes = sys.argv[1:]


def row(name):
    lines = pathlib.Path(folder, name).read_text().splitlines()
    return [r for r in map(json.loads, lines) if r["library"] == "tessera"]


first, last = row("first"), row("last")
print("| |", " | ".join(f"{r['routine']} {r['n']}" for r in first), "|")
print("|---" * (len(first) + 1) + "|")
both = [f"{a['median_s'] * 1e3:.3g}, {b['median_s'] * 1e3:.3g}; {a['bytes_h2d'] / 1e9:.3g} GB" for a, b in zip(first, last)]
print("| all on [ms] |", " | ".join(both), "|")
for change in changes:
    cells = [f"{r['median_s'] / (a['median_s'] + b['median_s']) * 2:.2f}, {r['bytes_h2d'] / 1e9:.3g}"
             for r, a, b in zip(row(change), first, last)]
    print(f"| {change} |", " | ".join(cells), "|")
EOF
}

if [[ -n $bench ]]; then
  measured_table "${rest[@]}"
  exit
fi
[[ ${#rest[@]} -eq 0 ]] || die "there is no argument '${rest[0]}'"
find_simulate
options=(all-on "${changes[@]/#/TESSERA_SCHED=}")
names=() cases=()
add() { names+=("$1") cases+=("$2"); }  # title of the column, arguments

# Prints the seconds and the bytes from the host; nothing if there is no result.
measure() {  # option, arguments
  local -a arguments environment=()
  read -ra arguments <<<"$2"
  [[ $1 == all-on ]] || environment=("$1")
  [[ $2 == *--program* ]] || arguments+=(--size 16384)
  env "${environment[@]}" "$simulate" --policy tessera --json - "${arguments[@]}" 2>/dev/null |
    awk 'function value(name) {
           match($0, "\"" name "\":[^,}]*")
           return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
         }
         { print value("median_s"), value("bytes_h2d") }' || true
}

# Prints one row for each option, with a column for each case added so far, and forgets the cases.
table() {  # options
  local option label i result reference=()
  printf '|'
  printf ' | %s' "${names[@]}"
  printf ' |\n|---%s\n' "$(printf '|---%.0s' "${names[@]}")|"
  for option in "$@"; do
    label=${option#TESSERA_SCHED=}
    printf '| %s' "${label/all-on/all on}"
    for i in "${!cases[@]}"; do
      result=$(measure "$option" "${cases[i]}")
      [[ $option == all-on ]] && reference[i]=$result
      awk -v r="$result" -v a="${reference[i]}" -v first="$option" 'BEGIN {
        split(r, now); split(a, all)
        if (r == "") printf " | none"
        else if (first == "all-on") printf " | %.4g s, %.3g GB", now[1], now[2] / 1e9
        else if (r == a) printf " | ="
        else printf " | %.2f, %.3g", now[1] / all[1], now[2] / 1e9
      }'
    done
    echo ' |'
  done
  names=() cases=()
}

add "h200x4 gemm" "--platform h200x4 --routine gemm"
add "h200x4 trsm" "--platform h200x4 --routine trsm"
add "h200x4 syrk" "--platform h200x4 --routine syrk"
add "everest gemm" "--platform everest --routine gemm --tile 1024"
add "everest trsm" "--platform everest --routine trsm --tile 1024"
add "makalu gemm" "--platform makalu --routine gemm"
add "summit-node gemm" "--platform summit-node --routine gemm"
add "h200x4 gemm, out of core" "--platform h200x4 --routine gemm --tile 2048 --gpu-memory 412"
table "${options[@]}" TESSERA_PLACEMENT=scheduler

# Programs without Tessera.
add_graph() {  # machine, graph, MiB of a GPU or nothing
  names+=("$2${3:+, out of core}")
  cases+=("--platform $1 --program $graphs ${3:+--gpu-memory $3} -- $2 --tiles 12 --tile 1024")
}
for machine in h200x4 everest; do
  printf '\n**%s**\n\n' "$machine"
  for graph in gemm-random cholesky-left qr two chains; do add_graph "$machine" "$graph"; done
  add_graph "$machine" gemm-random 220
  add_graph "$machine" cholesky-right 75
  table "${options[@]}"
done
