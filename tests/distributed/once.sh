#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: once.sh MESSAGE COMMAND...: passes if the command, which starts several processes, fails and prints one line
# with MESSAGE.
set -u
message=$1
shift
output=$(timeout --kill-after=5 30 "$@" 2>&1 </dev/null)
status=$?
lines=$(grep -c -F -- "$message" <<<"$output")
[[ $status -ne 0 && $status -ne 124 && $lines -eq 1 ]] && exit 0
printf 'exit status %s, %s lines with the message\n%s\n' "$status" "$lines" "$output"
exit 1
