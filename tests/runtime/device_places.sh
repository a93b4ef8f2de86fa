#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: device_places.sh tessera-info far_device.xml
# On a machine with two NUMA nodes whose first OpenCL device is at the second node, tessera-info and StarPU's files show this.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset STARPU_PERF_MODEL_DIR TESSERA_CPUS
export STARPU_HWLOC_INPUT=$2 TESSERA_CACHE_DIR=$scratch TESSERA_DEVICES=opencl=1
shown=$("$1" --size 256)
grep -q '^ *NUMA 1 .* OpenCL 0' <<<"$shown" || { echo "FAILED: it shows: $shown" >&2; exit 1; }
told=$(find "$scratch" -name '*.affinity' -exec grep -m1 -P '^0\t' {} +)
[[ $told == $'0\t1\t0\t' ]] || { echo "FAILED: StarPU is told '$told'" >&2; exit 1; }
