# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2164
# Functions that the tests of other projects' programs share. Source this file. It changes to a temporary working
# folder, since those programs write files there.

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Fails if a needed program or file is missing, since nothing would be tested then.
need() {  # Debian package, files or programs
  local package=$1 wanted
  shift
  for wanted in "$@"; do
    [[ -e $wanted ]] || command -v "$wanted" >/dev/null || die "$wanted is not there: install $package"
  done
}

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
need gcc gcc
debian=/usr/lib/$(gcc -print-multiarch)  # libraries and testers of Debian's packages
python=/usr/bin/python3                  # Debian's Python, which has Debian's NumPy
need python3 "$python"

caller=$PWD
absolute() { (cd "$caller" && realpath --canonicalize-missing -- "$1"); }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch LC_ALL=C
export TESSERA_CACHE_DIR=${TESSERA_CACHE_DIR:-$scratch/cache}
log=$scratch/calls

# Makes programs use the libraries in a folder, instead of those that Debian's alternatives system selects.
libraries_from() { export LD_LIBRARY_PATH=$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}; }

# Runs a program under the drop-in. A LIBRARY that is a file is preloaded; one that is a folder contains libblas.so.3.
under() {  # LIBRARY, program, arguments
  local library=$1
  shift
  [[ -e $library ]] || die "$library is not there"
  if [[ -d $library ]]; then
    (libraries_from "$library" && TESSERA_BLAS_LOG=$log "$@")
  else
    env TESSERA_BLAS_LOG="$log" LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" "$@"
  fi
}

# Runs a program with every call on the devices: on CPU workers, which every machine has. Use small tiles, so that there
# are many of them.
forced() {  # LIBRARY, tile size, program, arguments
  local library=$1 tile=$2
  shift 2
  under "$library" env TESSERA_BLAS_MIN_FLOPS=0 TESSERA_DEVICES=cpu TESSERA_TILE="$tile" TESSERA_CPUS=2 "$@"
}

# Fails unless the log has the expected calls; calls.py describes the arguments.
calls() { "$python" "$here/calls.py" "$log" "$@"; }
