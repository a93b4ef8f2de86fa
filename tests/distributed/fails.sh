#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: fails.sh MESSAGE [--also TEXT] COMMAND...: passes if the command soon fails with exactly one line of Tessera, with
# this message, and prints TEXT. Exit status 77, as that of the command: it cannot be tried here.
set -u
message=$1 also=
shift
if [[ $1 == --also ]]; then
  also=$2
  shift 2
fi
output=$(timeout --kill-after=5 100 "$@" 2>&1 </dev/null)
status=$?
[[ $status -ne 77 ]] || exit 77
mapfile -t lines < <(grep '^tessera: ' <<<"$output")
if [[ $status -ne 0 && $status -ne 124 && ${#lines[@]} -eq 1 && ${lines[0]} == *"$message"* && $output == *"$also"* ]]; then
  exit 0
fi
printf 'exit status %s, %s messages\n%s\n' "$status" "${#lines[@]}" "$output"
exit 1
