#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: record_run.sh TESSERA-BENCH FOLDER    records a small run in a new folder, as a user would
set -euo pipefail
rm -rf "$2"
"$1" --size 1000 --tile 100 --repeat 1 --warmup 0 --trace "$2"
test -s "$2/report.html"
