#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: once.sh MESSAGE COMMAND...: passes if the command, which starts several processes, fails and prints one line
# with MESSAGE. Exit status 77, as that of the command: it cannot be tried here.
set -u
message=$1
shift
output=$(timeout --kill-after=5 100 "$@" 2>&1 </dev/null)
status=$?
[[ $status -ne 77 ]] || exit 77
lines=$(grep -c -F -- "$message" <<<"$output")
[[ $status -ne 0 && $status -ne 124 && $lines -eq 1 ]] && exit 0
printf 'exit status %s, %s lines with the message\n%s\n' "$status" "$lines" "$output"
exit 1
