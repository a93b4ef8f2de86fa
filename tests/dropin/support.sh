# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2164
# What the tests of programs that nobody here wrote share. Sourced; then the working folder is a scratch one, for those
# programs write files where they run.

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Needed programs and files that are not there are a failure, as nothing would be tested then.
need() {  # Debian package, files or programs
  local package=$1 wanted
  shift
  for wanted in "$@"; do
    [[ -e $wanted ]] || command -v "$wanted" >/dev/null || die "$wanted is not there: install $package"
  done
}

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
need gcc gcc
debian=/usr/lib/$(gcc -print-multiarch)  # where its packages have their libraries and the reference testers
python=/usr/bin/python3                  # Debian's, the one with Debian's NumPy
need python3 "$python"

caller=$PWD
absolute() { (cd "$caller" && realpath --canonicalize-missing -- "$1"); }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export HOME=$scratch LC_ALL=C
export TESSERA_CACHE_DIR=${TESSERA_CACHE_DIR:-$scratch/cache}
log=$scratch/calls

# Where programs find a library of Debian's rather than the one that its alternatives say.
libraries_from() { export LD_LIBRARY_PATH=$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}; }

# Runs a program under us. A LIBRARY that is a file is put before all others; one that is a folder has a libblas.so.3.
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

# Every call takes our path: tiles on CPU workers, which are on every machine, small enough for many of them.
forced() {  # LIBRARY, tile size, program, arguments
  local library=$1 tile=$2
  shift 2
  under "$library" env TESSERA_BLAS_MIN_FLOPS=0 TESSERA_BLAS_DEVICES=cpu TESSERA_TILE="$tile" TESSERA_CPUS=2 "$@"
}

# Fails unless the log shows the calls that are expected; calls.py says how they are given.
calls() { "$python" "$here/calls.py" "$log" "$@"; }
