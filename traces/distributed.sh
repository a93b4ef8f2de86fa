#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The tables and the picture of distributed.md: matrices over many processes in simulated time.
# usage: traces/distributed.sh [--simulate PROGRAM] FOLDER [bytes | long | solves | lu | GRID...]
#   --simulate PROGRAM    uses this tessera-simulate-mpi instead of building one
set -euo pipefail
# shellcheck source=traces/arguments.sh
. "$(dirname "${BASH_SOURCE[0]}")/arguments.sh"
take_programs simulate "$@"
[[ ${#rest[@]} -gt 0 ]] || die "FOLDER is missing"
if [[ -z $simulate ]]; then
  "$here/../run" simulate --nodes 1 --help >/dev/null  # builds it
  simulate=$here/../build/simgrid-mpi/bin/tessera-simulate-mpi
fi
exec "$here/distributed.py" "$simulate" "${rest[@]}"
