#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Records the example runs of traces/README.md and keeps their small parts: traces/runs/NAME/summary.txt and report.png. Of the
# run `pcie`, also traces/runs/pcie/paje.trace, and ViTE's window as traces/vite.png. usage: traces/record.sh [NAME [FOLDER]]
#   NAME    a name from `command_of` (default: all but h200-gemm, which needs four GPUs)
#   FOLDER  a new folder that keeps the trace and the whole report
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
names=(good unbalanced pcie out-of-core cholesky lu two-cores)

command_of() {  # name
  case $1 in
    # The problem is large enough to hide the copies behind the arithmetic.
    good) echo simulate --platform h200x4 --routine gemm --size 32768 ;;
    # Two GPUs are six times slower than the others, but get as many tasks.
    unbalanced) echo simulate --platform makalu --routine gemm --size 8192 --policy random ;;
    # The copies take longer than the arithmetic that could hide them.
    pcie) echo simulate --platform h200x4 --routine gemm --size 8192 ;;
    # The operands are three times as large as the available GPU memory, so tiles are fetched repeatedly.
    out-of-core) echo simulate --platform h200x4 --routine gemm --size 16384 --tile 2048 --gpu-memory 512 ;;
    # The factorizations of diagonal tiles and of panels run concurrently with products.
    cholesky) echo simulate --platform h200x4 --gpus 2 --routine potrf --size 32768 ;;
    lu) echo simulate --platform h200x4 --gpus 2 --routine getrf --size 32768 ;;
    # This run measures this machine, which should otherwise be idle.
    two-cores) echo bench --routine gemm --size 4096 --tile 1024 --gpus 0 --cpus 2 ;;
    h200-gemm) echo bench --routine gemm --size 32768 --gpus 4 ;;
    *)
      echo "record.sh: unknown run $1; known runs: ${names[*]} h200-gemm" >&2
      exit 2
      ;;
  esac
}

# Reduces the colours. Without dithering, the file is a third of the size and looks the same.
shrink() {  # picture, result
  convert "$1" +dither -colors 64 -define png:compression-level=9 -strip "PNG8:$2"
}

record() {  # name, folder
  local name=$1 folder=$2 kept=$here/runs/$1 preset=release words line
  line=$(command_of "$name")
  read -ra words <<<"$line"
  [[ ${words[0]} == bench ]] || preset=simgrid
  echo "$name: ./run $line" >&2
  (cd "$(dirname "$folder")" && "$here/../run" "${words[@]}" --trace "$(basename "$folder")") >&2
  mkdir -p "$kept"
  "$here/../build/$preset/bin/tessera-trace" "$folder" >"$folder/summary.txt"
  {  # the user's command instead of the program's, and without the last line, which names a folder of this machine
    printf '$ ./run %s --trace %s\n\n' "$line" "$name"
    grep -v '^ *tessera-\(bench\|simulate\) \|^report: ' "$folder/summary.txt"
  } | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$kept/summary.txt"
  shrink "$folder/report.png" "$kept/report.png"
  if [[ $name == pcie ]]; then
    cp "$folder/paje.trace" "$kept/paje.trace"
    "$here/../tests/tools/trace/vite.sh" "$folder/paje.trace" "$folder/vite.png" >&2
    shrink "$folder/vite.png" "$here/vite.png"
  fi
}

[[ $# -le 2 ]] || { echo "usage: traces/record.sh [NAME [FOLDER]]" >&2; exit 2; }
command -v convert >/dev/null || { echo "record.sh: convert is not installed: install imagemagick" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [[ $# -eq 0 ]]; then
  for name in "${names[@]}"; do record "$name" "$scratch/$name"; done
else
  command_of "$1" >/dev/null
  record "$1" "$(realpath -m "${2:-$scratch/$1}")"
fi
