#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures the table of traces/h200.md on this machine: six routines in double precision and three sizes, compared with
# cuBLAS-XT, on all GPUs and on a single one; pageable memory; and GPUs with memory for a quarter of the operands.
# usage: traces/campaign.sh [--bench PROGRAM] FOLDER    a new folder for the JSON of traces/plot_campaign.py and for the printed tables
#   --bench PROGRAM    uses this tessera-bench instead of the one that `./run bench` builds
#   CAMPAIGN_SIZES="8192 16384 32768"    measures these sizes
set -euo pipefail
# shellcheck source=traces/arguments.sh
. "$(dirname "${BASH_SOURCE[0]}")/arguments.sh"
take_programs bench "$@"
set -- "${rest[@]}"
[[ $# -eq 1 && ! -e $1 ]] || { echo "usage: traces/campaign.sh [--bench PROGRAM] FOLDER (a new folder)" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd -P)
if [[ -n $bench ]]; then bench=("$bench"); else bench=("$here/../run" bench); fi
read -ra sizes <<<"${CAMPAIGN_SIZES:-8192 16384 32768}"
routines=gemm,symm,syrk,syr2k,trmm,trsm
gpus=$({ nvidia-smi --list-gpus || true; } | wc -l)
((gpus > 0)) || { die "nvidia-smi lists no GPU"; }

# Each n is measured in a separate process.
measure() {  # name, arguments of tessera-bench
  local name=$1
  shift
  "${bench[@]}" "$@" --repeat 3 --json "$folder/$name.json" | tee -a "$folder/printed.txt"
}

for size in "${sizes[@]}"; do
  measure "pinned-$gpus-$size" --routine "$routines" --size "$size" --gpus "$gpus" --against cublasxt \
    --xt-block 2048,4096 --check
  measure "pageable-$gpus-$size" --routine gemm --size "$size" --gpus "$gpus" --memory pageable --check
  if ((gpus > 1)); then measure "pinned-1-$size" --routine gemm,trsm --size "$size" --gpus 1 --check; fi
  mebibytes=$((3 * size * size * 8 / 4 / gpus / 1048576))
  TESSERA_GPU_MEMORY=$mebibytes measure "out-of-core-$gpus-$size" --routine gemm --size "$size" --gpus "$gpus" --check
done
