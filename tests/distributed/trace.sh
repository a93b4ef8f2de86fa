#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: trace.sh TESSERA_TRACE COMMAND...: COMMAND starts two processes; each records a separate trace, and writes no
# other files.
set -euo pipefail
explain=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TMPDIR=$folder TESSERA_TRACE=$folder/run "$@"
for process in 0 1; do "$explain" "$folder/run/process-$process" | grep -E 'gemm: [1-9][0-9]* tasks'; done
strays=$(find "$folder" -name 'prof_file*' -not -path "$folder/run/process-[01]/prof_file_0")
[[ -z $strays ]] || { echo "recorded elsewhere, too: $strays"; exit 1; }
