#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs Octave without the drop-in, and with every call on the OpenCL devices that the environment names. Fails unless
# the results are equal within the bounds, and the calls reached the drop-in. Skipped without Octave.
# usage: tests/dropin/octave_opencl.sh LIBRARY
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
[[ $# -eq 1 ]] || die "usage: octave_opencl.sh LIBRARY"
library=$(absolute "$1")
command -v octave-cli >/dev/null || { echo "octave-cli is not there"; exit 77; }
[[ -e ${OCL_ICD_VENDORS:-} ]] || { echo "no OpenCL platform"; exit 77; }

octave=(octave-cli --norc --no-history "$here/octave_opencl.m")
"${octave[@]}" alone
under "$library" env TESSERA_BLAS_MIN_FLOPS=0 TESSERA_TILE=128 "${octave[@]}" under_us
"$python" "$here/same_results.py" alone under_us
calls devices dgemm dgetrf dgetrs dsyrk dpotrf
