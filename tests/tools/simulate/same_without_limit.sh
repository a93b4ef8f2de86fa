#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A simulated program prints the same, however strictly the policy limits results that are not planned.
# usage: same_without_limit.sh PROGRAM ARGUMENT...
set -euo pipefail
limited=$(TESSERA_SCHED=results=10 "$@")
unlimited=$(TESSERA_SCHED=results=75 "$@")
grep -q GFLOP <<<"$limited"  # it has run
diff <(echo "$limited") <(echo "$unlimited")
