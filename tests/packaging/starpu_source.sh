#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: starpu_source.sh SOURCE: packaging/starpu/fetch.sh patches a source of StarPU, or reports that it cannot. The
# sources here contain only the lines to which the patches apply.
set -euo pipefail

starpu=$1/packaging/starpu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
failed=0
fail() { echo "FAILED: $*" >&2; failed=1; }

make_source() {  # folder, version
  mkdir -p "$1"
  printf "PACKAGE_VERSION='%s'\n" "$2" >"$1/configure"
  chmod +x "$1/configure"
  # The lines before each patch, in the files that it names.
  for patch in "$starpu"/patches/*.patch; do
    awk -v folder="$1" '
      /^--- a\// { file = folder "/" substr($2, 3); system("mkdir -p \"$(dirname " file ")\""); next }
      file != "" && /^[ -]/ { print substr($0, 2) >>file }' "$patch"
  done
}

fetch() {  # what is expected in what it prints, source
  local printed status=0
  rm -rf target
  printed=$(TESSERA_STARPU_SOURCE=$2 XDG_CACHE_HOME=$scratch/cache "$starpu/fetch.sh" target 2>&1) || status=$?
  [[ $printed =~ $1 ]] || fail "of $2 it says: $printed"
  return $status
}

make_source all 1.4.10
fetch '^1\.4\.10$' all || fail "it does not accept a source that has all"
for patch in "$starpu"/patches/*.patch; do
  while read -r line; do
    grep -rqF -- "$line" target || fail "${patch##*/} has not added: $line"
  done < <(sed -n '/^+++/d; s/^+\t*//p' "$patch")
done
tar --create --gzip --file all.tar.gz all
fetch '^1\.4\.10$' all.tar.gz || fail "it does not accept a tarball"

# Only where it is needed: later versions support CUDA 13 themselves.
make_source later 1.4.99
sed -i 's/props\[devid\]\.computeMode/compute_mode/' later/src/drivers/cuda/*.c
fetch '^1\.4\.99$' later || fail "it does not accept a version that needs no change for CUDA 13"

make_source other 1.4.99
sed -i 's/_is_gpu_gpu/_is_between_gpus/' other/src/core/simgrid.c
! fetch 'StarPU 1\.4\.99 is not what packaging/starpu/patches/simulated-copies\.patch changes' other ||
  fail "it accepts a source to which a patch does not apply"

make_source old 1.3.10
! fetch "This source is of StarPU '1\.3\.10'" old || fail "it accepts StarPU 1.3"
mkdir empty
! fetch 'There is no configure script' empty || fail "it accepts an empty folder"
echo text >text
! fetch 'is no tarball' text || fail "it accepts a text"
exit $failed
