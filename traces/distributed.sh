#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The tables and the picture of distributed.md: matrices over many processes in simulated time.
# usage: traces/distributed.sh FOLDER [bytes | long | GRID...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
program=${TESSERA_SIMULATE_MPI:-}
if [[ -z $program ]]; then
  "$here/../run" simulate --nodes 1 --help >/dev/null  # builds it
  program=$here/../build/simgrid-mpi/bin/tessera-simulate-mpi
fi
exec "$here/distributed.py" "$program" "$@"
