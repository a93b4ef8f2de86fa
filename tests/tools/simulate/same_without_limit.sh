#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A simulated program prints the same if the policy limits other results than planned ones more or less.
# usage: same_without_limit.sh PROGRAM ARGUMENT...
set -euo pipefail
limited=$(TESSERA_SCHED=results=10 "$@")
unlimited=$(TESSERA_SCHED=results=75 "$@")
grep -q GFLOP <<<"$limited"  # it has run
diff <(echo "$limited") <(echo "$unlimited")
