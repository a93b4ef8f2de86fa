#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: build.sh SOURCE PRESET PREFIX: builds StarPU for a preset, with what Tessera uses of it: its libraries, and the
# sources of its examples, on which tests run Tessera's policy. PREFIX must not exist; it appears when it is complete.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=packaging/common.sh
. "$here/../common.sh"
# shellcheck source=packaging/starpu/options.sh
. "$here/options.sh"

source=$(realpath "$1")
preset=$2
prefix=$3
work=$(mktemp -d "${prefix%/*}/building.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/objects"
cd "$work/objects"
mapfile -t options < <(starpu_options "$preset")
CONFIG_SHELL=/bin/sh sh "$source/configure" --prefix="$prefix" "${options[@]}"

# Without warnings, because CUDA's headers cause fifty per file, without macros in debugging information, and without the
# names of this account's folders, because installations contain copies of these libraries.
flags="-O2 -g1 -w -ffile-prefix-map=$source=starpu -ffile-prefix-map=$work=starpu"
compile=(make --jobs="$(nproc)" "CFLAGS=$flags" "CXXFLAGS=$flags")
install=(make install-am DESTDIR="$work/stage")
"${compile[@]}" --directory=src
"${install[@]}"
"${install[@]}" --directory=src
if grep -q '^#define STARPU_USE_MPI 1' include/starpu_config.h; then
  "${compile[@]}" --directory=mpi/src
  "${install[@]}" --directory=mpi
  "${install[@]}" --directory=mpi/src
fi
share=$work/stage$prefix/share/starpu
mkdir -p "$share/perfmodels/sampling"  # StarPU looks there for models, and finds none
cp -r "$source/examples" "$share"
mv --no-target-directory "$work/stage$prefix" "$prefix"
