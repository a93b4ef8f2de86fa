#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs blasx_applications.m in Octave, or the same calls from C, without and with the drop-in. Prints a table: seconds, the
# speedup by the drop-in, and the difference of the results. Both runs begin with products of order N for 5 SECONDS, during
# which the devices start.
# usage: traces/papers/blasx_applications.sh [--c] [--blas libtessera_blas.so] [--warm SECONDS] [N [NAME...]]
#        N: 8192 by default
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
blas=$here/../../build/release/lib/libtessera_blas.so
language=octave
if [[ ${1:-} == --c ]]; then
  language=cc
  shift
fi
if [[ ${1:-} == --blas ]]; then
  blas=$(realpath "${2:?--blas needs a library}")
  shift 2
fi
[[ -f $blas ]] || { echo "blasx_applications.sh: $blas does not exist: ./run build" >&2; exit 1; }
command -v $language >/dev/null || { echo "blasx_applications.sh: $language is not installed" >&2; exit 1; }
warm=5
if [[ ${1:-} == --warm ]]; then
  warm=${2:?--warm needs a number of seconds}
  shift 2
fi
[[ $# -gt 0 ]] || set -- 8192
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

applications() {  # arguments of the script
  if [[ $language == cc ]]; then "$scratch/program" --warm "$warm" "$@"
  else octave -qfH "$here/blasx_applications.m" --warm "$warm" "$@"; fi
}
[[ $language == octave ]] || cc -O3 -march=native "$here/blasx_applications.c" -o "$scratch/program" -lopenblas -lm
applications "$@" >"$scratch/without"
(export LD_PRELOAD=$blas && applications "$@") >"$scratch/with"
echo "| n = $1 | without [s] | with [s] | ratio | difference |"
echo "|---|---|---|---|---|"
join <(sort "$scratch/without") <(sort "$scratch/with") |
  awk '{ d = ($5 - $3) / $3; printf "| %s | %s | %s | %.2f | %.0e |\n", $1, $2, $4, $2 / $4, d < 0 ? -d : d }'
